#!/usr/bin/env python3
"""The golden manifest, read by a reader that knows nothing but docs/format-manifest.md, says what the library says."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

from read_manifest import Corrupt, read_manifest  # noqa: E402

with open(os.path.join(HERE, "manifest.bin"), "rb") as file:
    MANIFEST = file.read()
with open(os.path.join(HERE, "manifest.txt"), encoding="ascii") as file:
    TEXT = file.read()

if read_manifest(MANIFEST, 8) != TEXT:
    sys.exit("manifest.bin does not read as manifest.txt")
for at in range(0, len(MANIFEST), 997):  # and it looks at the bytes that it is given
    damaged = bytearray(MANIFEST)
    damaged[at] ^= 1
    try:
        read_manifest(bytes(damaged), 8)
    except Corrupt:
        continue
    sys.exit(f"a changed byte at {at} was not noticed")
print("1 golden read")
