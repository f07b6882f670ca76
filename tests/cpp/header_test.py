#!/usr/bin/env python3
"""<bb/bloomblock.hpp> compiles without warnings, with g++ and clang++, as C++17 and C++20, and
without exceptions. A build of the test and the examples of docs/cpp.md run.

    header_test.py SOURCE_FOLDER LIBRARY
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:3])
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
BLOCK = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)


def compiled(compiler, *options):
    """None, or the complaints."""
    command = [compiler, *WARNINGS, "-I", os.path.join(SOURCE, "include"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"{' '.join(command)}\n{done.stderr}"


class HeaderTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bloomblock-cpp.")
        self.addCleanup(shutil.rmtree, self.folder)
        if not COMPILERS:
            self.skipTest("no compiler of C++ is installed")

    def examples(self):
        """The page's examples as one file."""
        with open(os.path.join(SOURCE, "docs", "cpp.md"), encoding="utf-8") as file:
            blocks = BLOCK.findall(file.read())
        self.assertGreater(len(blocks), 2)
        path = os.path.join(self.folder, "page.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#include <bb/bloomblock.hpp>\n#include <iostream>\n" + "".join(
                f"static void example_{number}()\n{{\n{block}}}\n" for number, block in enumerate(blocks)))
            calls = "".join(f"    example_{number}();\n" for number in range(len(blocks)))
            file.write(f"int main()\n{{\n{calls}}}\n")
        return path

    def test_compiles_everywhere(self):
        test = os.path.join(SOURCE, "tests", "cpp", "store.cpp")
        header = os.path.join(SOURCE, "include", "bb", "bloomblock.hpp")
        runs = [(compiler, f"-std=c++{year}", "-fsyntax-only", test) for compiler in COMPILERS for year in (17, 20)
                if (compiler, year) != (COMPILERS[-1], 17)]  # test_runs has it
        runs.append((COMPILERS[0], "-std=c++17", "-fno-exceptions", "-fsyntax-only", "-x", "c++", "-include", header,
                     os.devnull))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual([found for found in pool.map(lambda run: compiled(*run), runs) if found], [])

    def test_no_class_uses_a_name_in_two_senses(self):
        """A class that names a type, and then declares a member of that name, is ill-formed. No
        compiler has to report it."""
        with open(os.path.join(SOURCE, "include", "bb", "bloomblock.hpp"), encoding="utf-8") as file:
            code = re.sub(r'(?s)/\*.*?\*/|"[^"\n]*"', "", file.read())
        classes = re.findall(r"(?ms)^(?:class|struct) (?:\[\[nodiscard\]\] )?(\w+)[^;{]*\{\n(.*?)^\};", code)
        types = {name for name, _ in classes}
        self.assertIn("snapshot", types)
        for name, body in classes:
            members = re.findall(r"(?m)^    \w[\w:<>*& ]* \*?(\w+)(?:\(| = |;)", body)
            for member in types.intersection(members) - {name}:
                self.assertIsNone(re.search(rf"(?<![\w:.>]){member} [*&\w]", body), f"{name}: use bb::{member}")

    def run_built(self, compiler, year, source):
        """The output of a program."""
        program = os.path.join(self.folder, "program")
        library = os.path.dirname(LIBRARY)
        self.assertIsNone(compiled(compiler, f"-std=c++{year}", source, "-o", program, "-L", library, "-lbloomblock",
                                   f"-Wl,-rpath,{library}"))
        done = subprocess.run([program, self.folder], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_runs(self):
        self.run_built(COMPILERS[-1], 17, os.path.join(SOURCE, "tests", "cpp", "store.cpp"))

    def test_the_page_runs(self):
        said = self.run_built(COMPILERS[0], 20, self.examples())
        self.assertTrue(said.startswith("block\nbloom block\n1\nb\na\n"), said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
