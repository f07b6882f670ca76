#!/usr/bin/env python3
"""Interpreters close their open stores at their end, even in forked children.
The parent's store must not be affected.

    bindings_test.py LIBRARY [COMMAND]

A parent (bindings/parent.*) opens a store through the LevelDB library and puts rows, each synced;
forks with the store and an iterator open; waits for the child; puts more rows; and ends normally or
is killed. Then every row is present, and `bloomblock verify` finds no error. BB_TEST_BINDINGS names
the languages, "python" by default; missing ones are skipped with a message. BB_TEST_FORKS is the
number of runs of each. A process that hangs is a failure.
"""
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# From 3.12 on Python warns of every fork with threads, which is the subject of this test.
INTERPRETERS = {"python": [sys.executable, "-W", "ignore::DeprecationWarning", "parent.py"],
                "ruby": ["ruby", "parent.rb"], "php": ["php", "-d", "ffi.enable=1", "parent.php"]}
CHILDREN = ("exits", "closes", "uses", "killed", "execs")
TIMEOUT_SECONDS = 120


def reader(library):
    """The module parent.py, for its class Store."""
    spec = importlib.util.spec_from_file_location("parent", os.path.join(HERE, "bindings", "parent.py"))
    module = importlib.util.module_from_spec(spec)
    sys.argv[1] = library
    spec.loader.exec_module(module)
    return module


def run_parent(language, library, path, plan):
    """None, or the error."""
    *interpreter, program = INTERPRETERS[language]
    command = [*interpreter, os.path.join(HERE, "bindings", program), library, path, *map(str, plan)]
    # To a file: the end of a pipe would wait for a child that hangs.
    with tempfile.TemporaryFile() as said:
        parent = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
        try:
            status = parent.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(parent.pid, signal.SIGKILL)
            parent.wait()
            return "hung"
        said.seek(0)
        output = said.read()
    if status != (-signal.SIGKILL if plan[1] == "killed" else 0) or output != b"done\n":
        return f"status {status}, {output!r}"
    return None


def find_loss(module, command, path, count):
    """None, or the missing part."""
    try:
        store = module.Store(path)
    except SystemExit as refused:
        return f"the store does not open: {refused}"
    lost = [row for row in range(count) if store.get(row) != b"value %d " % row * 20]
    store.close()
    if lost:
        return f"{len(lost)} of {count} rows are lost"
    if command and subprocess.run([*command, "verify", path], capture_output=True, check=False).returncode != 0:
        return "verify finds damage"
    return None


def run(language, seed, module, library, command):
    """None, or the error. The first runs have each kind of child with each end."""
    rng = random.Random(seed)
    plan = (CHILDREN[seed % len(CHILDREN)], ("exits", "killed")[seed // len(CHILDREN) % 2],
            rng.choice((0, 1, 10, 400)), rng.choice((1, 10, 400)))
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="bb_fork_", dir=memory) as folder:
        path = os.path.join(folder, "store")
        failure = run_parent(language, library, path, plan) or find_loss(module, command, path, plan[2] + plan[3])
    return failure and f"{language}, BB_TEST_SEED={seed}, {plan}: {failure}"


def main():
    library, *command = sys.argv[1:]
    module = reader(library)
    first, count = int(os.environ.get("BB_TEST_SEED", "0")), int(os.environ.get("BB_TEST_FORKS", "10"))
    failures = []
    print(f"seed {first}  (BB_TEST_SEED={first} repeats)")
    for language in os.environ.get("BB_TEST_BINDINGS", "python").split():
        if shutil.which(INTERPRETERS[language][0]) is None:
            print(f"{language}: skipped, {INTERPRETERS[language][0]} is not installed")
            continue
        found = [failure for seed in range(first, first + count)
                 if (failure := run(language, seed, module, library, command))]
        print(f"{language}: {len(found)} of {count} lost a write or hung", flush=True)
        failures += found
    sys.exit("\n".join(failures) or None)


if __name__ == "__main__":
    main()
