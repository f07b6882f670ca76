#!/usr/bin/env python3
"""scripts/amalgamate: bloomblock.c and bloomblock.h compile without the sources.

    amalgamation_test.py SOURCE_FOLDER COMPILER

The compiler only parses them. scripts/soak amalgamation compiles them with all warnings and runs an
example, which takes a minute.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, COMPILER = os.path.abspath(sys.argv[1]), sys.argv[2]


class Amalgamation(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="bloomblock-amalgamation.")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        subprocess.run([sys.executable, os.path.join(SOURCE, "scripts/amalgamate"), cls.folder], check=True)

    def compile(self, *options, compiler=COMPILER):
        done = subprocess.run([compiler, "-std=c11", "-fsyntax-only", *options], capture_output=True, text=True,
                              cwd=self.folder, check=False)
        self.assertEqual(done.stderr, "")

    def test_compiles_alone(self):
        self.compile("bloomblock.c")
        self.compile("-x", "c", "bloomblock.h")
        for name in ("bloomblock.c", "bloomblock.h"):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                self.assertEqual(re.findall(r'^ *# *include *"(?!bloomblock\.h).*', file.read(), re.MULTILINE), [])

    def test_has_no_warnings_of_clang(self):
        """Regression: of inline functions that only tests or other processors use."""
        if shutil.which("clang") is None:
            self.skipTest("clang is not installed")
        self.compile("-Wall", "-Wextra", "bloomblock.c", compiler="clang")

    def test_both_files_begin_with_the_license(self):
        with open(os.path.join(SOURCE, "LICENSE"), encoding="utf-8") as file:
            text = file.read().strip()
        for name in ("bloomblock.c", "bloomblock.h"):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                self.assertTrue(file.read().startswith("/* " + text))

    def test_has_every_public_function(self):
        with open(os.path.join(self.folder, "bloomblock.h"), encoding="utf-8") as file:
            header = file.read()
        for name in os.listdir(os.path.join(SOURCE, "include/bb")):
            with open(os.path.join(SOURCE, "include/bb", name), encoding="utf-8") as file:
                for function in re.findall(r"^BB_API [^;{(]*?(\w+)\(", file.read(), re.MULTILINE):
                    self.assertIn(f"{function}(", header)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
