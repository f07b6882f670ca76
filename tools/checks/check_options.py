#!/usr/bin/env python3
"""docs/options.md names exactly the options of the store.

An option is a field of struct bb_db_options. The page names options in backquotes, in the first
column of its tables.
"""
import re

import source_tree

HEADER = "include/bb/db_options.h"
PAGE = "docs/options.md"


def fields(text):
    """Names of the fields of struct bb_db_options."""
    body = re.search(r"^struct bb_db_options [{]$(.*?)^[}];$", text, re.MULTILINE | re.DOTALL)
    if body is None:
        return set()
    code = re.sub(r"/[*].*?[*]/", "", body.group(1), flags=re.DOTALL)
    names = {re.search(r"(?:[(][*](\w+)[)][(].*|(\w+)(?:\[\w+\])?\s*)$", declaration, re.DOTALL)
             for declaration in code.split(";") if declaration.strip()}
    return {match.group(1) or match.group(2) for match in names}


def named(text):
    """Names in the first column of tables."""
    rows = (line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def check(tree):
    if not tree.has(HEADER) or not tree.has(PAGE):
        return [f"{PAGE}:1: there is no such page, or no {HEADER}"]
    options, documented = fields(tree.text(HEADER)), named(tree.text(PAGE))
    if not options:
        return [f"{HEADER}:1: struct bb_db_options has no fields"]
    return ([f"{PAGE}:1: the option {name} is in no table" for name in sorted(options - documented)] +
            [f"{PAGE}:1: {name} is no field of struct bb_db_options" for name in sorted(documented - options)])


CLEAN = {
    HEADER: "struct bb_db_options {\n    bool one; /* the first; */\n    const struct x *two;\n"
            "    double three[BB_N]; /* each\n one; */\n    void (*four)(void *context, int b);\n};\n",
    PAGE: "| option | default |\n|---|---|\n| `one`, `two` | `five` |\n| `three` | |\n| `four` | |\n",
}

VIOLATIONS = [
    ({PAGE: "| `one`, `two` | |\n| `three` | |\n\nand `four`\n"}, "the option four is in no table"),
    ({PAGE: CLEAN[PAGE] + "| `six` | |\n"}, "six is no field"),
    ({HEADER: "struct bb_db_options;\n"}, "has no fields"),
]

if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
