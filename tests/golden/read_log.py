#!/usr/bin/env python3
"""A reader of logs, written from docs/format-wal.md alone: prints the records, and where and why the log ends.

    read_log.py FILE NUMBER STORE_ID [WINDOW]   prints what log.txt holds for log.bin
"""
import struct
import sys

from xxh3 import MASK, u64, xxh3_64

BLOCK, HEADER, FRAGMENT, SMALLEST, WINDOW = 32768, 48, 11, 19, 64
GAP = 64 << 20
FULL, FIRST, MIDDLE, LAST, MARK = 1, 2, 3, 4, 5
SEQUENCE_MAX, KEY_MAX, VALUE_MAX = (1 << 56) - 1, 1 << 16, 1 << 30


class Corrupt(Exception):
    pass


class Defect(Exception):
    """Something is wrong at a place; what it means is decided by what stands after it."""


def must(condition, what):
    if not condition:
        raise Corrupt(what)


def mix(x):
    for _ in range(2):
        x ^= x >> 32
        x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


def unmix(x):
    for _ in range(2):
        x ^= x >> 32
        x = x * pow(0xD6E8FEB86659FD93, -1, 1 << 64) & MASK
    return x ^ x >> 32


def decode_fragment(data, at, seed, offset=None):
    """(type, body) of the fragment at a place in data, written for an offset of the log (default: this place), or
    None."""
    offset = at if offset is None else offset
    left = min(len(data) - at, BLOCK - offset % BLOCK)
    if left < FRAGMENT:
        return None
    check, size, kind = struct.unpack_from("<QHB", data, at)
    least = 8 if kind in (FULL, FIRST, MARK) else 1
    if not 1 <= kind <= 5 or not least <= size <= left - FRAGMENT or (kind == MARK and size != 8):
        return None
    body = data[at + FRAGMENT:at + FRAGMENT + size]
    place = mix(mix(seed ^ offset) ^ (kind << 16 | size))
    return (kind, body) if check == mix(place ^ xxh3_64(body)) else None


def read_fragments(data, seed):
    at = HEADER
    while at < len(data):
        left = BLOCK - at % BLOCK
        if left < SMALLEST:
            padding = data[at:at + left]
            if len(padding) < left or any(padding):
                raise Defect
            at += left
            continue
        fragment = decode_fragment(data, at, seed)
        if fragment is None:
            raise Defect
        yield at, *fragment
        at += FRAGMENT + len(fragment[1])


def greatest_durable(data, at, seed):
    """The search after a defect, at every offset."""
    greatest = 0
    while at < len(data):
        fragment = decode_fragment(data, at, seed)
        if fragment is not None and fragment[0] in (FULL, FIRST, MARK):
            greatest = max(greatest, u64(fragment[1], 0))
        at += FRAGMENT + len(fragment[1]) if fragment is not None else 1
    return greatest


def read_records(data, seed, ends):
    """Yields (offset, payload); ends[0] is where the log ends so far."""
    start, record = 0, None
    for at, kind, body in read_fragments(data, seed):
        if (record is None) != (kind in (FULL, FIRST, MARK)):
            raise Defect
        if record is None and kind != MARK:
            start, record = at, b""
        if kind != MARK:
            record += body
        if kind in (FULL, LAST):
            yield start, record[8:]
            record = None
        if record is None:
            ends[0] = at + FRAGMENT + len(body)
    if record is not None:
        raise Defect


def varint(data, at):
    value = 0
    for shift in range(0, 70, 7):
        must(at < len(data), "varint is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            must((byte != 0 or shift == 0) and value <= MASK, "varint is not canonical")
            return value, at
    raise Corrupt("varint is too long")


def take_bytes(data, at, limit):
    size, at = varint(data, at)
    must(size <= limit and at + size <= len(data), "key or value does not fit")
    return data[at:at + size], at + size


def read_operations(payload):
    must(len(payload) >= 12, "batch is cut off")
    sequence, count = struct.unpack_from("<QI", payload)
    must(sequence + max(count, 1) - 1 <= SEQUENCE_MAX, "sequence")
    at, operations = 12, []
    for i in range(count):
        must(at < len(payload) and payload[at] < 3, "operation")
        kind = payload[at]
        key, at = take_bytes(payload, at + 1, KEY_MAX)
        value = None
        if kind > 0:
            value, at = take_bytes(payload, at, VALUE_MAX if kind == 1 else KEY_MAX)
        operations.append((sequence + i, kind, key, value))
    must(at == len(payload), "bytes after the last operation")
    return operations


def escape(data):
    return "".join("\\\\" if c == 92 else chr(c) if 32 <= c < 127 else f"\\x{c:02x}" for c in data)


def print_record(offset, payload):
    operations = read_operations(payload)
    text = f"record at offset {offset}: {len(operations)} operations\n"
    for sequence, kind, key, value in operations:
        if kind == 2:
            text += f"    {sequence} delete '{escape(key)}' to '{escape(value)}'\n"
        elif value is None:
            text += f"    {sequence} delete '{escape(key)}'\n"
        elif len(value) < 32:
            text += f"    {sequence} put '{escape(key)}' '{escape(value)}'\n"
        else:
            text += f"    {sequence} put '{escape(key)}' {len(value)} bytes\n"
    return text


def read_header(data, number, store_id):
    if len(data) < HEADER or data[:8] != b"bb.log\r\n" or u64(data, 40) != xxh3_64(data[:40]):
        raise Defect
    version, _zero, found = struct.unpack_from("<IIQ", data, 8)
    must(version == 0, "version")
    must(found == number and data[24:40] == store_id, "another log")


def find_base(window, end, seed):
    """The base of a window whose head is damaged, from its fragments; 0: there is none."""
    at = WINDOW
    while at + FRAGMENT <= len(window):
        check, size, kind = struct.unpack_from("<QHB", window, at)
        body = window[at + FRAGMENT:at + FRAGMENT + size]
        place = seed ^ unmix(unmix(unmix(check) ^ xxh3_64(body)) ^ (kind << 16 | size))
        is_found = (max(HEADER, at - WINDOW) <= place < end + GAP and
                    decode_fragment(window[at:], 0, seed, place) is not None)
        if is_found and place + FRAGMENT + size > end:
            return place - (at - WINDOW)
        at += FRAGMENT + size if is_found else 1
    return 0


def add_window(data, window, seed):
    """The bytes of the log, with those of its window."""
    if len(window) < WINDOW:
        return data
    if window[:8] == b"bb.win\r\n" and u64(window, 40) == xxh3_64(window[:40]):
        must(struct.unpack_from("<I", window, 8)[0] == 0, "version of the window")
    base, at, end = u64(window, HEADER), WINDOW, len(data)
    if u64(window, HEADER + 8) != mix(mix(seed) ^ base):
        base = find_base(window, end, seed)
    if not HEADER <= base <= end + GAP:
        return data
    log = bytearray(data)
    while at < len(window):
        place = base + at - WINDOW
        fragment = decode_fragment(window[at:], 0, seed, place)
        size = FRAGMENT + len(fragment[1]) if fragment is not None else 1
        if fragment is not None and place + size > end:
            log.extend(bytes(max(0, place + size - len(log))))
            log[place:place + size] = window[at:at + size]
        at += size
    return bytes(log)


def read_log(data, number, store_id, window=b""):
    seed = mix(mix(mix(number) ^ u64(store_id, 0)) ^ u64(store_id, 8))
    data = add_window(data, window, seed)
    text, ends = "", [0]
    try:
        if data:
            read_header(data, number, store_id)
            ends[0] = HEADER
            for offset, payload in read_records(data, seed, ends):
                text += print_record(offset, payload)
    except Defect:
        must(greatest_durable(data, ends[0], seed) <= ends[0], f"damage of durable bytes after {ends[0]}")
    text += f"end at offset {ends[0]}\n"
    dropped = len(data[ends[0]:].rstrip(b"\0"))
    return text + (f"{dropped} bytes dropped\n" if dropped else "")


if __name__ == "__main__":
    window = b""
    if len(sys.argv) > 4:
        with open(sys.argv[4], "rb") as file:
            window = file.read()
    with open(sys.argv[1], "rb") as log:
        sys.stdout.write(read_log(log.read(), int(sys.argv[2]), bytes.fromhex(sys.argv[3]), window))
