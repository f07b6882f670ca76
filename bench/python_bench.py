#!/usr/bin/env python3
r"""The time that the Python module adds to a put, a get and an entry of a scan in C.

    PYTHONPATH=build/release/python bench/python_bench.py \
        build/release/bench/binding_bench [--count N] [--rounds N]

Keys of 16 digits, values of 100 bytes. Rounds of both languages alternate, and of plyvel if it is
installed; the medians are printed.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

import bloomblock

VALUE = b"v" * 100


def in_c(program, path, count):
    """Nanoseconds per put, get and entry."""
    done = subprocess.run([program, path, str(count)], check=True, stdout=subprocess.PIPE)
    return [float(number) for number in done.stdout.split()]


def measured(function, count):
    begin = time.perf_counter_ns()
    function()
    return (time.perf_counter_ns() - begin) / count


def in_python(store, keys, scan):
    def put_all():
        put = store.put
        for key in keys:
            put(key, VALUE)

    def get_all():
        get = store.get
        for key in keys:
            get(key)

    def scan_all():
        for _ in scan():
            pass
    puts = measured(put_all, len(keys))
    if isinstance(store, bloomblock.Store):
        store.wait_idle()
    get_all()
    return [puts, measured(get_all, len(keys)), measured(scan_all, len(keys))]


def by_bloomblock(path, keys):
    with bloomblock.open(path) as store:
        return in_python(store, keys, store.items)


def by_plyvel(module, path, keys):
    database = module.DB(path, create_if_missing=True, bloom_filter_bits=10)
    try:
        return in_python(database, keys, database.iterator)
    finally:
        database.close()


def contenders(program):
    found = {"C": lambda path, keys: in_c(program, path, len(keys)), "bloomblock": by_bloomblock}
    import bloomblock.plyvel as ported  # pylint: disable=import-outside-toplevel
    found["bloomblock.plyvel"] = lambda path, keys: by_plyvel(ported, path, keys)
    try:
        import plyvel  # pylint: disable=import-outside-toplevel
        found["plyvel (LevelDB)"] = lambda path, keys: by_plyvel(plyvel, path, keys)
    except ImportError:
        pass
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    keys = [b"%016d" % number for number in range(arguments.count)]
    runs = contenders(arguments.program)
    results = {name: [] for name in runs}
    for _ in range(arguments.rounds):
        for name, run in runs.items():
            folder = tempfile.mkdtemp(prefix="bloomblock-bench.")
            try:
                results[name].append(run(os.path.join(folder, "store"), keys))
            finally:
                shutil.rmtree(folder)
    print(f"{'ns per call':20} {'put':>8} {'get':>8} {'entry':>8}   {arguments.count} keys, {arguments.rounds} rounds")
    for name, rounds in results.items():
        print(f"{name:20}" + "".join(f" {statistics.median(values):8.0f}" for values in zip(*rounds)))


if __name__ == "__main__":
    main()
