#!/usr/bin/env python3
"""The shared libraries export the functions that debian/*.symbols list.

    symbols_test.py SOURCE_FOLDER LIBRARY...

A function that is missing breaks programs. New functions get lines with the version that has them
first; scripts/packages fails without these, so that one commit before a release can add them.
"""
import os
import re
import subprocess
import sys
import unittest

SOURCE, LIBRARIES = sys.argv[1], sys.argv[2:]


class Symbols(unittest.TestCase):

    def test_are_exported(self):
        for library in LIBRARIES:
            listed = None
            exported = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                                      text=True).stdout
            soname = re.search(r"SONAME.*\[(.*)\]", subprocess.run(["readelf", "-d", library], check=True,
                                                                  capture_output=True, text=True).stdout)[1]
            for name in os.listdir(os.path.join(SOURCE, "debian")):
                if name.endswith(".symbols"):
                    with open(os.path.join(SOURCE, "debian", name), encoding="utf-8") as file:
                        first, *rest = file.read().splitlines()
                    if first.startswith(soname + " "):
                        listed = {line.split("@")[0].strip() for line in rest}
            self.assertEqual(listed - {line.split()[2] for line in exported.splitlines()}, set(), soname)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
