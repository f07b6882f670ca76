#!/usr/bin/env python3
"""A store of LevelDB, whole or without one of its files, is refused by open, repair and
destroy, and no byte changes. The same holds for an empty store that LevelDB has repaired, and that
therefore has no log. The command in the message makes a store of bloomblock with the same contents
for the program.

    foreign_test.py ON_LEVELDB ON_BLOOMBLOCK [COMMAND]
"""
import os
import shutil
import subprocess
import sys
import tempfile

HINT = "`bloomblock import leveldb store NEW`"


def run(program, what, folder):
    done = subprocess.run([program, what], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode("latin-1")


def contents(folder):
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(parent, name), "rb") as file:
                found[os.path.join(parent, name)] = file.read()
    return found


def touch(program, folder, what):
    """Every call refuses, without any change."""
    before = contents(os.path.join(folder, "store"))
    lines = run(program, "touch", folder).splitlines()
    if len(lines) != 4 or not all(": Invalid argument: " in line and HINT in line for line in lines):
        sys.exit(f"{what}: not refused:\n" + "\n".join(lines))
    if contents(os.path.join(folder, "store")) != before:
        sys.exit(f"{what}: files have changed")


def touch_without(program, folder, names):
    """The same when some files are missing."""
    for name in names:
        hidden = os.path.join(folder, name)
        path = os.path.join(folder, "store", name)
        shutil.move(path, hidden)
        touch(program, folder, f"without {name}")
        shutil.move(hidden, path)


def follow_hint(command, on_bloomblock, folder, expected):
    """Imports, replaces the old store by the new one, and reads."""
    subprocess.run([command, "import", "leveldb", "store", "new"], cwd=folder, capture_output=True, check=True)
    os.rename(os.path.join(folder, "store"), os.path.join(folder, "old"))
    os.rename(os.path.join(folder, "new"), os.path.join(folder, "store"))
    if run(on_bloomblock, "read", folder) != expected:
        sys.exit("what was imported is not what LevelDB has")


def main():
    on_leveldb, on_bloomblock, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="bb_leveldb_") as folder:
        run(on_leveldb, "write", folder)
        expected = run(on_leveldb, "read", folder)
        names = os.listdir(os.path.join(folder, "store"))
        if expected.count("\n") < 2000 or not any(name.endswith(".ldb") for name in names):
            sys.exit(f"LevelDB's store is too small to prove anything: {names}")
        touch(on_bloomblock, folder, "whole")
        touch_without(on_bloomblock, folder, names)
        if run(on_leveldb, "read", folder) != expected:
            sys.exit("LevelDB reads something else than before")
        if command:
            follow_hint(command[0], on_bloomblock, folder, expected)
    with tempfile.TemporaryDirectory(prefix="bb_leveldb_") as folder:
        run(on_leveldb, "empty", folder)
        names = os.listdir(os.path.join(folder, "store"))
        if any(name.endswith((".ldb", ".log")) for name in names):
            sys.exit(f"LevelDB's repaired store has a log: {names}")
        touch(on_bloomblock, folder, "empty")
    with tempfile.TemporaryDirectory(prefix="bb_leveldb_") as folder:
        ours = run(on_bloomblock, "write", folder)
        if run(on_bloomblock, "read", folder) != ours or ours.split("\n", 1)[1] != expected.split("\n", 1)[1]:
            sys.exit("a store of bloomblock is not read as it was written")
    print(f"refused, whole and without each of {len(names)} files")


if __name__ == "__main__":
    main()
