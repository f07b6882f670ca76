#!/usr/bin/env python3
"""The golden file of a filter, read and asked by a reader that knows nothing but the pages of docs/."""
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

from read_filter import SECRET_OF_SEED_1, Corrupt  # noqa: E402
from read_filter_file import HEADER, FilterFile  # noqa: E402


def read_file(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def describe(file):
    rows = [(0, 8, "magic", "BBFLFILE"), (8, 4, "version", file.version), (12, 2, "hash", file.hash),
            (14, 2, "header size", HEADER), (16, 8, "file size", file.size),
            (24, 192, "secret", "of seed 1" if file.secret == SECRET_OF_SEED_1 else "unknown"),
            (216, 8, "seal", f"0x{file.seal:016x}"), (224, 8, "planned keys", file.planned), (232, 16, "reserved", "zeros"),
            (248, 8, "checksum", f"0x{file.checksum:016x}"),
            (HEADER, file.size - HEADER, "envelope", "that of filter_ribbon.bin")]
    return "".join(f"{offset:6} {width:5}  {name:<15}{value}\n" for offset, width, name, value in rows)


data = read_file("filterfile_ribbon.bin")
filter_file = FilterFile(data)
if describe(filter_file) != read_file("filterfile_ribbon.txt").decode("ascii"):
    sys.exit("filterfile_ribbon.bin does not read as its text")
if data[HEADER:] != read_file("filter_ribbon.bin"):
    sys.exit("the envelope is not that of filter_ribbon.bin")
if not all(filter_file.may_contain(b"key-%04d" % i) for i in range(30)):
    sys.exit("a member is denied")
passing = sum(filter_file.may_contain(b"key-%05d" % i) for i in range(10000, 12000))
if not 0 < passing < 60:
    sys.exit(f"{passing} of 2000 non-member keys pass at 1 %")
for at in range(len(data)):
    damaged = bytearray(data)
    damaged[at] ^= 0x10
    try:
        FilterFile(bytes(damaged))
    except (Corrupt, struct.error, IndexError):
        continue
    sys.exit(f"a changed byte at {at} was not noticed")
print("1 golden read")
