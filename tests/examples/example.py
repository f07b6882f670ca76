"""Shared by the tests of the programs in examples/.

A test is a script called as  X_test.py BINARY [COMMAND [unittest arguments]]; COMMAND is the path
of `bloomblock`. Seeds: printed, and overridden by the environment variable BB_TEST_SEED.
"""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "examples.md")
COMMAND = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None


def test_random():
    """A generator whose seed is printed."""
    seed = int(os.environ.get("BB_TEST_SEED", "20261123"))
    print(f"seed {seed}  (BB_TEST_SEED={seed} repeats)", file=sys.stderr)
    return random.Random(seed)


class ExampleTest(unittest.TestCase):
    """A temporary directory per test, and assertions about runs of the program."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="bloomblock-example.")
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, lines):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
        return self.path(name)

    def run_example(self, *arguments, code=0):
        """Its standard output; code: the exit code, or less the signal that ends it."""
        process = subprocess.run([BINARY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                                 check=False, encoding="utf-8")
        self.assertEqual(process.returncode, code, process.stdout[-2000:] + process.stderr[-2000:])
        self.assertNotIn("Sanitizer", process.stderr)
        return process.stdout

    def numbers(self, text, pattern):
        """The numbers that a pattern, which must match once, captures."""
        found = re.findall(pattern, text)
        self.assertEqual(len(found), 1, f"{pattern!r} in\n{text}")
        fields = found[0] if isinstance(found[0], tuple) else (found[0],)
        return [float(field) for field in fields]

    def check_page(self, text):
        """docs/examples.md shows the text."""
        with open(PAGE, encoding="utf-8") as file:
            self.assertIn(text, file.read(), f"{PAGE} shows something else")

    def check_rate(self, observed, predicted):
        """A count of chance events within five standard errors of its prediction."""
        self.assertLess(abs(observed - predicted), 5 * max(predicted, 1) ** 0.5, f"{observed}, predicted {predicted}")


def main():
    if BINARY is None:
        sys.exit(f"usage: {sys.argv[0]} BINARY [COMMAND]")
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
