#!/usr/bin/env python3
"""Goal: bloomblock-compare runs every engine of its build to the end, and its two outputs agree.
Method: small runs; the program itself checks each result of each engine, this checks
its output. Engines that are killed in the middle, by a limit on the size of files.

    compare_test.py BINARY
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

KEYS = 3000
LOOKUPS = 1000
SEEKS = 200
SLICES = 3
OPERATIONS = {
    "load": KEYS, "get_present_loaded": LOOKUPS, "get_absent_loaded": LOOKUPS, "seek_loaded": SEEKS,
    "get_present_compacted": LOOKUPS, "get_absent_compacted": LOOKUPS, "scan": KEYS, "seek_compacted": SEEKS,
}
RATIO_LABELS = {
    "get present, as loaded": "get_present_loaded", "get absent, as loaded": "get_absent_loaded",
    "seek + 10, as loaded": "seek_loaded", "get present, compacted": "get_present_compacted",
    "get absent, compacted": "get_absent_compacted", "seek + 10, compacted": "seek_compacted",
    "full scan, per entry": "scan",
}


def check(condition, what):
    if not condition:
        sys.exit(f"compare_test.py: {what}")


def run(binary, folder, *options, status=0, file_bytes_max=resource.RLIM_INFINITY):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes_max, file_bytes_max))

    done = subprocess.run([binary, "--dir", folder, "--quiet", *options], capture_output=True, text=True, check=False,
                          preexec_fn=set_limits)
    check(done.returncode == status, f"{options}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def sizes(*options):
    return ["--keys", str(KEYS), "--lookups", str(LOOKUPS), "--seeks", str(SEEKS), "--write-buffer", "64K", "--cache",
            "64K", "--slices", str(SLICES), *options]


def check_slices(name, phase, measured):
    slices = measured["slice_nanoseconds"]
    check(len(slices) == SLICES and min(slices) > 0, f"{name}: {phase}: slices {slices}")
    check(sum(slices) == measured["nanoseconds"], f"{name}: {phase}: the slices are not the whole")
    processor = measured["slice_processor_nanoseconds"]
    check(len(processor) == SLICES and min(processor) > 0, f"{name}: {phase}: slices of the processor {processor}")


def document_of(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def slices_of(engine, phase, field):
    return [time for result in engine["rounds"] for time in result["phases"][phase][field]]


def check_ratios(document, text, heading, field):
    """The text's ratios are medians over the slices; peers in the order of the columns."""
    ours, *peers = document["engines"]
    if not peers:
        return
    rows = text.split(heading)[1].split("\n\n")[0]
    for label, phase in RATIO_LABELS.items():
        figures = next(line for line in rows.splitlines() if line.startswith(label))[len(label):].split()
        for peer, printed in zip(peers, figures, strict=True):
            pairs = zip(slices_of(peer, phase, field), slices_of(ours, phase, field))
            ratios = [theirs / own for theirs, own in pairs]
            check(abs(float(printed) - statistics.median(ratios)) <= 0.0051,
                  f"{peer['name']}: {label}: {printed}, slices' ratios {ratios}")


def is_ahead(ours, peer, phase):
    """Whether a median of the ratios is below 1, by the clock or of the processor."""
    fields = ("slice_nanoseconds", "slice_processor_nanoseconds")
    return any(statistics.median(theirs / own for theirs, own in zip(slices_of(peer, phase, field),
                                                                     slices_of(ours, phase, field))) < 1
               for field in fields)


def check_behind(document, text):
    """The last section lists each phase of reading in which a peer is ahead, and no other."""
    ours, *peers = document["engines"]
    lines = text.split("phases in which a peer is ahead")[1].splitlines()[1:]
    listed = {(label, peer["name"]) for label in RATIO_LABELS for peer in peers for line in lines
              if line.startswith(label) and line[len(label):].split()[0] == peer["name"]}
    expected = {(label, peer["name"]) for label, phase in RATIO_LABELS.items() for peer in peers
                if is_ahead(ours, peer, phase)}
    check(listed == expected, f"phases in which a peer is ahead: {listed}, expected {expected}")
    check(lines != [] and ("none" in lines) == (len(lines) == 1 and lines[0] == "none"), f"the list ends with {lines}")


def check_document(document, rounds):
    for engine in document["engines"]:
        name = engine["name"]
        check(not engine["failed"], f"{name} failed")
        check(len(engine["rounds"]) == rounds, f"{name}: {len(engine['rounds'])} rounds")
        for result in engine["rounds"]:
            for phase in RATIO_LABELS.values():
                check_slices(name, phase, result["phases"][phase])
        for result in engine["rounds"] + [engine["median"]]:
            for phase, operations in OPERATIONS.items():
                measured = result["phases"][phase]
                check(measured["operations"] == operations, f"{name}: {phase}: {measured['operations']} operations")
                check(measured["nanoseconds"] > 0, f"{name}: {phase} took no time")
            check(result["disk_bytes_loaded"] > 0 and result["disk_bytes_compacted"] > 0, f"{name}: no size on disk")
        puts = engine["median"]["phases"]["load"]["write_calls"]
        if name in ("leveldb", "rocksdb"):  # bloomblock's commits are in a mapped file first: tests/kill
            check(puts >= KEYS, f"{name}: {puts} write calls for {KEYS} puts that are commits")


def check_engines_that_end(binary, folder):
    """SQLite's file outgrows the limit during the load, bloomblock's tables do not. Then both."""
    path = f"{folder}/ended.json"
    options = sizes("--engines", "bloomblock,sqlite", "--rounds", "2", "--json", path)
    text = run(binary, folder, *options, status=1, file_bytes_max=384 << 10)
    ours, other = document_of(path)["engines"]
    check(other["failed"] and "rounds" not in other, "sqlite has figures though it was killed")
    check_document({"engines": [ours]}, 2)
    rows = [line.split() for line in text.splitlines() if line.startswith(tuple(RATIO_LABELS))]
    check(rows and all(row[-1] == "failed" for row in rows), f"sqlite was killed: {text}")
    run(binary, folder, *options, status=1, file_bytes_max=16 << 10)
    check(all(engine["failed"] for engine in document_of(path)["engines"]), "there are figures of what was killed")


def check_figures(path, document):
    """A drawing of scripts/draw_figure has a bar for each phase and engine, inside the frame."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts", "draw_figure")
    folder = os.path.dirname(path)
    subprocess.run([sys.executable, script, path, folder], check=True)
    for theme in ("light", "dark"):
        drawn = os.path.join(folder, f"comparison-{theme}.svg")
        root = xml.etree.ElementTree.parse(drawn).getroot()
        bars = [bar for bar in root.iter("{http://www.w3.org/2000/svg}rect") if bar.get("rx")]
        shown = [engine for engine in document["engines"] if not engine["failed"]]
        check(len(bars) == 6 * len(shown), f"{theme}: {len(bars)} bars for {len(shown)} engines")
        check(all(float(bar.get("x")) + float(bar.get("width")) < float(root.get("width")) for bar in bars),
              f"{theme}: a bar leaves the frame")
        os.remove(drawn)


def check_rejections(binary, folder):
    for options in (["--keys", "many"], ["--keys", "1"], ["--engines", "nothing"], ["--key-size", "9"],
                    ["--slices", "0"], ["extra"]):
        run(binary, folder, *options, status=2)


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="bb_compare_test_") as folder:
        text = run(binary, folder, *sizes("--json", f"{folder}/all.json"))
        document = document_of(f"{folder}/all.json")
        check_document(document, 1)
        names = {engine["name"] for engine in document["engines"]}
        for engine in document["engines"]:
            check(engine["name"] in text and engine["options"] in text, f"{engine['name']} is not in the text")
        check("peer's time / bloomblock's time" in text or len(document["engines"]) == 1, "no ratios in the text")
        check_ratios(document, text, "peer's time / bloomblock's time", "slice_nanoseconds")
        check_ratios(document, text, "the same, of the processor", "slice_processor_nanoseconds")
        if len(document["engines"]) > 1:
            check_behind(document, text)
        check_figures(f"{folder}/all.json", document)
        document = json.loads(run(binary, folder, *sizes("--engines", "bloomblock", "--rounds", "2", "--json", "-")))
        check_document(document, 2)
        if {"bloomblock", "sqlite"} <= names:
            check_engines_that_end(binary, folder)
        check(all(name.endswith(".json") for name in os.listdir(folder)), f"left over: {os.listdir(folder)}")
        check_rejections(binary, folder)
    print("documents checked")


if __name__ == "__main__":
    main()
