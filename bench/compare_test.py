#!/usr/bin/env python3
"""Goal: bloomblock-compare runs every engine of its build to the end, and its two outputs say the same.
Method: small runs; the program itself checks each answer of each engine, this looks at what it prints.

    compare_test.py BINARY
"""
import json
import subprocess
import sys
import tempfile

KEYS = 3000
LOOKUPS = 1000
SEEKS = 200
OPERATIONS = {
    "load": KEYS, "get_present_loaded": LOOKUPS, "get_absent_loaded": LOOKUPS, "seek_loaded": SEEKS,
    "get_present_compacted": LOOKUPS, "get_absent_compacted": LOOKUPS, "scan": KEYS, "seek_compacted": SEEKS,
}


def check(condition, what):
    if not condition:
        sys.exit(f"compare_test.py: {what}")


def run(binary, folder, *options, status=0):
    done = subprocess.run([binary, "--dir", folder, "--quiet", *options], capture_output=True, text=True, check=False)
    check(done.returncode == status, f"{options}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def sizes(*options):
    return ["--keys", str(KEYS), "--lookups", str(LOOKUPS), "--seeks", str(SEEKS), "--write-buffer", "64K", "--cache",
            "64K", *options]


def check_document(document, rounds):
    for engine in document["engines"]:
        name = engine["name"]
        check(not engine["failed"], f"{name} failed")
        check(len(engine["rounds"]) == rounds, f"{name}: {len(engine['rounds'])} rounds")
        for result in engine["rounds"] + [engine["median"]]:
            for phase, operations in OPERATIONS.items():
                measured = result["phases"][phase]
                check(measured["operations"] == operations, f"{name}: {phase}: {measured['operations']} operations")
                check(measured["nanoseconds"] > 0, f"{name}: {phase} took no time")
            check(result["disk_bytes_loaded"] > 0 and result["disk_bytes_compacted"] > 0, f"{name}: no size on disk")
        puts = engine["median"]["phases"]["load"]["write_calls"]
        if name not in ("lmdb", "sqlite"):
            check(puts >= KEYS, f"{name}: {puts} write calls for {KEYS} puts that are commits")


def check_rejections(binary, folder):
    for options in (["--keys", "many"], ["--keys", "1"], ["--engines", "nothing"], ["--key-size", "8"], ["extra"]):
        run(binary, folder, *options, status=2)


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="bb_compare_test_") as folder:
        text = run(binary, folder, *sizes("--json", f"{folder}/all.json"))
        with open(f"{folder}/all.json", encoding="utf-8") as file:
            document = json.load(file)
        check_document(document, 1)
        for engine in document["engines"]:
            check(engine["name"] in text and engine["options"] in text, f"{engine['name']} is not in the text")
        check("peer's time / bloomblock's time" in text or len(document["engines"]) == 1, "no ratios in the text")
        document = json.loads(run(binary, folder, *sizes("--engines", "bloomblock", "--rounds", "2", "--json", "-")))
        check_document(document, 2)
        check_rejections(binary, folder)
    print("two documents checked")


if __name__ == "__main__":
    main()
