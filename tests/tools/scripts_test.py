"""The scripts of developers: their arguments, which they check before they work.

Method: runs each program in scripts/ with arguments that must not start its work.
"""
import os
import subprocess
import unittest

from tool import SOURCE, USAGE, main

SCRIPTS = os.path.join(SOURCE, "scripts")


def run(name, *arguments):
    return subprocess.run([os.path.join(SCRIPTS, name), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)


class Arguments(unittest.TestCase):
    names = sorted(name for name in os.listdir(SCRIPTS) if os.access(os.path.join(SCRIPTS, name), os.X_OK))

    def refuse(self, name, *arguments):
        result = run(name, *arguments)
        self.assertEqual((result.returncode, result.stdout), (USAGE, ""), (name, arguments, result.stderr))
        self.assertIn(arguments[-1], result.stderr, name)

    def test_help_started_the_work(self):
        self.assertIn("test", self.names)
        for name in self.names:
            for option in ("--help", "-h"):
                result = run(name, option)
                self.assertEqual((result.returncode, result.stderr), (0, ""), (name, option))
                self.assertIn(f"scripts/{name}", result.stdout)

    def test_unknown_options_started_the_work(self):
        for name in self.names:
            result = run(name, "--frobnicate")
            self.assertEqual(result.returncode, USAGE, (name, result.stderr))
            self.assertEqual(result.stdout, "", name)

    def test_unknown_names_were_noticed_late(self):
        self.refuse("abi", "no-such-release")
        self.refuse("bench", "--workloads", "--keys", "5", "--key")
        self.refuse("code_lines", "no-such-commit")
        self.refuse("fuzz_corpus", "no-such-target")
        self.refuse("setup", "build", "no-such-group")
        self.refuse("soak", "no-such-step")
        self.refuse("try-distributions", "bookworm", "no-such-distribution")
        for name in ("abi", "packages"):
            self.refuse(name, "one", "two")
        self.refuse("test", "release")
        self.refuse("demo", "--keep", "more")

    def test_help_of_the_benchmark_has_the_options_of_its_program(self):
        text = run("bench", "--help").stdout
        for option in ("--workloads", "--engines A,B", "--quiet"):
            self.assertIn(option, text)


if __name__ == "__main__":
    main()
