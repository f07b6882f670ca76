#!/usr/bin/env python3
"""A reader of manifests, written from docs/format-manifest.md alone: checks everything and prints the edits.

    read_manifest.py FILE NUMBER        prints what manifest.txt holds for manifest.bin
"""
import struct
import sys

from xxh3 import MASK, u64, xxh3_64

BLOCK, HEADER, FRAGMENT, SMALLEST = 32768, 48, 11, 19
FULL, FIRST, MIDDLE, LAST, MARK = 1, 2, 3, 4, 5
KEY_SHOWN = 64


class Corrupt(Exception):
    pass


def must(condition, what):
    if not condition:
        raise Corrupt(what)


def mix(x):
    for _ in range(2):
        x ^= x >> 32
        x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def raw(self, size):
        must(size <= self.left(), "cut off")
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, form):
        return struct.unpack(form, self.raw(struct.calcsize(form)))[0]

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.raw(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                must((byte != 0 or shift == 0) and value <= MASK, "varint is not canonical")
                return value
        raise Corrupt("varint is too long")

    def bytes(self):
        return self.raw(self.varint())


def read_header(data, number):
    must(len(data) >= HEADER and data[:8] == b"bb.log\r\n", "no header")
    version, zero, log_number = struct.unpack_from("<IIQ", data, 8)
    must(u64(data, 40) == xxh3_64(data[:40]), "check of the header")
    must(version == 0 and zero == 0 and log_number == number + (1 << 63), "header")
    return data[24:40]


def read_fragments(data, number, store_id):
    seed = mix(mix(mix(number + (1 << 63)) ^ u64(store_id, 0)) ^ u64(store_id, 8))
    at = HEADER
    while at < len(data):
        left = BLOCK - at % BLOCK
        if left < SMALLEST:
            must(not any(data[at:at + left]), "padding")
            at += left
            continue
        check, size, kind = struct.unpack_from("<QHB", data, at)
        body = data[at + FRAGMENT:at + FRAGMENT + size]
        must(len(body) == size and FRAGMENT + size <= left, "fragment is cut off")
        place = mix(mix(seed ^ at) ^ (kind << 16 | size))
        must(check == mix(place ^ xxh3_64(body)), f"check of the fragment at {at}")
        yield at, kind, body
        at += FRAGMENT + size


def read_records(data, number, store_id):
    start, record, durable = 0, None, 0
    for at, kind, body in read_fragments(data, number, store_id):
        must((record is None) == (kind in (FULL, FIRST, MARK)), "fragments out of order")
        if record is None:
            must(durable <= u64(body, 0) <= at, "durable offset")
            durable = u64(body, 0)
        if kind == MARK:
            must(len(body) == 8, "mark")
            continue
        start = at if record is None else start
        record = (record or b"") + body
        if kind in (FULL, LAST):
            yield start, record[8:]
            record = None
    must(record is None, "the last record is cut off")


def escape(key):
    text = "".join("\\\\" if c == 92 else chr(c) if 32 <= c < 127 else f"\\x{c:02x}" for c in key)
    return text if len(text) <= KEY_SHOWN else text[:KEY_SHOWN - 3] + "..."


def read_fields(cursor):
    before = 0
    while cursor.left() > 0:
        tag, value = cursor.varint(), cursor.bytes()
        must(tag > before or (tag == before and tag in (12, 14)), "fields out of order")
        before = tag
        yield tag, Cursor(value)


def read_identity(value):
    version, store_id, _secret = value.number("<I"), value.raw(16), value.raw(192)
    name = value.raw(value.left())
    must(version == 0 and 1 <= len(name) <= 255 and 0 not in name, "identity")
    return version, store_id, name


def read_table_fields(value):
    """Run, range tombstones, whether the largest key is exclusive, oldest tombstone, index file, predicted rates."""
    run, ranges, is_exclusive, oldest, index, predicted, before = 0, 0, False, 0, 0, None, 0
    for tag, field in read_fields(value):
        must(tag > before or tag % 2, "fields of a table out of order")
        before = tag
        if tag == 2:
            run = field.varint()
            must(field.left() == 0 and 0 < run < 1 << 62, "a run")
        elif tag == 4:
            ranges = field.varint()
            must(ranges > 0 and field.left() == 0, "range tombstones")
        elif tag == 6:
            must(field.left() == 0 and ranges > 0, "an exclusive largest key")
            is_exclusive = True
        elif tag == 7:
            must(oldest == 0, "an oldest tombstone twice")
            oldest = field.varint()
            must(oldest > 0 and field.left() == 0, "an oldest tombstone")
        elif tag == 8:
            index = field.varint()
            must(0 < index < 1 << 62 and field.left() == 0, "an index file")
        elif tag == 9:
            must(predicted is None, "predicted rates twice")
            predicted = field.number("<d"), field.number("<d")
            must(field.left() == 0 and all(0 < rate <= 1 for rate in predicted), "predicted rates")
        else:
            must(tag % 2 == 1, f"unsupported tag {tag} of a table")
    return run, ranges, is_exclusive, oldest, index, predicted


def read_table(value):
    level, number, table_id = value.number("<B"), value.varint(), value.raw(16)
    size, entries, keys, tombstones, blocks, raw, filters, table_filter, least, greatest = \
        (value.varint() for _ in range(10))
    rate, table_filter_rate, smallest, largest = value.number("<d"), value.number("<d"), value.bytes(), value.bytes()
    run, ranges, is_exclusive, oldest, index, predicted = read_table_fields(value)
    must(level < 7 and (run == 0 or level > 0) and 0 < rate <= table_filter_rate <= 1 and smallest <= largest, "table")
    alone = entries == keys == blocks == 0 and ranges > 0
    must(size > 0 and (alone or min(entries, keys, blocks) > 0) and max(keys, tombstones) <= entries,
         "counts of a table")
    must(table_filter <= filters <= size and least <= greatest, "counts of a table")
    must(oldest == 0 or (tombstones + ranges > 0 and least <= oldest <= greatest), "an oldest tombstone")
    place = f"level {level}, run {run}" if run else f"level {level}"
    return number, f"add table {number} to {place}: {size} bytes, {entries} entries ({tombstones} tombstones), " \
        f"{keys} keys, {blocks} blocks, {raw} raw bytes, {filters} filter bytes ({table_filter} table filter) at rate {rate:.9g} " \
        f"({table_filter_rate:.9g}), sequences {least} " \
        f"to {greatest}, keys {escape(smallest)} to {escape(largest)}{' (exclusive)' if is_exclusive else ''}, " \
        + (f"{ranges} range tombstones, " if ranges else "") \
        + (f"oldest tombstone {oldest}, " if oldest else "") \
        + (f"predicted rates {predicted[0]:.9g} and {predicted[1]:.9g}, " if predicted else "") \
        + (f"index file {index}, " if index else "") + f"id {table_id.hex()}"


def read_close(value):
    ends, before = [], 0
    while value.left() > 0:
        number, offset, check = value.varint(), value.varint(), value.number("<Q")
        must(before < number < 1 << 62 and offset >= HEADER, "the end of a log")
        before = number
        ends.append(f" log {number} with records up to {offset}, check {check:016x}")
    return "closed" + ("," + ";".join(ends) if ends else "")


def read_options(value):
    lines, before = [], 0
    while value.left() > 0:
        number, bits = value.varint(), value.number("<Q")
        must(before < number <= 19 and bits != 0, "a stored option")
        lines.append(f"option {number} is {bits:016x}")
        before = number
    must(lines, "empty stored options")
    return lines


def print_edit(record, store_id, live, counters):
    cursor, lines, is_first = Cursor(record), [], not counters
    must(cursor.number("<B") == 0, "version of an edit")
    for tag, value in read_fields(cursor):
        if tag == 2:
            version, found_id, name = read_identity(value)
            must(is_first and found_id == store_id, "identity")
            lines.append(f"store of format version {version}, id {found_id.hex()}, comparator {name.decode()}")
        elif tag in (4, 6, 8):
            number = value.varint()
            must(number >= counters.get(tag, 1) and value.left() == 0, "a number goes back")
            counters[tag] = number
            lines.append(f"{ {4: 'next file number', 6: 'last sequence', 8: 'logs from'}[tag] } {number}")
        elif tag == 10:
            lines[-1] += ", none begun"
        elif tag == 12:
            number = value.varint()
            live.remove(number)
            lines.append(f"remove table {number}")
        elif tag == 14:
            number, line = read_table(value)
            must(number not in live and number < counters[4], "an added table")
            live.add(number)
            lines.append(line)
        elif tag == 16:
            must(value.left() <= 1 << 20, "a catalog")
            lines.append(f"catalog of {value.left()} bytes")
        elif tag == 17:
            lines.append(read_close(value))
        elif tag == 18:
            lines += read_options(value)
        else:
            must(tag % 2 == 1, f"unsupported tag {tag}")
    return lines


def read_manifest(data, number):
    store_id = read_header(data, number)
    live, counters, lines = set(), {}, []
    for offset, record in read_records(data, number, store_id):
        lines.append(f"edit at offset {offset}")
        lines += print_edit(record, store_id, live, counters)
    must(counters.get(4, 0) > number, "next file number")
    return "".join(line + "\n" for line in lines)


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as manifest:
        sys.stdout.write(read_manifest(manifest.read(), int(sys.argv[2])))
