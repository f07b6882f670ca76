#!/usr/bin/env python3
"""The golden tables, read by a reader that knows nothing but docs/format.md, say what the library says."""
import glob
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

from read_table import Corrupt, read_table  # noqa: E402

REFUSALS = (Corrupt, struct.error, IndexError)


def read_file(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def check_table(name):
    data = read_file(name)
    if read_table(data) != read_file(name[:-4] + ".txt").decode("ascii"):
        sys.exit(f"{name} does not read as its text")
    places = range(len(data)) if len(data) < 2000 else range(0, len(data), len(data) // 60)
    for at in places:
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        try:
            read_table(bytes(damaged))
        except REFUSALS:
            continue
        sys.exit(f"{name}: a changed byte at {at} was not noticed")


tables = sorted(os.path.basename(path) for path in glob.glob(os.path.join(HERE, "table_*.bin")))
if not tables:
    sys.exit("no golden tables")
for table in tables:
    check_table(table)
print(f"{len(tables)} goldens read")
