#!/usr/bin/env python3
"""Goal: every mixed workload runs with every engine of the build, by one or two threads, and a
wrong result of an engine ends its run.
Method: small runs; the program itself checks each result. Workloads take one and two threads by
turns, and bloomblock runs all of them with both. Engines with planted faults (engine_wrong.c) must
fail, each with the message for its fault.

    mixed_test.py BINARY BINARY_WITH_FAULTS
"""
import concurrent.futures
import json
import subprocess
import sys
import tempfile

KEYS = 1000
OPERATIONS = 300
FAULT_OPERATIONS = 10 * OPERATIONS
SLICES = 1
SLOW = "wiredtiger"  # its first opening in a process takes 0.6 seconds of the processor
OURS = "bloomblock"
RUNS_AT_ONCE = 4  # a run mostly waits until its engines are quiet
# The phases of each workload, and their operations.
PHASES = {
    "load-random": {"get": OPERATIONS, "seek": OPERATIONS},
    "load-in-order": {"get": OPERATIONS, "seek": OPERATIONS},
    "load-reverse": {"get": OPERATIONS, "seek": OPERATIONS},
    "overwrite": {"overwrite": OPERATIONS, "get": OPERATIONS, "seek": OPERATIONS},
    "delete-heavy": {"delete": KEYS * 9 // 10, "get": OPERATIONS, "seek": OPERATIONS},
    "get": {"get": OPERATIONS, "get_never_stored": OPERATIONS},
    "multi-get": {"get": OPERATIONS, "get_many_10": OPERATIONS, "get_many_100": OPERATIONS},
    "bounded": {"range_10": OPERATIONS, "range_100": OPERATIONS, "prefix": OPERATIONS},
    "ycsb-a": {"mix": OPERATIONS}, "ycsb-b": {"mix": OPERATIONS}, "ycsb-c": {"mix": OPERATIONS},
    "ycsb-d": {"mix": OPERATIONS}, "ycsb-e": {"mix": OPERATIONS}, "ycsb-f": {"mix": OPERATIONS},
    "mixgraph": {"mix": OPERATIONS},
}
# Engine with faults: workloads that find them, and a part of the message.
FAULTS = {
    "wrong-value": (("get", "ycsb-a", "ycsb-f", "mixgraph"), "a wrong value is found"),
    "wrong-get": (("get", "ycsb-b", "ycsb-c", "ycsb-d"), "a stored key is not found"),
    "wrong-absent": (("get", "delete-heavy"), "an absent key is found"),
    "wrong-put": (("overwrite", "ycsb-a", "ycsb-f"), "a later write is lost"),
    "wrong-delete": (("delete-heavy",), "an absent key is found"),
    "wrong-many": (("multi-get",), "a value that was never written"),
    "wrong-seek": (("load-in-order", "ycsb-e", "mixgraph"), "omits a stored key"),
    "wrong-range": (("bounded",), "outside its range"),
    "wrong-prefix": (("bounded",), "omits a stored key"),
}


def check(condition, what):
    if not condition:
        sys.exit(f"mixed_test.py: {what}")


def run(binary, folder, workload, *options, status=0):
    """The cache holds all values: WiredTiger waited without end for a full one."""
    command = [binary, "--dir", folder, "--quiet", "--workload", workload, "--keys", str(KEYS), "--operations",
               str(OPERATIONS), "--slices", str(SLICES), "--write-buffer", "64K", "--cache", "8M", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check(done.returncode == status, f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def check_engine(engine, workload, operations):
    name = engine["name"]
    check(not engine["failed"], f"{workload}: {name} failed")
    phases = engine["median"]["phases"]
    ran = {phase for phase, measured in phases.items() if measured["operations"] > 0}
    check(ran == {"load", "settle", *operations}, f"{workload}: {name}: phases {ran}")
    check(phases["load"]["operations"] == KEYS, f"{workload}: {name}: {phases['load']['operations']} keys loaded")
    for phase, count in operations.items():
        measured = engine["rounds"][0]["phases"][phase]
        check(measured["operations"] == count, f"{workload}: {name}: {phase}: {measured['operations']} operations")
        for field in ("slice_nanoseconds", "slice_processor_nanoseconds", "slice_process_nanoseconds"):
            check(len(measured[field]) == SLICES and min(measured[field]) > 0, f"{workload}: {name}: {measured}")


def check_workload(binary, folder, workload, operations, *options):
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".json") as file:
        text = run(binary, folder, workload, "--json", file.name, *options).stdout
        document = json.load(file)
    for engine in document["engines"]:
        check_engine(engine, workload, operations)
    for phase in operations:
        checksums = {engine["median"]["phases"][phase]["operations_checksum"] for engine in document["engines"]}
        check(len(checksums) == 1 and 0 not in checksums, f"{workload}: {phase}: engines have different operations")
    check(document["workload"]["name"] == workload and workload in text, f"the report of {workload} lacks its name")
    return document


def check_seeds(binary, folder):
    checksums = []
    for seed in ("7", "7", "8"):
        document = check_workload(binary, folder, "ycsb-a", PHASES["ycsb-a"], "--seed", seed, "--engines", "bloomblock")
        checksums.append(document["engines"][0]["median"]["phases"]["mix"]["operations_checksum"])
    check(checksums[0] == checksums[1] != checksums[2], f"sequences of operations do not follow the seed: {checksums}")


def check_fault(binary, folder, engine, workload, message, threads):
    """With more operations, so that a thread checks a key with a wrong answer in any order."""
    done = run(binary, folder, workload, "--operations", str(FAULT_OPERATIONS), "--threads", threads, "--engines",
               engine, status=1)
    check(message in done.stderr, f"{engine}: {workload}: {done.stderr}")


def engine_options(names, is_slow_included):
    return ("--engines", ",".join(name for name in names if is_slow_included or not name.startswith(SLOW)))


def all_checks(binary, wrong, folder, names):
    """(function, arguments) of each check that runs the program."""
    for number, (workload, operations) in enumerate(PHASES.items()):
        for threads in (1, 2):
            engines = names if number % 2 == threads % 2 else [OURS]
            yield check_workload, (binary, folder, workload, operations, "--threads", str(threads),
                                   *engine_options(engines, True))
    for engine, (workloads, message) in FAULTS.items():
        for number, workload in enumerate(workloads):
            threads = str(1 + number % 2)
            yield check_fault, (wrong, folder, engine, workload, message, threads)
    # A cache of 8 MiB is 128 such values. A put of WiredTiger once waited in it for its own
    # eviction for ten minutes.
    large = ("--value-size", "65536", "--keys", "150", "--cache", "64M")
    for sizes in (("--key-size", "8", "--value-size", "8"), large):
        for workload in ("bounded", "multi-get", "ycsb-f"):
            yield run, (binary, folder, workload, *sizes, "--threads", "2",
                        *engine_options(names, sizes == large and workload == "ycsb-f"))
    yield run, (binary, folder, "overwrite", "--cold", *engine_options(names, False))
    yield check_seeds, (binary, folder)


def main():
    binary, wrong = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="bb_mixed_test_") as folder:
        document = check_workload(binary, folder, "get", PHASES["get"], "--seed", "5")
        names = [engine["name"] for engine in document["engines"]]
        with concurrent.futures.ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
            for future in [pool.submit(function, *arguments)
                           for function, arguments in all_checks(binary, wrong, folder, names)]:
                future.result()
        run(binary, folder, "nothing", status=2)
        run(binary, folder, "standard", "--threads", "2", status=2)
    print("mixed workloads checked")


if __name__ == "__main__":
    main()
