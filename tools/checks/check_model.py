#!/usr/bin/env python3
"""The model test calls every function of the store's headers, and draws every option of the store.

A function counts as called if a source of tests/model has its name followed by a parenthesis. An
option, or a field of the read options, counts if it is assigned. The lists below name the
exceptions, each with its reason.
"""
import re

import source_tree

HEADERS = ("include/bb/db.h", "include/bb/batch.h", "include/bb/db_iter.h", "include/bb/db_files.h",
           "include/bb/db_explain.h", "include/bb/select.h")
STRUCTS = (("include/bb/db_options.h", "bb_db_options"), ("include/bb/db_options.h", "bb_get_options"),
           ("include/bb/table.h", "bb_read_options"), ("include/bb/select.h", "bb_select_options"),
           ("include/bb/select.h", "bb_materialize_options"), ("include/bb/select.h", "bb_index_estimate_options"))
SOURCES = "tests/model/"

EXCEPTIONS = {
    "read": "a struct: its fields count",
    "secret": "a random one of each store is kept and compared; tests/unit/kv/db_open_test.c gives one",
    "on_event": "tests/unit/kv/db_stats_test.c compares all events with the statistics",
    "event_context": "as on_event",
}


def functions(text):
    """Names of the functions that a header exports."""
    return set(re.findall(r"^BB_API\b[^;]*?\b(bb_\w+)\s*[(]", text, re.MULTILINE | re.DOTALL))


def fields(text, name):
    body = re.search(r"^struct " + name + r" [{]$(.*?)^[}];$", text, re.MULTILINE | re.DOTALL)
    if body is None:
        return set()
    code = re.sub(r"/[*].*?[*]/", "", body.group(1), flags=re.DOTALL)
    names = (re.search(r"(?:[(][*](\w+)[)][(].*|(\w+)(?:\[\w+\])?\s*)$", declaration, re.DOTALL)
             for declaration in code.split(";") if declaration.strip())
    return {match.group(1) or match.group(2) for match in names}


def check(tree):
    model = "".join(tree.text(path) for path in tree.paths if path.startswith(SOURCES) and path.endswith(".c"))
    called = set(re.findall(r"\b(bb_\w+)\s*[(]", model))
    assigned = set(re.findall(r"(?:\.|->)(\w+)(?:\[\w+\])?\s*=[^=]", model))
    found = []
    for header in HEADERS:
        names = functions(tree.text(header)) if tree.has(header) else set()
        if not names:
            found.append(f"{header}:1: no functions are exported, or there is no such header")
        found += [f"{header}:1: the model test does not call {name}"
                  for name in sorted(names - called - set(EXCEPTIONS))]
    for header, name in STRUCTS:
        options = fields(tree.text(header), name) if tree.has(header) else set()
        if not options:
            found.append(f"{header}:1: struct {name} has no fields")
        found += [f"{header}:1: the model test does not set {option} of {name}"
                  for option in sorted(options - assigned - set(EXCEPTIONS))]
    return found


CLEAN = {
    "include/bb/db.h": "BB_API void bb_one(int a);\n",
    "include/bb/db_options.h": "struct bb_db_options {\n    bool first;\n};\n"
                               "struct bb_get_options {\n    bool second; /* it */\n};\n",
    "include/bb/batch.h": "BB_API void bb_six(void);\n",
    "include/bb/db_iter.h": "BB_API void bb_seven(void);\n",
    "include/bb/db_files.h": "BB_API BB_MUST_CHECK enum bb_status\nbb_two(int a);\n",
    "include/bb/db_explain.h": "BB_API void bb_three(void);\n",
    "include/bb/table.h": "struct bb_read_options {\n    bool third;\n};\n",
    "include/bb/select.h": "BB_API void bb_four(void);\nstruct bb_select_options {\n    bool fourth;\n};\n"
                           "struct bb_materialize_options {\n    bool fifth;\n};\n"
                           "struct bb_index_estimate_options {\n    bool sixth;\n};\n",
    "tests/model/model_test.c": "bb_one(1); bb_two(2); bb_three(); bb_four(); bb_six(); bb_seven(); "
                                "o->first = 1; o.second = 2; o.read.third = a; o.fourth = 4; o.fifth = 5; "
                                "o.sixth = 6;\n",
}

VIOLATIONS = [
    ({"include/bb/db_files.h": "BB_API void bb_five(int a);\n"}, "does not call bb_five"),
    ({"tests/model/model_test.c": CLEAN["tests/model/model_test.c"].replace("fifth", "other")},
     "does not set fifth of bb_materialize_options"),
    ({"tests/model/model_test.c": CLEAN["tests/model/model_test.c"].replace("o->first =", "o->first ==")},
     "does not set first of bb_db_options"),
    ({"tests/model/model_test.c": CLEAN["tests/model/model_test.c"].replace("third", "other")},
     "does not set third of bb_read_options"),
    ({"include/bb/db_explain.h": "\n"}, "no functions are exported"),
    ({"include/bb/table.h": "\n"}, "struct bb_read_options has no fields"),
]

if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
