#!/usr/bin/env python3
"""clang compiles every source of the library that uses instructions of x86 processors.

The quick tests build with one compiler, mostly gcc. The two differ most in these sources: clang
wants constants where gcc takes expressions, and stricter target attributes. scripts/soak clang
builds and tests everything. Without clang, or on another processor, the check is skipped with exit
status 77.
"""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import source_tree

SKIPPED = 77
FOLDERS = ("base/", "bloomblock/", "standalone/", "skip/", "sstable/")
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-DNDEBUG", "-I.", "-Iinclude"]
_INTRINSICS = re.compile(r"^#include <immintrin\.h>|\bBB_CPU_TARGET_", re.MULTILINE)
_PROBLEM = re.compile(r"^(.*?):(\d+):\d+: (?:fatal )?error: (.*)$", re.MULTILINE)


def uses_instructions(tree, path):
    return path.startswith(FOLDERS) and _INTRINSICS.search(tree.text(path)) is not None


def precompiled(folder):
    """The path of immintrin.h, precompiled: to parse it takes most of the time of a source."""
    path = os.path.join(folder, "immintrin.h")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#include <immintrin.h>\n")
    subprocess.run(["clang", *FLAGS, "-x", "c-header", path, "-o", path + ".pch"], check=True)
    return path + ".pch"


def check(tree):
    problems = []
    for path in tree.with_suffix(".c"):
        if not uses_instructions(tree, path):
            continue
        result = subprocess.run(["clang", *FLAGS, "-include-pch", header, "-c", "-o", "/dev/null", path], cwd=tree.root,
                                capture_output=True, text=True, check=False)
        problems += [f"{where}:{line}: {text}" for where, line, text in _PROBLEM.findall(result.stderr)[:1]]
        if result.returncode != 0 and not problems:
            problems.append(f"{path}:1: {result.stderr.strip()}")
    return problems


CLEAN = {
    "base/a.c": "#include <immintrin.h>\nint a;\n",
    "base/b.c": "int only_for_gcc(int x) { return __builtin_no_such(x); }\n",
}
SHIFT = ("#include <immintrin.h>\n__attribute__((target(\"avx2\"))) __m256i shift(__m256i x, int n);\n"
         "__attribute__((target(\"avx2\"))) __m256i shift(__m256i x, int n)\n{\n"
         "    return _mm256_alignr_epi8(x, x, n);\n}\n")
VIOLATIONS = [
    ({"skip/a/c.c": SHIFT}, "must be a constant integer"),
    ({"base/c.c": "#include <immintrin.h>\nint c = d;\n"}, "base/c.c:2: use of undeclared identifier"),
]

if __name__ == "__main__":
    if shutil.which("clang") is None or platform.machine() != "x86_64":
        print("skipped: clang is not installed, or this is not an x86-64 processor")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="bb_check_clang_") as temporary:
        header = precompiled(temporary)
        source_tree.main(check, CLEAN, VIOLATIONS)
