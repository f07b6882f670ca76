#!/usr/bin/env python3
"""Every function of the library has a caller outside the tests, and every tag names one thing.

- A function bb_... of a layer is called by a layer, the LevelDB interface, a tool or a benchmark.
  The public interface (include/bb) is excepted, and so is FOR_TESTS. A function whose only callers
  are tests is unused code that the tests keep alive: it goes, or moves to the tests.
- A struct, union or enum bb_... is defined once. Two definitions of one tag, in headers that are
  never included together, compile, but a reader takes one for the other.
"""
import collections
import re

import c_source
import source_tree

LAYERS = ("base/", "bloomblock/", "standalone/", "skip/", "sstable/", "compaction/", "kv/")
CALLERS = LAYERS + ("leveldb/", "tools/", "bench/")
# Called only by tests, which cannot do without them. May only shrink.
FOR_TESTS = {
    "bb_process_use_id": "makes a process compute its number as a system without fork handlers does",
    "bb_ribbon_rows_get": "the plain form of a row, which the fast forms are compared with",
    "bb_ribbon_solver_add": "the plain form of the solver, which the fast form is compared with",
    "bb_ribbon_solver_reset": "the plain form of the solver, which the fast form is compared with",
    "bb_table_builder_set_summary_part": "parts of a table filter in tables of a few keys",
    "bb_wal_writer_durable": "the end of the log that a crash must keep",
    "bb_words_are_built": "whether the build splits words by the Unicode rules",
}
_WORD = re.compile(r"\bbb_\w+")
_DEFINITION = re.compile(r"\b(?:struct|union|enum)\s+(bb_\w+)\s*\{")


def definitions(tree):
    """{function: [(path, line)]} of all functions bb_... of the layers."""
    found = collections.defaultdict(list)
    for path in tree.with_suffix(".c", ".h"):
        if path.startswith(LAYERS):
            for name, first, _ in c_source.functions(tree.text(path)):
                if name.startswith("bb_"):
                    found[name].append((path, first))
    return found


def declaration_count(code, name):
    """The number of declarations and definitions of a function in the code."""
    return len(re.findall(r"^[A-Za-z_][\w \t*()]*[\s*]" + name + r"\(|^" + name + r"\(", code, re.MULTILINE))


def unused(tree):
    codes = {path: c_source.code(tree.text(path)) for path in tree.with_suffix(".c", ".h")}
    public = {word for path, code in codes.items() if path.startswith("include/") for word in _WORD.findall(code)}
    counts = collections.Counter()
    for path, code in codes.items():
        if path.startswith(CALLERS):
            counts.update(_WORD.findall(code))
    found = definitions(tree)
    for name in sorted(found):
        path, line = found[name][0]
        if name in public or name in FOR_TESTS:
            continue
        declared = sum(declaration_count(code, name) for other, code in codes.items()
                       if other.startswith(CALLERS) and name in code)
        if counts[name] <= declared:
            yield f"{path}:{line}: {name} has no caller outside the tests"
    for name in sorted(FOR_TESTS):
        if found and name not in found and "tools/checks/check_use.py" in tree.paths:
            yield f"tools/checks/check_use.py:1: {name} in FOR_TESTS does not exist"


def duplicate_tags(tree):
    places = collections.defaultdict(list)
    for path in tree.with_suffix(".c", ".h"):
        if path.startswith(CALLERS + ("include/",)):
            text = tree.text(path)
            for match in _DEFINITION.finditer(c_source.code(text)):
                places[match.group(1)].append((path, c_source.line_of(text, match.start())))
    for tag in sorted(places):
        first, *others = places[tag]
        for path, line in others:
            yield f"{path}:{line}: the tag {tag} is also defined in {first[0]}"


def check(tree):
    return [*unused(tree), *duplicate_tags(tree)]


CLEAN = {
    "include/bb/db.h": "int bb_db_put(int key);\n",
    "kv/store.h": "struct bb_store {\n    int key;\n};\nenum bb_status bb_store_flush(\n    struct bb_store *store);\n",
    "kv/store.c": "int bb_db_put(int key)\n{\n    return bb_store_flush(key);\n}\n\n"
                  "int\nbb_store_flush(struct bb_store *store)\n{\n    return 0;\n}\n",
    "kv/page.h": "static inline int bb_page_size(int page)\n{\n    return page;\n}\n\n"
                 "static inline bool *bb_page_find(int page)\n{\n    return bb_page_size(page) + &bb_page_find;\n}\n",
    "tests/unit/kv/store_test.c": "struct bb_store {\n    int other;\n};\n",
}
DEAD = "int bb_store_size(struct bb_store *store)\n{\n    return 1;\n}\n"
VIOLATIONS = [
    ({"kv/size.c": DEAD}, "bb_store_size has no caller"),
    ({"kv/size.c": DEAD, "kv/size.h": "BB_MUST_CHECK int bb_store_size(struct bb_store *store);\n"}, "bb_store_size"),
    ({"kv/size.c": DEAD, "kv/size.h": "BB_MUST_CHECK int\nbb_store_size(struct bb_store *store);\n"}, "bb_store_size"),
    ({"kv/size.c": DEAD, "tests/unit/kv/size_test.c": "int a = bb_store_size(0);\n"}, "bb_store_size has no caller"),
    ({"kv/size.c": DEAD + "/* bb_store_size() */\n"}, "kv/size.c:1: bb_store_size"),
    ({"base/line.h": "static inline int bb_line_end(int line)\n{\n    return line;\n}\n"}, "bb_line_end has no caller"),
    ({"sstable/store.h": "struct bb_store {\n    int other;\n};\n"}, "the tag bb_store is also defined in kv/store.h"),
    ({"base/a.h": "enum bb_side { BB_LEFT };\n", "kv/b.c": "enum bb_side {\n    BB_RIGHT\n};\n"}, "the tag bb_side"),
]

if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
