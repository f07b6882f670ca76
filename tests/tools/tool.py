"""Shared by the tests of the command `bloomblock`: running it, temporary directories, exit codes.

A test is a script called as  X_test.py BINARY SOURCE_DIRECTORY [unittest arguments].
Seeds: printed, and overridden by the environment variable BB_TEST_SEED. With BB_TEST_STEP, a test
runs only some of many similar cases; with BB_TEST_SHARE, a program runs only some of its tests.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from share import SharedLoader  # noqa: E402

FOUND, ABSENT, USAGE, IO, CORRUPT, UNSUPPORTED, INCONSISTENT, OVERFULL, RECOVERED = range(9)

BINARY = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None

STEP = int(os.environ.get("BB_TEST_STEP", "1"))


def fewer(count):
    """The number of similar cases to run: all of them, or one in BB_TEST_STEP."""
    return max(1, count // STEP)


turn = 0


def some(cases):
    """The cases, or one in BB_TEST_STEP of them. Each call within a program starts at another case,
    and each run of the program selects the same ones. A release build runs the cases that sanitizer
    builds omit; scripts/soak runs them all under sanitizers."""
    global turn
    turn += 1
    cases = list(cases)
    return cases[turn % min(STEP, len(cases))::STEP]


class Result:
    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err.decode(errors="replace")

    @property
    def complaints(self):
        """Lines of standard error that are no notes."""
        return [line for line in self.err.splitlines() if " note: " not in line]

    @property
    def text(self):
        return self.out.decode()

    @property
    def lines(self):
        return self.out.decode().splitlines()

    @property
    def json(self):
        return json.loads(self.out)


def run(*arguments, stdin=b"", **options):
    """Runs the command to its end; arguments are str or bytes."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    process = subprocess.run([BINARY, *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             timeout=300, check=False, **options)
    return Result(process.returncode, process.stdout, process.stderr)


class ToolTest(unittest.TestCase):
    """A temporary directory per test, and assertions about runs of the command."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="bloomblock-test.")
        self.addCleanup(self.remove_directory)
        self.store = self.path("store")

    def remove_directory(self):
        for folder, _, _ in os.walk(self.directory):
            os.chmod(folder, 0o700)
        shutil.rmtree(self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def expect(self, code, *arguments, **options):
        result = run(*arguments, **options)
        self.assertEqual(result.code, code,
                         f"{arguments}\nstdout: {result.out[-2000:]!r}\nstderr: {result.err[-2000:]}")
        if code not in (FOUND, ABSENT):
            self.assertIn("bloomblock", result.err)
            self.assertLess(len(result.complaints), 8, result.err)
        self.assertNotIn("Sanitizer", result.err)
        self.assertNotIn("bloomblock bug", result.err)
        return result

    def ok(self, *arguments, **options):
        return self.expect(FOUND, *arguments, **options)

    def load(self, lines, *options, store=None):
        """Lines (str or bytes) into the store."""
        if isinstance(lines, (list, tuple)):
            lines = "".join(f"{line}\n" for line in lines)
        return self.ok("load", store or self.store, *options, stdin=lines)

    def tables(self, store=None, *options):
        """Paths of the live tables, newest first. Pass the options of the load: under other options
        compactions may be due, which remove the tables before the test reads them."""
        return [row["path"] for row in self.ok("stat", store or self.store, "--json", *options).json["tables"]]

    def store_files(self, store=None):
        """Names and contents."""
        store = store or self.store
        contents = {}
        for name in sorted(os.listdir(store)):
            with open(os.path.join(store, name), "rb") as file:
                contents[name] = file.read()
        return contents


def words(count, prefix="word"):
    """Distinct keys of the same shape, in no order of the alphabet."""
    return [f"{prefix}-{(i * 2654435761) % 4294967296:010d}-{i}" for i in range(count)]


def traceable():
    """The environment of a program that runs under strace: the leak check of a sanitizer would need
    ptrace for itself. Its other options stay, which some compilers need."""
    options = filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"])
    return dict(os.environ, ASAN_OPTIONS=":".join(options))


def strace_works():
    if shutil.which("strace") is None:
        return False
    try:
        return subprocess.run(["strace", "-c", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL, timeout=60,
                              check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def test_random():
    """A generator whose seed is printed."""
    seed = int(os.environ.get("BB_TEST_SEED", "20261123"))
    print(f"seed {seed}  (BB_TEST_SEED={seed} repeats)", file=sys.stderr)
    return random.Random(seed)


def main():
    if BINARY is None or SOURCE is None:
        sys.exit(f"usage: {sys.argv[0]} BINARY SOURCE_DIRECTORY")
    unittest.main(testLoader=SharedLoader(), argv=[sys.argv[0], *sys.argv[3:]])
