#!/usr/bin/env python3
"""Files stay within 600 lines and functions within 70.

length_exceptions.txt lists longer files and functions with their exact lengths and a reason. The
check fails if one of them grows, and also if it shrinks and its entry is not updated.
"""
import re

import c_source
import source_tree

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
EXCEPTIONS = "tools/checks/length_exceptions.txt"
SOURCES = (".c", ".h", ".py", ".sh", ".cmake", "CMakeLists.txt")


def read_exceptions(tree):
    """{(path, function or None): (lines, line of the entry)} and problems."""
    entries = {}
    problems = []
    if EXCEPTIONS not in tree.paths:
        return entries, problems
    for number, line in enumerate(tree.text(EXCEPTIONS).split("\n"), 1):
        words, _, reason = line.partition("#")
        fields = words.split()
        if not fields:
            continue
        if len(fields) not in (2, 3) or not fields[-1].isdigit() or not reason.strip():
            problems.append(f"{EXCEPTIONS}:{number}: expected \"path [function] lines # reason\"")
            continue
        entries[(fields[0], fields[1] if len(fields) == 3 else None)] = (int(fields[-1]), number)
    return entries, problems


def python_functions(text):
    """(name, first line, last line). A function ends at the next line indented no deeper."""
    lines = text.split("\n")
    found = []
    for index, line in enumerate(lines):
        match = re.match(r"( *)def (\w+)", line)
        if not match:
            continue
        last = index
        for below in range(index + 1, len(lines)):
            text_below = lines[below].strip()
            if text_below and len(lines[below]) - len(lines[below].lstrip()) <= len(match.group(1)) \
                    and not text_below.startswith(")"):
                break
            if text_below:
                last = below
        found.append((match.group(2), index + 1, last + 1))
    return found


def measures(tree):
    """(path, function or None, first line, lines, limit) of everything that has a limit."""
    for path in tree.with_suffix(*SOURCES):
        text = tree.text(path)
        yield path, None, 1, text.count("\n"), FILE_LINES_MAX
        functions = []
        if path.endswith((".c", ".h")):
            functions = c_source.functions(text)
        elif path.endswith(".py"):
            functions = python_functions(text)
        for name, first, last in functions:
            yield path, name, first, last - first + 1, FUNCTION_LINES_MAX


def check(tree):
    exceptions, problems = read_exceptions(tree)
    for path, function, first, lines, limit in measures(tree):
        what = f"{path}:{first}: {function or 'file'} has {lines} lines"
        if lines <= limit:
            continue
        allowed, entry_line = exceptions.pop((path, function), (None, 0))
        if allowed is None:
            problems.append(f"{what}, the limit is {limit}")
        elif lines > allowed:
            problems.append(f"{what}, more than the {allowed} of its exception")
        elif lines < allowed:
            problems.append(f"{EXCEPTIONS}:{entry_line}: lower it: {what}, not {allowed}")
    for (path, function), (_, entry_line) in exceptions.items():
        name = f"{path} {function}" if function else path
        problems.append(f"{EXCEPTIONS}:{entry_line}: {name} needs no exception any more: remove the entry")
    return problems


def _function(name, lines):
    return f"int {name}(int a,\n    int b)\n{{\n" + "    a++;\n" * (lines - 4) + "}\n"


CLEAN = {
    "base/a.c": "/* a */\n\n" + _function("at_the_limit", FUNCTION_LINES_MAX),
    "base/b.c": "/* b */\n\n" + _function("excepted", FUNCTION_LINES_MAX + 5),
    "base/c.h": "/* c */\n" * FILE_LINES_MAX,
    "tools/d.py": "def d():\n" + "    pass\n" * (FUNCTION_LINES_MAX - 1) + "\n\ndef e():\n    pass\n",
    EXCEPTIONS: f"# heading\nbase/b.c excepted {FUNCTION_LINES_MAX + 5} # a table of states\n",
}

VIOLATIONS = [
    ({"base/a.c": "/* a */\n\n" + _function("too_long", FUNCTION_LINES_MAX + 1)}, "too_long has 71 lines"),
    ({"base/c.h": "/* c */\n" * (FILE_LINES_MAX + 1)}, "file has 601 lines"),
    ({"tools/d.py": "def d():\n" + "    pass\n" * FUNCTION_LINES_MAX}, "d has 71 lines"),
    ({"base/b.c": "/* b */\n\n" + _function("excepted", FUNCTION_LINES_MAX + 6)}, "more than the 75"),
    ({"base/b.c": "/* b */\n\n" + _function("excepted", FUNCTION_LINES_MAX + 4)}, "lower it"),
    ({"base/b.c": "/* b */\n\n" + _function("excepted", 10)}, "needs no exception"),
    ({EXCEPTIONS: CLEAN[EXCEPTIONS] + "base/c.h 700\n"}, "expected \"path [function] lines # reason\""),
]

if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
