#!/usr/bin/env python3
"""A program written for LevelDB prints the same on LevelDB and on bloomblock, byte for byte.

    compare_test.py ON_LEVELDB ON_BLOOMBLOCK LIBRARY [ARGUMENT...]

LIBRARY is libbloomblock_leveldb.so. It also replaces LevelDB in the program that is linked with
LevelDB (LD_PRELOAD); "-" where that is impossible (sanitizers). Each runs in a separate empty
directory, in memory if available: otherwise the syncs of small stores take most of the time.
"""
import difflib
import os
import subprocess
import sys
import tempfile

LINES_SHOWN = 40
MEMORY = "/dev/shm"


def folder_of_stores():
    if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK):
        return MEMORY
    return None


def run(program, arguments, preload=None):
    environment = dict(os.environ)
    if preload:
        environment["LD_PRELOAD"] = preload
    with tempfile.TemporaryDirectory(prefix="bb_leveldb_", dir=folder_of_stores()) as folder:
        done = subprocess.run([program, *arguments], cwd=folder, env=environment, capture_output=True)
    text = done.stdout.decode("latin-1") + f"exit status {done.returncode}\n"
    return text, done.stderr.decode("latin-1")


def difference(expected, found):
    lines = difflib.unified_diff(expected.split("\n"), found.split("\n"), "LevelDB", "bloomblock", lineterm="", n=2)
    return "\n".join(line for line, _ in zip(lines, range(LINES_SHOWN)))


def main():
    on_leveldb, on_bloomblock, library, *arguments = sys.argv[1:]
    expected, complaint = run(on_leveldb, arguments)
    if not expected.endswith("exit status 0\n"):
        sys.exit(f"{on_leveldb} failed on LevelDB itself:\n{expected[-2000:]}\n{complaint}")
    runs = [("linked", on_bloomblock, None)]
    if library != "-":
        runs.append(("preloaded", on_leveldb, library))
    for name, program, preload in runs:
        found, complaint = run(program, arguments, preload)
        if found != expected:
            sys.exit(f"{name}, {' '.join(arguments)}: differs\n{difference(expected, found)}\n{complaint[-4000:]}")
        print(f"{name} {' '.join(arguments)}: {expected.count(chr(10))} lines, equal")


if __name__ == "__main__":
    main()
