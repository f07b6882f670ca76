"""Shared by the tests of the Python module. PYTHONPATH names the folder of the built module.

Seeds are printed, and overridden by the environment variable BB_TEST_SEED.
"""
import os
import random
import shutil
import sys
import tempfile
import unittest

import bloomblock


def test_random():
    """A generator whose seed is printed."""
    seed = int(os.environ.get("BB_TEST_SEED", "20261123"))
    print(f"seed {seed}  (BB_TEST_SEED={seed} repeats)", file=sys.stderr)
    return random.Random(seed)


class ModuleCase(unittest.TestCase):
    """A temporary folder, and a store in it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bloomblock-python.")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name="store"):
        return os.path.join(self.folder, name)

    def open(self, name="store", **options):
        store = bloomblock.open(self.path(name), **options)
        self.addCleanup(store.close)
        return store
