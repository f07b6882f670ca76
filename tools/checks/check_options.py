#!/usr/bin/env python3
"""docs/options.md names exactly the options of the store, and why each expert option exists.

An option is a field of struct bb_db_options. The page names options in backquotes, in the first
column of its tables. Each field below the first comment EXPERT has a row in the table of the
section REASONS, in which no cell is empty: its figures, or the need for it.
"""
import re

import source_tree

HEADER = "include/bb/db_options.h"
PAGE = "docs/options.md"
EXPERT = "/* ---- expert"
REASONS = "### Why the expert options exist"


def body(text):
    """The declarations of struct bb_db_options."""
    match = re.search(r"^struct bb_db_options [{]$(.*?)^[}];$", text, re.MULTILINE | re.DOTALL)
    return match.group(1) if match else ""


def fields(declarations):
    """Names of the declared fields."""
    code = re.sub(r"/[*].*?[*]/", "", declarations, flags=re.DOTALL)
    names = {re.search(r"(?:[(][*](\w+)[)][(].*|(\w+)(?:\[\w+\])?\s*)$", declaration, re.DOTALL)
             for declaration in code.split(";") if declaration.strip()}
    return {match.group(1) or match.group(2) for match in names}


def named(text):
    """Names in the first column of tables, each with the other cells of all its rows."""
    found = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            first, *others = (cell.strip() for cell in line.strip().strip("|").split("|"))
            for name in re.findall(r"`(\w+)`", first):
                found.setdefault(name, []).extend(others)
    return found


def section(text, heading):
    """The text below the heading, up to the next one."""
    match = re.search(rf"^{re.escape(heading)}$(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    return match.group(1) if match else ""


def unexplained(declarations, page):
    """Expert options without a reason."""
    reasons = named(section(page, REASONS))
    experts = fields(EXPERT + declarations.partition(EXPERT)[2])
    return {name for name in experts if not reasons.get(name) or not all(reasons[name])}


def check(tree):
    if not tree.has(HEADER) or not tree.has(PAGE):
        return [f"{PAGE}:1: there is no such page, or no {HEADER}"]
    page, declarations = tree.text(PAGE), body(tree.text(HEADER))
    options, documented = fields(declarations), set(named(page))
    if not options:
        return [f"{HEADER}:1: struct bb_db_options has no fields"]
    if EXPERT not in declarations:
        return [f"{HEADER}:1: no comment begins with \"{EXPERT}\""]
    return ([f"{PAGE}:1: the option {name} is in no table" for name in sorted(options - documented)] +
            [f"{PAGE}:1: {name} is no field of struct bb_db_options" for name in sorted(documented - options)] +
            [f"{PAGE}:1: the expert option {name} has no reason, or an empty one, below {REASONS}"
             for name in sorted(unexplained(declarations, page))])


CLEAN = {
    HEADER: "struct bb_db_options {\n    bool one; /* the first; */\n    const struct x *two;\n"
            "    " + EXPERT + ": all ---- */\n    double three[BB_N]; /* each\n one; */\n"
            "    void (*four)(void *context, int b);\n};\n",
    PAGE: "| option | default |\n|---|---|\n| `one`, `two` | `five` |\n| `three` | |\n| `four` | |\n"
          f"{REASONS}\n| option | why |\n|---|---|\n| `three`, `four` | 1.2 |\n| `four` | tests |\n## Next\n",
}

VIOLATIONS = [
    ({PAGE: CLEAN[PAGE].replace("| `one`, `two`", "and `one`\n| `two`")}, "the option one is in no table"),
    ({PAGE: CLEAN[PAGE] + "| `six` | |\n"}, "six is no field"),
    ({HEADER: "struct bb_db_options;\n"}, "has no fields"),
    ({HEADER: CLEAN[HEADER].replace("expert", "others")}, "no comment begins with"),
    ({PAGE: CLEAN[PAGE].replace("| `three`, `four` | 1.2 |\n", "")}, "the expert option three has no reason"),
    ({PAGE: CLEAN[PAGE].replace("| tests |", "| |")}, "the expert option four has no reason"),
    ({PAGE: CLEAN[PAGE].replace("| `three`, `four` |", "| `four` |") + "| `three` | 1.2 |\n"},
     "the expert option three has no reason"),
]

if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
