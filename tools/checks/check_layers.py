#!/usr/bin/env python3
"""Includes point downward, without cycles.

- base < bloomblock < standalone, skip, sstable < compaction < kv.
- A file of a layer includes its own layer and the layers below. skip and sstable do not include
  each other. compaction includes neither bloomblock nor skip. standalone is for users: no other
  layer includes it.
- A public header includes only public headers below it. A layer includes only the public headers
  of its height and below.
- leveldb, LevelDB's C interface, includes the public headers and itself. So does redis, the module
  of Redis; only redis/memory also includes the headers of the files that it replaces.
- tools and bench include the public headers, base and a short list; examples only <bb/...>. python
  is built elsewhere too: it includes <bb/...>, and files of its folder by their names. A
  bench/*_bench.c measures one module and may include anything, like a test.
- A unit test includes the headers that its layer may include, its own folder, and tests/support.
- A layer may have subfolders, its rooms. docs/architecture.md draws them in rows, and a room
  includes only rooms of the rows below its own.
- No header that sstable, compaction or kv reach, through others, is in bloomblock/ribbon, and their
  code has no name with ribbon: only bloomblock, standalone and skip know that filters are ribbons.
  compaction reaches no filter at all (bloomblock/table), only the kinds of filters.
- No circles between files of a layer, leveldb, redis or bench, neither of includes nor of calls:
  from a noun (a .c, its .h and variants for a processor) no path of includes leads back to it, and
  from a .c no path of calls.
"""
import collections
import posixpath
import re

import c_source
import source_tree

LAYERS = ["base", "bloomblock", "standalone", "skip", "sstable", "compaction", "kv"]
HIDDEN_FROM = {"skip": {"standalone"}, "sstable": {"skip", "standalone"},
               "compaction": {"bloomblock", "skip", "standalone"}, "kv": {"standalone"}}
PUBLIC = ["bb/base.h", "bb/file.h", "bb/filter_sets.h", "bb/filter.h", "bb/record.h", "bb/condition.h", "bb/skip.h",
          "bb/lines.h", "bb/table.h", "bb/table_explain.h", "bb/db_stats.h", "bb/db_options.h", "bb/batch.h",
          "bb/db_iter.h", "bb/db.h", "bb/db_files.h", "bb/db_explain.h", "bb/select.h"]
PUBLIC_HEIGHT = {"base": 2, "bloomblock": 4, "standalone": 4, "skip": 8, "sstable": 10, "compaction": 10,
                 "kv": len(PUBLIC)}
# Headers outside bb/ and base/ that tools and bench may include, to read single blocks and filters,
# and to check options without a store.
OPENED_TO_TOOLS = {"sstable/salvage/table_salvage.h", "sstable/table/table_walk.h", "sstable/format.h",
                   "bloomblock/table/block_filter.h", "kv/options.h", "standalone/filter_file.h"}
APPLICATIONS = {"tools", "bench"}
REPLACED_BY_REDIS = {"base/alloc.h", "base/region.h"}
# Headers below a folder that a layer reaches neither directly nor through other headers.
NOT_REACHED = {"sstable": "bloomblock/ribbon/", "compaction": "bloomblock/table/", "kv": "bloomblock/ribbon/"}
# Has an iterator over a table in its memory, and with it the table's header.
REACHES = {"compaction/merge/run_iter.c"}
ROOMS_PAGE = "docs/architecture.md"
_ROOMS = re.compile(r"^## Rooms$.*?^```$(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARIANT = re.compile(r"_(?:avx2|avx512|avx)$")
_RIBBON = re.compile(r"\w*ribbon\w*", re.IGNORECASE)
_CALL = re.compile(r"(?<!struct )(?<!enum )\b(bb_\w+)")


def room_rows(tree):
    """{room: (layer, row)} as drawn. The highest row is first, and rooms are two spaces apart."""
    rows = {}
    layer = None
    drawn = _ROOMS.search(tree.text(ROOMS_PAGE)) if tree.has(ROOMS_PAGE) else None
    for number, line in enumerate(drawn.group(1).split("\n") if drawn else []):
        words = re.split(r"\s{2,}", line.strip())
        if words != [""] and not line.startswith(" "):
            layer = words.pop(0)
        for word in words:
            if not word or " " in word:
                continue  # an explanation
            rows[layer if word == "(top)" else f"{layer}/{word}"] = (layer, number)
    return rows


def check_rooms(tree):
    rows = room_rows(tree)
    layers = {layer for layer, _ in rows.values()}
    for path in tree.with_suffix(".c", ".h"):
        room = posixpath.dirname(path)
        layer = room.split("/")[0]
        if layer not in layers:
            continue
        if room not in rows:
            yield f"{path}:1: {room} is not among the rooms of {ROOMS_PAGE}"
        for line, target, quoted in c_source.includes(tree.text(path)):
            other = posixpath.dirname(target)
            if quoted and other != room and other in rows and room in rows and rows[other][0] == rows[room][0] \
                    and rows[other][1] <= rows[room][1]:
                yield f"{path}:{line}: {room} may not include \"{target}\": {other} is not in a row below"


def visible_layers(layer):
    below = LAYERS[:LAYERS.index(layer) + 1]
    return set(below) - HIDDEN_FROM.get(layer, set())


def is_allowed(path, target):
    """Whether the file at path may include the root path target."""
    top = path.split("/")[0]
    target_top = target.split("/")[0]
    if path.startswith("include/bb/"):
        own = path[len("include/"):]
        return target in PUBLIC and own in PUBLIC and PUBLIC.index(target) < PUBLIC.index(own)
    if top in LAYERS:
        if target_top == "bb":
            return target in PUBLIC[:PUBLIC_HEIGHT[top]]
        return target_top in visible_layers(top)
    if path.startswith("redis/memory/") and target in REPLACED_BY_REDIS:
        return True
    if top in ("leveldb", "redis"):
        return target in PUBLIC or target_top == top
    if top == "bench" and path.endswith("_bench.c"):
        return True
    if top in APPLICATIONS:
        return target in PUBLIC or target_top in (top, "base") or target in OPENED_TO_TOOLS
    if top in ("examples", "python") or path.startswith("tests/install/"):
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
        if path.startswith(("examples/", "tests/install/", "python/")):
            is_neighbour = path.startswith("python/") and tree.has(posixpath.join(posixpath.dirname(path), target))
            if quoted and not is_neighbour:
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
    return _VARIANT.sub("", posixpath.splitext(path)[0])


def include_graph(tree, folder):
    graph = {}
    for path in tree.with_suffix(".c", ".h"):
        if path.split("/")[0] != folder:
            continue
        used = graph.setdefault(noun_of(path), set())
        for _, target, quoted in c_source.includes(tree.text(path)):
            if quoted and target.split("/")[0] == folder and noun_of(target) != noun_of(path):
                used.add(noun_of(target))
    return graph


def call_graph(tree, folder):
    sources = [path for path in tree.with_suffix(".c") if path.split("/")[0] == folder]
    homes = {name: noun_of(path) for path in sources for name, _ in c_source.external_functions(tree.text(path))}
    graph = collections.defaultdict(set)
    for path in sources:
        called = {homes[name] for name in _CALL.findall(c_source.code(tree.text(path))) if name in homes}
        graph[noun_of(path)] |= called - {noun_of(path)}
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


def check_circles(tree):
    folders = {path.split("/")[0] for path in tree.with_suffix(".c", ".h")}
    for folder in sorted(folders & (set(LAYERS) | {"bench", "leveldb", "redis"})):
        for kind, graph in (("includes", include_graph(tree, folder)), ("calls", call_graph(tree, folder))):
            for nouns in circles(graph):
                yield f"{folder}:1: circle of {kind}: {', '.join(nouns)}"


def way_to(tree, path, folder):
    """The shortest chain of includes from the file to a header below the folder, or None."""
    ways, seen = [[path]], {path}
    for way in ways:
        for _, target, quoted in c_source.includes(tree.text(way[-1])):
            if not quoted or target in seen or not tree.has(target):
                continue
            if target.startswith(folder):
                return way + [target]
            seen.add(target)
            ways.append(way + [target])
    return None


def check_reach(tree):
    problems = []
    for path in tree.with_suffix(".c", ".h"):
        folder = NOT_REACHED.get(path.split("/")[0])
        way = folder and path not in REACHES and way_to(tree, path, folder)
        if way:
            problems.append(f"{path}:1: reaches a header of {folder}: {' > '.join(way)}")
        code = c_source.code(tree.text(path)) if folder else ""
        named = "ribbon" in code.lower() and _RIBBON.search(code)
        if named:
            problems.append(f"{path}:1: {named.group()}: only bloomblock knows that filters are ribbons")
    return problems


def check(tree):
    problems = []
    for path in tree.with_suffix(".c", ".h"):
        problems += check_file(tree, path)
    return [*problems, *check_rooms(tree), *check_circles(tree), *check_reach(tree)]


CLEAN = {
    "docs/architecture.md": "# A\n\n## Rooms\n\nText.\n\n```\n"
                            "kv      read  write  above all\n        (top)\n        wal\n```\n",
    "include/bb/base.h": "/* b */\n#include <stddef.h>\n",
    "include/bb/filter.h": "/* f */\n#include \"bb/base.h\"\n",
    "include/bb/table.h": "/* t */\n#include \"bb/filter.h\"\n",
    "include/bb/db.h": "/* d */\n#include \"bb/table.h\"\n",
    "base/file.h": "/* f */\n#include \"bb/base.h\"\n",
    "bloomblock/table/block_filter.h": "/* b */\n#include \"bb/filter.h\"\n",
    "standalone/envelope.c": "/* e */\n#include \"bloomblock/table/block_filter.h\"\n",
    "bloomblock/ribbon/ribbon.h": "/* r */\n",
    "bloomblock/table/block_filter.c": "/* b */\n#include \"bloomblock/ribbon/ribbon.h\"\n",
    "sstable/entry.h": "/* e */\n#include \"bb/filter.h\"\n",
    "sstable/entry.c": "/* e */\n#include \"sstable/entry.h\"\n#include \"bloomblock/table/block_filter.h\"\n",
    "sstable/block.h": "/* b */\n#include \"sstable/entry.h\"\n",
    "sstable/block.c": "/* \"kv/store.h\" */\n#include \"sstable/block.h\"\n#include \"base/file.h\"\n",
    "compaction/levels.h": "/* l */\n#include \"sstable/block.h\"\n#include \"bb/table.h\"\n",
    "kv/store.h": "/* s */\n#include \"bb/db.h\"\n#include \"compaction/levels.h\"\n",
    "kv/store.c": "/* s */\n#include \"kv/store.h\"\n\nint bb_store_get(int a)\n{\n    return a;\n}\n",
    "kv/scan_avx2.c": "/* s */\n#include \"kv/scan.h\"\n\nint bb_scan_avx2(int a)\n{\n    return bb_scan(a);\n}\n",
    "kv/scan.c": "/* s */\n#include \"kv/scan.h\"\n\nint bb_scan(int a)\n{\n    return bb_scan_avx2(a);\n}\n",
    "kv/scan.h": "/* s */\n",
    "kv/read/get.h": "/* g */\n#include \"kv/store.h\"\n",
    "kv/wal/wal.h": "/* w */\n",
    "leveldb/db.h": "/* d */\n#include <leveldb/c.h>\n#include \"bb/db.h\"\n",
    "leveldb/db.c": "/* d */\n#include \"leveldb/db.h\"\n",
    "redis/filter/bloom.c": "/* b */\n#include \"bb/filter.h\"\n#include \"redis/server/api.h\"\n",
    "redis/server/api.h": "/* a */\n",
    "base/alloc.h": "/* a */\n",
    "redis/memory/memory.c": "/* m */\n#include \"base/alloc.h\"\n",
    "tools/dump.c": "/* d */\n#include \"bb/db.h\"\n#include \"bloomblock/table/block_filter.h\"\n",
    "bench/store_bench.c": "/* s */\n#include \"kv/store.h\"\n",
    "examples/hello.c": "/* h */\n#include <bb/db.h>\n",
    "python/native/module.h": "/* m */\n#include <bb/db.h>\n",
    "python/native/store.c": "/* s */\n#include \"module.h\"\n",
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
    ({"kv/kind.c": "/* A ribbon. */\nint kind = BB_FILTER_RIBBON;\n"}, "kv/kind.c:1: BB_FILTER_RIBBON: only"),
    ({"kv/deep.c": "/* d */\n#include \"bloomblock/shard.h\"\n",
      "bloomblock/shard.h": "/* s */\n#include \"bloomblock/ribbon/ribbon.h\"\n"},
     "kv/deep.c:1: reaches a header of bloomblock/ribbon/: kv/deep.c > bloomblock/shard.h > bloomblock/ribbon"),
    ({"sstable/up.c": "/* u */\n#include \"kv/store.h\"\n"}, "sstable may not include"),
    ({"compaction/filter.c": "/* f */\n#include \"bloomblock/kind.h\"\n", "bloomblock/kind.h": "/* k */\n"},
     "compaction may not include"),
    ({"compaction/deep.c": "/* d */\n#include \"sstable/deep.h\"\n",
      "sstable/deep.h": "/* d */\n#include \"bloomblock/table/block_filter.h\"\n"},
     "compaction/deep.c:1: reaches a header of bloomblock/table/: compaction/deep.c > sstable/deep.h > bloomblock"),
    ({"sstable/db.c": "/* d */\n#include \"bb/db.h\"\n"}, "sstable may not include \"bb/db.h\""),
    ({"include/bb/base.h": "/* b */\n#include \"bb/db.h\"\n"}, "include/bb may not include"),
    ({"include/bb/table.h": "/* t */\n#include \"base/file.h\"\n"}, "include/bb may not include"),
    ({"tools/deep.c": "/* d */\n#include \"sstable/block.h\"\n"}, "tools may not include"),
    ({"leveldb/deep.c": "/* d */\n#include \"kv/store.h\"\n"}, "leveldb may not include"),
    ({"redis/filter/deep.c": "/* d */\n#include \"kv/store.h\"\n"}, "redis/filter may not include"),
    ({"redis/filter/deep.c": "/* d */\n#include \"base/alloc.h\"\n"}, "redis/filter may not include"),
    ({"kv/up.c": "/* u */\n#include \"leveldb/db.h\"\n"}, "kv may not include"),
    ({"bench/deep.c": "/* d */\n#include \"kv/store.h\"\n"}, "bench may not include"),
    ({"examples/deep.c": "/* d */\n#include \"kv/store.h\"\n"}, "as a user does"),
    ({"python/native/deep.c": "/* d */\n#include \"kv/store.h\"\n"}, "as a user does"),
    ({"python/native/deep.c": "/* d */\n#include <bb/private.h>\n"}, "is not a public header"),
    ({"kv/near.c": "/* n */\n#include \"store.h\"\n"}, "not a path from the root"),
    ({"kv/user.c": "/* u */\n#include <bb/db.h>\n"}, "is for users"),
    ({"tests/unit/base/file_test.c": "/* t */\n#include \"sstable/block.h\"\n"}, "tests/unit/base may not include"),
    ({"tests/support/deep.c": "/* d */\n#include \"kv/store.h\"\n"}, "tests/support may not include"),
    ({"kv/wal/up.c": "/* u */\n#include \"kv/store.h\"\n"}, "kv/wal may not include"),
    ({"kv/down.c": "/* d */\n#include \"kv/read/get.h\"\n"}, "kv may not include"),
    ({"kv/write/put.c": "/* p */\n#include \"kv/read/get.h\"\n"}, "kv/write may not include"),
    ({"kv/other/put.c": "/* p */\n"}, "kv/other is not among the rooms"),
    ({"bloomblock/room/a.h": "/* a */\n#include \"bloomblock/b.h\"\n",
      "bloomblock/b.h": "/* b */\n#include \"bloomblock/room/a.h\"\n"},
     "circle of includes: bloomblock/b, bloomblock/room/a"),
    ({"kv/a.h": "/* a */\n#include \"kv/b.h\"\n", "kv/b.c": "/* b */\n#include \"kv/a.h\"\n",
      "kv/b.h": "/* b */\n"}, "circle of includes: kv/a, kv/b"),
    ({"kv/a.h": "/* a */\n#include \"kv/a_part.h\"\n", "kv/a_part.c": "/* p */\n#include \"kv/a.h\"\n",
      "kv/a_part.h": "/* p */\n"}, "circle of includes: kv/a, kv/a_part"),
    ({"base/a.h": "/* a */\n#include \"base/b.h\"\n", "base/b.h": "/* b */\n#include \"base/c.h\"\n",
      "base/c.c": "/* c */\n#include \"base/a.h\"\n", "base/c.h": "/* c */\n"},
     "circle of includes: base/a, base/b, base/c"),
    ({"kv/a.c": "/* a */\nint bb_a(int a)\n{\n    return bb_b(a);\n}\n",
      "kv/b.c": "/* b */\nint bb_b(int b)\n{\n    return bb_a(b);\n}\n"}, "circle of calls: kv/a, kv/b"),
]

if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
