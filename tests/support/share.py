"""Runs only some of a program's tests: BB_TEST_SHARE (docs/testing.md)."""
import os
import unittest

SHARE = int(os.environ.get("BB_TEST_SHARE", "1"))


class SharedLoader(unittest.TestLoader):
    """The first test of each class, and each SHARE-th after it."""

    def getTestCaseNames(self, testCaseClass):
        return super().getTestCaseNames(testCaseClass)[::SHARE]
