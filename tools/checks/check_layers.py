#!/usr/bin/env python3
"""Includes point downward, without cycles.

- base < bloomblock < standalone, skip, sstable < compaction < kv.
- A file of a layer includes its own layer and the layers below. skip and sstable do not include
  each other. compaction includes neither bloomblock nor skip. standalone is for users: no other
  layer includes it.
- A public header includes only public headers below it. A layer includes only the public headers
  of its height and below.
- leveldb, LevelDB's C interface, includes the public headers and itself.
- tools and bench include the public headers, base and a short list; examples only <bb/...>. A
  bench/*_bench.c measures one module and may include anything, like a test.
- A unit test includes the headers that its layer may include, its own folder, and tests/support.
- A layer may have subfolders, such as kv/wal. ROOMS_SEEN lists the includes they may have.
- The modules of a layer, of leveldb and of bench (a .c and its .h are one module) include each
  other without cycles. Parts of one module, such as store and store_options, may form a cycle.
"""
import posixpath

import c_source
import source_tree

LAYERS = ["base", "bloomblock", "standalone", "skip", "sstable", "compaction", "kv"]
HIDDEN_FROM = {"skip": {"standalone"}, "sstable": {"skip", "standalone"},
               "compaction": {"bloomblock", "skip", "standalone"}, "kv": {"standalone"}}
PUBLIC = ["bb/base.h", "bb/filter_sets.h", "bb/filter.h", "bb/record.h", "bb/condition.h", "bb/skip.h", "bb/lines.h",
          "bb/table.h", "bb/table_explain.h", "bb/db_stats.h", "bb/db.h", "bb/db_files.h", "bb/db_explain.h",
          "bb/select.h"]
PUBLIC_HEIGHT = {"base": 1, "bloomblock": 3, "standalone": 3, "skip": 7, "sstable": 9, "compaction": 9,
                 "kv": len(PUBLIC)}
# Headers outside bb/ and base/ that tools and bench may include, to read single blocks and filters.
OPENED_TO_TOOLS = {"sstable/salvage/table_salvage.h", "sstable/table/table_walk.h", "sstable/format.h",
                   "bloomblock/block_filter.h"}
APPLICATIONS = {"tools", "bench"}
# The subfolders that a subfolder of the same layer may include.
ROOMS_SEEN = {
    "skip/record": {"skip/record"},
    "skip/condition": {"skip/condition", "skip/record"},
    "skip/index": {"skip/index", "skip/condition", "skip/record"},
    "kv": {"kv"},
    "kv/wal": {"kv/wal"},
    "kv/memtable": {"kv/memtable"},
    "kv/manifest": {"kv/manifest", "kv/wal"},
    "kv/directory": {"kv/directory", "kv/manifest", "kv"},
    "kv/view": {"kv/view", "kv/memtable", "kv/wal"},
    "kv/read": {"kv/read", "kv/store", "kv/view", "kv/memtable", "kv/manifest", "kv/background", "kv"},
}


def visible_layers(layer):
    below = LAYERS[:LAYERS.index(layer) + 1]
    return set(below) - HIDDEN_FROM.get(layer, set())


def is_seen_by_room(path, target):
    seen = ROOMS_SEEN.get(posixpath.dirname(path))
    return seen is None or target.split("/")[0] != path.split("/")[0] or posixpath.dirname(target) in seen


def is_allowed(path, target):
    """Whether the file at path may include the root path target."""
    top = path.split("/")[0]
    target_top = target.split("/")[0]
    if not is_seen_by_room(path, target):
        return False
    if path.startswith("include/bb/"):
        own = path[len("include/"):]
        return target in PUBLIC and own in PUBLIC and PUBLIC.index(target) < PUBLIC.index(own)
    if top in LAYERS:
        if target_top == "bb":
            return target in PUBLIC[:PUBLIC_HEIGHT[top]]
        return target_top in visible_layers(top)
    if top == "leveldb":
        return target in PUBLIC or target_top == top
    if top == "bench" and path.endswith("_bench.c"):
        return True
    if top in APPLICATIONS:
        return target in PUBLIC or target_top in (top, "base") or target in OPENED_TO_TOOLS
    if top == "examples" or path.startswith("tests/install/"):
        return target in PUBLIC
    if path.startswith("tests/unit/"):
        layer = path.split("/")[2]
        own = (f"tests/unit/{layer}/", "tests/support/")
        return target.startswith(own) or is_allowed(f"{layer}/tests/test.c", target)
    if path.startswith("tests/support/"):
        return target.startswith("tests/support/") or target_top == "bb" or is_allowed("base/test.c", target)
    return top == "tests"


def check_file(tree, path):
    problems = []
    for line, target, quoted in c_source.includes(tree.text(path)):
        here = f"{path}:{line}: "
        if path.startswith(("examples/", "tests/install/")):
            if quoted:
                problems.append(here + f"an example includes as a user does: <...>, not \"{target}\"")
            elif target.startswith("bb/") and not is_allowed(path, target):
                problems.append(here + f"{target} is not a public header")
        elif quoted:
            full = "include/" + target if target.startswith("bb/") else target
            if not tree.has(full):
                problems.append(here + f"\"{target}\" is not a path from the root of the tree")
            elif not is_allowed(path, target):
                problems.append(here + f"{path.rsplit('/', 1)[0]} may not include \"{target}\"")
        elif target.startswith("bb/"):
            problems.append(here + f"<{target}> is for users; inside the tree it is \"{target}\"")
    return problems


def noun_of(path):
    return posixpath.splitext(path)[0]


def noun_graph(tree, folder):
    graph = {}
    for path in tree.with_suffix(".c", ".h"):
        if path.split("/")[0] != folder:
            continue
        used = graph.setdefault(noun_of(path), set())
        for _, target, quoted in c_source.includes(tree.text(path)):
            if quoted and target.split("/")[0] == folder and noun_of(target) != noun_of(path):
                used.add(noun_of(target))
    return graph


def reachable(graph, noun):
    found, pending = set(), [noun]
    while pending:
        for used in graph.get(pending.pop(), ()):
            if used not in found:
                found.add(used)
                pending.append(used)
    return found


def circles(graph):
    """Groups of nouns of which each leads to every other."""
    reach = {noun: reachable(graph, noun) for noun in graph}
    groups = {frozenset(other for other in reach[noun] if noun in reach.get(other, ())) | {noun} for noun in graph}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def is_one_family(nouns):
    """Parts of one noun, such as memtable and memtable_node, may know each other."""
    names = [posixpath.basename(noun) for noun in nouns]
    head = min(names, key=len)
    return all(name == head or name.startswith(head + "_") for name in names)


def check_circles(tree):
    problems = []
    folders = {path.split("/")[0] for path in tree.with_suffix(".c", ".h")}
    for folder in sorted(folders & (set(LAYERS) | {"bench", "leveldb"})):
        for nouns in circles(noun_graph(tree, folder)):
            if not is_one_family(nouns):
                problems.append(f"{folder}:1: circle of nouns: {', '.join(nouns)}")
    return problems


def check(tree):
    problems = []
    for path in tree.with_suffix(".c", ".h"):
        problems += check_file(tree, path)
    return problems + check_circles(tree)


CLEAN = {
    "include/bb/base.h": "/* b */\n#include <stddef.h>\n",
    "include/bb/filter.h": "/* f */\n#include \"bb/base.h\"\n",
    "include/bb/table.h": "/* t */\n#include \"bb/filter.h\"\n",
    "include/bb/db.h": "/* d */\n#include \"bb/table.h\"\n",
    "base/file.h": "/* f */\n#include \"bb/base.h\"\n",
    "bloomblock/block_filter.h": "/* b */\n#include \"bb/filter.h\"\n",
    "standalone/envelope.c": "/* e */\n#include \"bloomblock/block_filter.h\"\n",
    "sstable/entry.h": "/* e */\n#include \"bloomblock/block_filter.h\"\n",
    "sstable/block.h": "/* b */\n#include \"sstable/entry.h\"\n",
    "sstable/block.c": "/* \"kv/store.h\" */\n#include \"sstable/block.h\"\n#include \"base/file.h\"\n",
    "compaction/levels.h": "/* l */\n#include \"sstable/block.h\"\n#include \"bb/table.h\"\n",
    "kv/store.h": "/* s */\n#include \"bb/db.h\"\n#include \"compaction/levels.h\"\n",
    "kv/store_part.h": "/* p */\n#include \"kv/store.h\"\n",
    "kv/store.c": "/* s */\n#include \"kv/store.h\"\n#include \"kv/store_part.h\"\n",
    "leveldb/db.h": "/* d */\n#include <leveldb/c.h>\n#include \"bb/db.h\"\n",
    "leveldb/db.c": "/* d */\n#include \"leveldb/db.h\"\n",
    "tools/dump.c": "/* d */\n#include \"bb/db.h\"\n#include \"bloomblock/block_filter.h\"\n",
    "bench/store_bench.c": "/* s */\n#include \"kv/store.h\"\n",
    "examples/hello.c": "/* h */\n#include <bb/db.h>\n",
    "tests/support/rng.h": "/* r */\n",
    "tests/unit/sstable/block_test.c": "/* t */\n#include \"sstable/block.h\"\n#include \"tests/support/rng.h\"\n",
    "tests/crash/crash_test.c": "/* t */\n#include \"kv/store.h\"\n",
}

VIOLATIONS = [
    ({"base/up.c": "/* u */\n#include \"sstable/block.h\"\n"}, "base may not include"),
    ({"bloomblock/up.c": "/* u */\n#include \"standalone/envelope.h\"\n",
      "standalone/envelope.h": "/* e */\n"}, "bloomblock may not include"),
    ({"kv/alone.c": "/* a */\n#include \"standalone/envelope.h\"\n",
      "standalone/envelope.h": "/* e */\n"}, "kv may not include"),
    ({"sstable/up.c": "/* u */\n#include \"kv/store.h\"\n"}, "sstable may not include"),
    ({"compaction/filter.c": "/* f */\n#include \"bloomblock/block_filter.h\"\n"}, "compaction may not include"),
    ({"sstable/db.c": "/* d */\n#include \"bb/db.h\"\n"}, "sstable may not include \"bb/db.h\""),
    ({"include/bb/base.h": "/* b */\n#include \"bb/db.h\"\n"}, "include/bb may not include"),
    ({"include/bb/table.h": "/* t */\n#include \"base/file.h\"\n"}, "include/bb may not include"),
    ({"tools/deep.c": "/* d */\n#include \"sstable/block.h\"\n"}, "tools may not include"),
    ({"leveldb/deep.c": "/* d */\n#include \"kv/store.h\"\n"}, "leveldb may not include"),
    ({"kv/up.c": "/* u */\n#include \"leveldb/db.h\"\n"}, "kv may not include"),
    ({"bench/deep.c": "/* d */\n#include \"kv/store.h\"\n"}, "bench may not include"),
    ({"examples/deep.c": "/* d */\n#include \"kv/store.h\"\n"}, "as a user does"),
    ({"kv/near.c": "/* n */\n#include \"store.h\"\n"}, "not a path from the root"),
    ({"kv/user.c": "/* u */\n#include <bb/db.h>\n"}, "is for users"),
    ({"tests/unit/base/file_test.c": "/* t */\n#include \"sstable/block.h\"\n"}, "tests/unit/base may not include"),
    ({"tests/support/deep.c": "/* d */\n#include \"kv/store.h\"\n"}, "tests/support may not include"),
    ({"kv/wal/up.c": "/* u */\n#include \"kv/store.h\"\n"}, "kv/wal may not include"),
    ({"kv/repair/top.h": "/* t */\n#include \"kv/store.h\"\n",
      "kv/down.c": "/* d */\n#include \"kv/repair/top.h\"\n"}, "kv may not include"),
    ({"kv/read/get.h": "/* g */\n#include \"kv/store.h\"\n",
      "kv/view/put.c": "/* p */\n#include \"kv/read/get.h\"\n"}, "kv/view may not include"),
    ({"bloomblock/room/a.h": "/* a */\n#include \"bloomblock/b.h\"\n",
      "bloomblock/b.h": "/* b */\n#include \"bloomblock/room/a.h\"\n"},
     "circle of nouns: bloomblock/b, bloomblock/room/a"),
    ({"kv/a.h": "/* a */\n#include \"kv/b.h\"\n", "kv/b.c": "/* b */\n#include \"kv/a.h\"\n",
      "kv/b.h": "/* b */\n"}, "circle of nouns: kv/a, kv/b"),
]

if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
