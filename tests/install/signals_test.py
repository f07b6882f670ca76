#!/usr/bin/env python3
"""SIGBUS of a program that loads the shared library by dlopen and unloads it (signals.c).

    signals_test.py PROGRAM LIBRARY
"""
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBRARY = sys.argv[1:3]


class Signals(unittest.TestCase):

    def run_program(self, mode):
        with tempfile.TemporaryDirectory(prefix="bloomblock-signals.") as folder:
            return subprocess.run([PROGRAM, LIBRARY, folder, mode], capture_output=True, text=True, check=False)

    def test_a_sent_signal_stays_ignored(self):
        done = self.run_program("ignored")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "alive\n", ""))

    def test_a_sent_signal_reaches_the_earlier_handler_after_dlclose(self):
        done = self.run_program("own")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "alive\n", ""))

    def test_by_default_a_sent_signal_ends_the_process(self):
        done = self.run_program("default")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (-signal.SIGBUS, "", ""))

    def test_a_fault_ends_the_process_although_the_signal_was_ignored(self):
        done = self.run_program("fault")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (-signal.SIGBUS, "", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
