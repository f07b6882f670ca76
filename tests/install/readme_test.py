#!/usr/bin/env python3
"""The C of README.md compiles without warnings, and runs, also on the store of an earlier run.

    readme_test.py SOURCE_FOLDER LIBRARY COMPILER
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, LIBRARY, COMPILER = sys.argv[1:4]


class Readme(unittest.TestCase):

    def test_the_c_runs(self):
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
            body, = re.findall(r"^```c\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
        library = os.path.dirname(os.path.abspath(LIBRARY))
        with tempfile.TemporaryDirectory(prefix="bloomblock-readme.") as folder:
            program = os.path.join(folder, "program")
            subprocess.run([COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-x", "c", "-", "-o", program,
                            "-I", os.path.join(SOURCE, "include"), "-L", library, "-lbloomblock",
                            f"-Wl,-rpath,{library}"], check=True, text=True,
                           input=f"#include <bb/db.h>\n#include <stdio.h>\nint main(void)\n{{\n{body}}}\n")
            for _ in range(2):
                done = subprocess.run([program], cwd=folder, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "absent\n", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
