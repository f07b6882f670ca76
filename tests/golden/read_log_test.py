#!/usr/bin/env python3
"""The golden log, read by a reader that knows nothing but docs/format-wal.md, says what the library says."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

from read_log import Corrupt, read_log  # noqa: E402

STORE_ID = bytes(range(0xA0, 0xB0))

with open(os.path.join(HERE, "log.bin"), "rb") as file:
    LOG = file.read()
with open(os.path.join(HERE, "log.txt"), encoding="ascii") as file:
    TEXT = file.read()

if read_log(LOG, 7, STORE_ID) != TEXT:
    sys.exit("log.bin does not read as log.txt")
MARK = len(LOG) - 19  # says that everything before it is durable
for at in list(range(0, 200, 7)) + list(range(200, len(LOG), 4999)) + list(range(MARK - 40, MARK)):
    damaged = bytearray(LOG)
    damaged[at] ^= 1
    try:
        read_log(bytes(damaged), 7, STORE_ID)
    except Corrupt:
        continue
    sys.exit(f"a changed byte at {at} was not noticed")
for cut in (0, 20, 48, 60, 102, 120, 33000, MARK - 1, MARK):  # a tail that was lost is none
    lines = read_log(LOG[:cut], 7, STORE_ID).splitlines()
    records = [line for line in lines if not line.startswith(("end", " ")) and "dropped" not in line]
    if any(line not in TEXT for line in records):
        sys.exit(f"a log cut at {cut} gives other records")

with open(os.path.join(HERE, "window.bin"), "rb") as file:
    WINDOW = file.read()
SECOND, FOURTH = 102, 178
WHOLE = read_log(LOG[:FOURTH], 7, STORE_ID)
if read_log(LOG[:SECOND], 7, STORE_ID) == WHOLE:
    sys.exit("the window is not needed")
for cut in (SECOND, SECOND + 5, 150, FOURTH):  # a write of the window into the log was interrupted
    if read_log(LOG[:cut], 7, STORE_ID, WINDOW + bytes(100)) != WHOLE:
        sys.exit(f"a log cut at {cut} with its window reads otherwise")
for at in range(64):  # each head that is damaged, or that a kill has left between two stores
    for bit in range(8):
        damaged = bytearray(WINDOW)
        damaged[at] ^= 1 << bit
        if read_log(LOG[:SECOND], 7, STORE_ID, bytes(damaged)) != WHOLE:
            sys.exit(f"a changed bit at {at} of the window's head is not harmless")
for at in range(64, len(WINDOW)):
    damaged = bytearray(WINDOW)
    damaged[at] ^= 1
    records = read_log(LOG[:SECOND], 7, STORE_ID, bytes(damaged)).splitlines()
    if any(line not in TEXT for line in records if not line.startswith("end") and "dropped" not in line):
        sys.exit(f"a changed byte at {at} of the window gives other records")
if read_log(LOG, 7, STORE_ID, WINDOW) != TEXT:
    sys.exit("a window that the log has already changes it")
print("2 goldens read")
