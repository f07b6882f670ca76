#!/usr/bin/env python3
"""Every C and C++ file has the layout of .clang-format.

The layout differs between versions of clang-format, so only version VERSION decides. Without it the
check is skipped, with exit status 77.
"""
import re
import shutil
import subprocess
import sys

import source_tree

VERSION = 14
SKIPPED = 77
PROGRAMS = (f"clang-format-{VERSION}", "clang-format")
_PROBLEM = re.compile(r"^(.*?):(\d+):\d+: error: ", re.MULTILINE)


def program():
    """The first clang-format of the version, or None."""
    for name in PROGRAMS:
        found = shutil.which(name)
        if found is not None:
            text = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
            if re.search(rf"version {VERSION}\.", text):
                return found
    return None


def is_formatted(path):
    return path.endswith((".c", ".h", ".cc", ".cpp")) and "/corpus/" not in path


def check(tree):
    paths = [path for path in tree.paths if is_formatted(path)]
    if not paths:
        return []
    result = subprocess.run([program(), "--dry-run", "-Werror", "--style=file", *paths], cwd=tree.root,
                            capture_output=True, text=True, check=False)
    first = {}
    for path, line in _PROBLEM.findall(result.stderr):
        first.setdefault(path, line)
    problems = [f"{path}:{line}: not in the layout of .clang-format" for path, line in first.items()]
    if result.returncode != 0 and not problems:
        problems.append(f".clang-format:1: {result.stderr.strip()}")
    return problems


CLEAN = {
    ".clang-format": "BasedOnStyle: LLVM\nIndentWidth: 4\n",
    "base/a.c": "int x;\n",
    "tests/fuzz/corpus/b.c": "int  x ;\n",
    "docs/c.md": "int  x ;\n",
}
VIOLATIONS = [
    ({"base/b.c": "int  x;\n"}, "base/b.c:1: not in the layout"),
    ({"base/b.h": "int x;\nint  y;\n"}, "base/b.h:2: not in the layout"),
    ({"bench/b.cc": "int x ;\n"}, "bench/b.cc:1: not in the layout"),
    ({".clang-format": "NoSuchOption: 1\n"}, ".clang-format:1: "),
]

if __name__ == "__main__":
    if program() is None:
        print(f"skipped: clang-format {VERSION} is not installed")
        sys.exit(SKIPPED)
    source_tree.main(check, CLEAN, VIOLATIONS)
