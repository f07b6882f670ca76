#!/usr/bin/env python3
"""Every function of the library has a caller outside the tests, and every tag names one thing.

- A function bb_... of a layer is called by a layer, the LevelDB interface, a tool or a benchmark.
  The public interface (include/bb) is excepted, and so is FOR_TESTS. A function whose only callers
  are tests is unused code that the tests keep alive: it goes, or moves to the tests.
- An external function of a layer is used by another file, which may be a test. Otherwise it is
  static.
- A macro or enumerator BB_... of a layer is used outside its definition and the tests.
- A struct, union or enum bb_... is defined once, in the whole tree. Any other tag of a header is
  defined in no other header of the same top folder, and in no source file of the same program. Two
  definitions of one tag compile if they are never included together, but a reader takes one for the
  other.
"""
import collections
import re

import c_source
import source_tree

LAYERS = ("base/", "bloomblock/", "standalone/", "skip/", "sstable/", "compaction/", "kv/")
CALLERS = LAYERS + ("leveldb/", "tools/", "bench/")
# Called only by tests, which cannot do without them. May only shrink.
FOR_TESTS = {
    "bb_file_pool_counters": "how many descriptors are open, which the pool must keep below a limit",
    "bb_process_use_id": "makes a process compute its number as a system without fork handlers does",
    "bb_table_builder_set_filter_part": "parts of a table filter in tables of a few keys",
    "bb_table_builder_set_page_group": "groups of index pages in tables of a few keys",
    "bb_wal_writer_durable": "the end of the log that a crash must keep",
    "bb_words_are_built": "whether the build splits words by the Unicode rules",
}
_WORD = re.compile(r"\bbb_\w+")
_TAG = re.compile(r"\b(?:struct|union|enum)\s+bb_\w+")
_CONSTANT = re.compile(r"\bBB_\w+")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(BB_\w+)", re.MULTILINE)
_ENUM = re.compile(r"\benum\b[^;{}()]*\{([^{}]*)\}")
_NAMED = re.compile(r"(?<![^\s*])(bb_\w+)\(")
_RETURNED = re.compile(r"[A-Za-z_][\w \t*()]*[ \t*]")
_DEFINITION = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
# A test defines the inside of a struct that the tested code only points to.
STAND_INS = {("tests/explore/readers_test.c", "bb_view")}


def definitions(tree):
    """{function: [(path, line)]} of all functions bb_... of the layers."""
    found = collections.defaultdict(list)
    for path in tree.with_suffix(".c", ".h"):
        if path.startswith(LAYERS):
            for name, first, _ in c_source.functions(tree.text(path)):
                if name.startswith("bb_"):
                    found[name].append((path, first))
    return found


def declarations(code):
    """{name: number of declarations and definitions of the function bb_... in the code}. One pass
    finds all of them: one for each name takes ten times as long."""
    counts = collections.Counter()
    for match in _NAMED.finditer(code):
        before = code[code.rfind("\n", 0, match.start()) + 1:match.start()]
        if before == "" or _RETURNED.fullmatch(before):
            counts[match.group(1)] += 1
    return counts


def unused(tree):
    codes = {path: c_source.code(tree.text(path)) for path in tree.with_suffix(".c", ".h")}
    public = {word for path, code in codes.items() if path.startswith("include/") for word in _WORD.findall(code)}
    counts = collections.Counter()
    declared = collections.Counter()
    for path, code in codes.items():
        if path.startswith(CALLERS):
            counts.update(_WORD.findall(_TAG.sub("", code)))
            declared.update(declarations(code))
    found = definitions(tree)
    for name in sorted(found):
        path, line = found[name][0]
        if name in public or name in FOR_TESTS:
            continue
        if counts[name] <= declared[name]:
            yield f"{path}:{line}: {name} has no caller outside the tests"
    for name in sorted(FOR_TESTS):
        if found and name not in found and "tools/checks/check_use.py" in tree.paths:
            yield f"tools/checks/check_use.py:1: {name} in FOR_TESTS does not exist"


def local(tree):
    """Functions that could be static: only their own file uses them."""
    codes = {path: c_source.code(tree.text(path)) for path in tree.with_suffix(".c", ".h", ".cpp", ".hpp")}
    users = collections.defaultdict(set)
    for path, code in codes.items():
        declared = declarations(code)
        for word, count in collections.Counter(_WORD.findall(_TAG.sub("", code))).items():
            if path.startswith("include/") or count > declared[word]:
                users[word].add(path)
    for path in codes:
        if path.startswith(LAYERS) and path.endswith(".c"):
            for name, line in c_source.external_functions(tree.text(path)):
                if name.startswith("bb_") and users[name] == {path}:
                    yield f"{path}:{line}: only its own file uses {name}: make it static"


def constants(text):
    """(name, offset) of the macros and enumerators that a file defines, except its guard."""
    found = [(match.group(1), match.start(1)) for match in _MACRO.finditer(text) if not match.group(1).endswith("_H")]
    for match in _ENUM.finditer(text):
        found += [(name.group(1), match.start(1) + name.start(1))
                  for name in re.finditer(r"(?:^|,)\s*(BB_\w+)", match.group(1))]
    return found


def unused_constants(tree):
    counts = collections.Counter()
    defined = []
    for path in tree.with_suffix(".c", ".h"):
        if path.startswith(CALLERS + ("include/",)):
            code = c_source.code(tree.text(path))
            counts.update(_CONSTANT.findall(code))
            if path.startswith(LAYERS):
                defined += [(name, path, c_source.line_of(code, start)) for name, start in constants(code)]
    repeated = collections.Counter(name for name, _, _ in defined)
    for name, path, line in defined:
        if counts[name] <= repeated[name]:
            yield f"{path}:{line}: {name} is not used outside the tests"


def program_of(path):
    """The top folder, or the folder of a test: each is one program."""
    return path.rsplit("/", 1)[0] if path.startswith("tests/") else path.split("/", 1)[0]


def is_taken_for(first, other, tag):
    """True when a reader can take the tag of the place `other` for the tag of the place `first`."""
    if tag.startswith("bb_"):
        return True
    headers = first.endswith(".h") + other.endswith(".h")
    is_one_program = program_of(first) == program_of(other)
    return (headers > 0 and is_one_program) or (headers == 2 and first.split("/")[0] == other.split("/")[0])


def duplicate_tags(tree):
    places = collections.defaultdict(list)
    for path in tree.with_suffix(".c", ".h"):
        code = c_source.code(tree.text(path))
        for match in _DEFINITION.finditer(code):
            if (path, match.group(1)) not in STAND_INS:
                places[match.group(1)].append((path, c_source.line_of(code, match.start())))
    for tag in sorted(places):
        for i, (path, line) in enumerate(places[tag]):
            first = next((other for other, _ in places[tag][:i] if is_taken_for(other, path, tag)), None)
            if first is not None:
                yield f"{path}:{line}: the tag {tag} is also defined in {first}"


def check(tree):
    return [*unused(tree), *local(tree), *unused_constants(tree), *duplicate_tags(tree)]


CLEAN = {
    "include/bb/db.h": "int bb_db_put(int key);\n",
    "kv/store.h": "struct bb_store {\n    int key;\n};\nenum bb_status bb_store_flush(\n    struct bb_store *store);\n",
    "kv/store.c": "int bb_db_put(int key)\n{\n    return bb_store_flush(key);\n}\n",
    "kv/store_flush.c": "int\nbb_store_flush(struct bb_store *store)\n{\n    return 0;\n}\n",
    "kv/page.h": "static inline int bb_page_size(int page)\n{\n    return page;\n}\n\n"
                 "static inline bool *bb_page_find(int page)\n{\n    return bb_page_size(page) + &bb_page_find;\n}\n",
    "tests/unit/kv/store_test.c": "struct place {\n    int other;\n};\n",
    "kv/place.c": "struct place {\n    int at;\n};\n",
    "kv/other_place.c": "struct place {\n    int at;\n};\n",
    "tools/output/output.h": "struct output {\n    int at;\n};\n",
    "bench/output.h": "struct output {\n    int at;\n};\n",
    "base/output.c": "struct output {\n    int at;\n};\n",
    "base/size.h": "#ifndef BB_BASE_SIZE_H\n#define BB_BASE_SIZE_H\n#define BB_SIZE 8\n#endif\n",
    "base/size.c": "#include \"base/size.h\"\nint size = BB_SIZE;\n",
}
DEAD = "int bb_store_size(struct bb_store *store)\n{\n    return 1;\n}\n"
VIOLATIONS = [
    ({"kv/size.c": DEAD}, "bb_store_size has no caller"),
    ({"kv/size.c": DEAD, "kv/size.h": "BB_MUST_CHECK int bb_store_size(struct bb_store *store);\n"}, "bb_store_size"),
    ({"kv/size.c": DEAD, "kv/size.h": "BB_MUST_CHECK int\nbb_store_size(struct bb_store *store);\n"}, "bb_store_size"),
    ({"kv/size.c": DEAD, "tests/unit/kv/size_test.c": "int a = bb_store_size(0);\n"}, "bb_store_size has no caller"),
    ({"kv/size.c": DEAD + "/* bb_store_size() */\n"}, "kv/size.c:1: bb_store_size"),
    ({"kv/size.c": DEAD + "\nint a = bb_store_size(0);\n", "kv/size.h": "int bb_store_size(struct bb_store *store);\n"},
     "kv/size.c:1: only its own file uses bb_store_size"),
    ({"base/line.h": "static inline int bb_line_end(int line)\n{\n    return line;\n}\n"}, "bb_line_end has no caller"),
    ({"sstable/store.h": "struct bb_store {\n    int other;\n};\n"}, "the tag bb_store is also defined in kv/store.h"),
    ({"base/a.h": "enum bb_side { LEFT };\n", "kv/b.c": "enum bb_side {\n    RIGHT\n};\n"}, "the tag bb_side"),
    ({"tests/a.c": "struct bb_store {\n    int other;\n};\n"}, "the tag bb_store is also defined in kv/store.h"),
    ({"tools/a/output.h": "struct output {\n    int at;\n};\n"}, "the tag output is also defined in tools/a"),
    ({"tools/output/output.c": "struct output {\n    int at;\n};\n"}, "the tag output is also defined in tools/output"),
    ({"base/side.h": "#define BB_SIDE 1\n", "tests/a.c": "int a = BB_SIDE;\n"}, "base/side.h:1: BB_SIDE is not used"),
    ({"base/side.h": "enum { BB_SIDE };\n"}, "base/side.h:1: BB_SIDE is not used"),
]

if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
