#!/usr/bin/env python3
"""The golden filters, read and asked by a reader that knows nothing but docs/filters.md, say what the library says."""
import glob
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

from read_filter import Corrupt, Envelope, describe  # noqa: E402

REFUSALS = (Corrupt, struct.error, IndexError)
MEMBERS = {"ribbon": 30, "ribbon_grouped": 300, "ribbon_shards": 2600, "empty": 0, "blocked_bloom": 100, "bloom": 30,
           "none": 30, "split_block": 40, "counting": 30, "scalable": 70, "count_min": 20, "partitioned": 30}


def read_file(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def check_filter(name):
    data = read_file(f"filter_{name}.bin")
    if describe(data, MEMBERS[name]) != read_file(f"filter_{name}.txt").decode("ascii"):
        sys.exit(f"filter_{name}.bin does not read as its text")
    for at in range(0, len(data), 5):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        try:
            Envelope(bytes(damaged))
        except REFUSALS:
            continue
        sys.exit(f"filter_{name}.bin: a changed byte at {at} was not noticed")


found = {os.path.basename(path)[7:-4] for path in glob.glob(os.path.join(HERE, "filter_*.bin"))}
if found != set(MEMBERS):
    sys.exit(f"golden filters are {sorted(found)}, expected {sorted(MEMBERS)}")
for filter_name in sorted(MEMBERS):
    check_filter(filter_name)
print(f"{len(MEMBERS)} goldens read")
