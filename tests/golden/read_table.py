#!/usr/bin/env python3
"""A reader of tables, written from docs/format.md alone: lists every part of a file.

    read_table.py FILE      prints what the .txt beside a golden holds

Every byte has to be accounted for, and every rule of the page that binds a writer is checked. The table filter is asked for
every key, as docs/filters.md says.
"""
import struct
import sys

import xxh3
from byte_cursor import Corrupt, Cursor, lz4_block, must
from read_filter import ask_ribbon, domain_of, split_descriptor
from xxh3 import MASK, u32, u64, xxh3_64

MAGIC = bytes.fromhex("894242540d0a1a0a")
BLOCK, FENCES, FILTERS, SECTION, DIRECTORY, FOOTER, TABLE_FILTER, CHUNKS = 1, 2, 3, 4, 5, 6, 7, 8
TABLE_FILTER_DOMAIN = 0x13198A2E03707344
KEY_MAX, VALUE_MAX, SEQUENCE_MAX = 1 << 16, 1 << 30, (1 << 56) - 1
RAW_MAX = (1 << 24) + 65536 + (1 << 30) + 20 + 65536
NUMBER, REAL, TEXT, KEY, HEX, SECRET = range(6)
SHOWN_MAX, ENTRIES_MAX = 48, 12  # of a value, of the entries of a block
ASKED_MAX = 1000  # keys of which the table filter is asked

PROPERTIES = {
    1: ("format_version", NUMBER), 2: ("table_id", HEX), 3: ("comparator", TEXT), 4: ("builder", TEXT),
    16: ("entry_count", NUMBER), 17: ("key_count", NUMBER), 18: ("tombstone_count", NUMBER),
    19: ("block_count", NUMBER), 20: ("page_count", NUMBER), 21: ("key_bytes", NUMBER),
    22: ("value_bytes", NUMBER), 23: ("data_size", NUMBER), 24: ("index_size", NUMBER),
    25: ("filter_size", NUMBER), 26: ("table_filter_size", NUMBER), 27: ("range_tombstone_count", NUMBER), 32: ("smallest", KEY), 33: ("largest", KEY),
    34: ("sequence_min", NUMBER), 35: ("sequence_max", NUMBER),
    36: ("largest_is_exclusive", NUMBER), 37: ("tombstone_sequence_min", NUMBER), 48: ("block_size_bytes", NUMBER),
    49: ("restart_interval", NUMBER), 50: ("compression", NUMBER), 51: ("index_page_size_bytes", NUMBER),
    64: ("filter_kind", NUMBER), 65: ("filter_rate", REAL), 66: ("filter_bits_per_probe", NUMBER), 67: ("filter_salt", NUMBER),
    68: ("filter_granularity", NUMBER), 69: ("table_filter_rate", REAL), 70: ("table_filter_fingerprint_bits", NUMBER),
    71: ("filter_slack", REAL),
    72: ("filter_excess", REAL),
    73: ("table_filter_excess", REAL),
    74: ("predicted_block_rate", REAL),
    75: ("predicted_table_filter_rate", REAL),
    80: ("hash_id", NUMBER), 81: ("hash_secret", SECRET),
    0x8000 | 28: ("head_count", NUMBER), 0x8000 | 29: ("page_group_bytes", NUMBER),
}
OPTIONAL = ("range_tombstone_count", "largest_is_exclusive", "tombstone_sequence_min",
            "filter_excess", "table_filter_excess", "predicted_block_rate",
            "predicted_table_filter_rate", "head_count", "page_group_bytes")  # left out when they are 0


def mix(x):
    for _ in range(2):
        x ^= x >> 32
        x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


def u16(data, at):
    return struct.unpack_from("<H", data, at)[0]


def hash_key(secret, key):
    """XXH3 with a secret instead of its own."""
    default, xxh3.SECRET = xxh3.SECRET, secret
    try:
        return xxh3_64(key)
    finally:
        xxh3.SECRET = default


def escape(data):
    out = []
    for byte in data:
        if byte == 0x5C:
            out.append("\\\\")
        elif 0x20 <= byte < 0x7F:
            out.append(chr(byte))
        else:
            out.append(f"\\x{byte:02x}")
    return "".join(out)


def quoted(data):
    if len(data) > SHOWN_MAX:
        return f"({len(data)} bytes, xxh3 {xxh3_64(data):016x})"
    return f'"{escape(data)}"'


class Table:
    def __init__(self, data):
        self.data = data
        self.lines = []
        self.covered = 0
        self.buried = []
        self.entries = self.keys = self.tombstones = self.key_bytes = self.value_bytes = 0
        self.sequences = []
        self.first = self.last = None
        self.distinct = []
        self.blocks = self.heads = 0
        self.filter_size = 0
        self.group_keys = set()
        self.block_rates, self.table_filter_rates = [], []  # (weight, rate) of each filter

    def say(self, line):
        self.lines.append(line)

    def check(self, kind, offset, size, stored, what):
        """The checksum of the bytes at a place, and that they have not been claimed before."""
        low, high = u64(self.id, 0), u64(self.id, 8)
        place = mix(low ^ mix(high ^ mix(kind << 56 | offset)))
        must(mix(place ^ xxh3_64(self.data[offset:offset + size])) == stored, f"checksum of {what} at {offset}")

    def read(self):
        self.read_footer()
        self.read_directory()
        self.read_properties()
        self.read_root()
        must(self.read_groups() == self.sections[0][2], "the pages do not end where the sections start")
        self.read_table_filter()
        self.read_ranges()
        self.check_counts()
        self.check_prediction("predicted_block_rate", self.block_rates)
        self.check_prediction("predicted_table_filter_rate", self.table_filter_rates)
        self.say_end()
        return "\n".join(self.lines) + "\n"

    def read_footer(self):
        data = self.data
        must(len(data) >= 64, "too short")
        self.footer_at = at = len(data) - 64
        must(data[at + 56:] == MAGIC, "not a table")
        self.id = data[at:at + 16]
        self.directory_at, self.directory_size = u64(data, at + 16), u32(data, at + 24)
        self.version, flags = u32(data, at + 28), u32(data, at + 32)
        self.check(FOOTER, at, 48, u64(data, at + 48), "footer")
        must(self.version == 0 and flags == 0, "unsupported")
        must(data[at + 36:at + 48] == bytes(12), "reserved bytes")
        must(self.directory_at + self.directory_size == at, "the directory does not end at the footer")

    def read_directory(self):
        count, rest = divmod(self.directory_size - 8, 28)
        must(rest == 0 and 1 <= count <= 64, "size of the directory")
        self.check(DIRECTORY, self.directory_at, 28 * count, u64(self.data, self.footer_at - 8), "directory")
        self.sections = []
        for i in range(count):
            section = struct.unpack_from("<HHQQQ", self.data, self.directory_at + 28 * i)
            must(not self.sections or section[2] == sum(self.sections[-1][2:4]), "a gap between sections")
            must(section[0] in (1, 2, 3, 4) or not section[1] & 1, "unknown section")
            self.check(SECTION, section[2], section[3], section[4], f"section {section[0]}")
            self.sections.append(section)
        must(sum(self.sections[-1][2:4]) == self.directory_at, "a gap before the directory")
        must(len({section[0] for section in self.sections}) == count, "a section twice")

    def section(self, wanted):
        for number, _, offset, size, _ in self.sections:
            if number == wanted:
                return self.data[offset:offset + size]
        raise Corrupt(f"no section {wanted}")

    def read_properties(self):
        cursor = Cursor(self.section(2))
        self.properties = {}
        self.property_lines = []
        last = -1
        while cursor.left():
            number = u16(cursor.raw(2), 0)
            value = cursor.bytes()
            must(number > last, "properties out of order")
            last = number
            if number in PROPERTIES:
                self.take_property(number, value)
            else:
                must(number < 0x8000, f"property {number} must be understood")
        for name in OPTIONAL:
            must(self.properties.get(name) != 0, "an optional property of 0")
            self.properties.setdefault(name, 0)
        must(len(self.properties) == len(PROPERTIES), "a property is missing")
        must(self.properties["table_id"] == self.id, "two table ids")
        must(self.properties["hash_id"] == 2, "unsupported")

    def take_property(self, number, value):
        name, kind = PROPERTIES[number]
        if kind == NUMBER:
            inner = Cursor(value)
            value = inner.varint()
            must(inner.left() == 0, "bytes after a number")
            shown = str(value)
        elif kind == REAL:
            value = struct.unpack("<d", value)[0]
            shown = f"{value:.9g}"
        elif kind == HEX:
            shown = value.hex()
        elif kind == SECRET:
            must(len(value) == 192, "size of the secret")
            shown = "(192 bytes, not shown)"
        else:
            shown = escape(value)
        self.properties[name] = value
        self.property_lines.append(f"property {number} {name}: {shown}")

    def read_fences(self, cursor, count):
        """A list of fences: (key, sequence) each."""
        bytewise = self.properties["comparator"] == b"bytewise"
        common = cursor.bytes()
        must(not common or (count and bytewise), "a common prefix of nothing")
        fences = []
        for _ in range(count):
            head = cursor.varint(KEY_MAX << 1 | 1)
            key = common + cursor.raw(head >> 1)
            must(len(key) <= KEY_MAX, "size of a fence")
            sequence = cursor.varint(SEQUENCE_MAX - 1) if head & 1 else SEQUENCE_MAX
            must(not fences or self.before(fences[-1], (key, sequence)), "fences out of order")
            fences.append((key, sequence))
        must(cursor.left() == 0, "bytes after the fences")
        if fences and bytewise:
            shared = common_prefix(min(fences)[0], max(fences)[0])
            must(shared == len(common), "the common prefix is not the longest")
        return fences

    def before(self, a, b):
        """Does (key, sequence) a come before b? The test's other comparator is the bytewise order backwards."""
        if a[0] == b[0]:
            return a[1] > b[1]
        return a[0] > b[0] if self.properties["comparator"] == b"backwards" else a[0] < b[0]

    def read_root(self):
        cursor = Cursor(self.section(1))
        pages = [tuple(cursor.varint() for _ in range(3)) for _ in range(cursor.varint())]
        must(bool(pages) == (self.properties["entry_count"] > 0), "no pages")
        fences = [None] + self.read_fences(cursor, max(len(pages) - 1, 0))
        self.pages = [(*page, fence) for page, fence in zip(pages, fences)]

    def read_groups(self):
        """Reads the blocks and pages of each group, and returns where the last group ends."""
        data_at, group = 0, []
        for number, (data_size, page_size, *rest) in enumerate(self.pages):
            group.append((number, data_at, data_size, page_size, *rest))
            data_at += data_size
            if sum(page[3] for page in group) >= self.properties["page_group_bytes"] or number + 1 == len(self.pages):
                for page in group:
                    data_at = self.read_page(data_at, *page)
                group = []
        return data_at

    def read_page(self, at, number, data_at, data_size, page_size, root_blocks, fence):
        page = self.data[at:at + page_size]
        fence_size, filter_size, base, blocks, groups, shards, flags, zero = struct.unpack_from("<IIQHHHBB", page)
        fences_end = 24 + fence_size
        self.check(FENCES, at, fences_end, u64(page, fences_end), "page")
        must(len(page) == fences_end + 8 + (filter_size + 8 if filter_size else 0), "size of the page")
        must((base, blocks) == (data_at, root_blocks) and 1 <= blocks <= 64, "page and root differ")
        must(flags <= 3 and zero == 0, "flags of the page")
        cursor = Cursor(page[24:fences_end])
        sizes = [cursor.varint() for _ in range(blocks)]
        must(sum(sizes) == data_size, "sizes of the blocks")
        heads = self.read_heads(cursor, blocks) if flags & 2 else [None] * blocks
        fences = [fence] + self.read_fences(cursor, blocks - 1)
        self.say(f"page {number} at {at}, {page_size} bytes: {blocks} blocks from {base}, {groups} groups, "
                 f"{shards} filters")
        filters = {}
        granularity = self.properties["filter_granularity"]
        if filter_size:
            self.filter_size += filter_size + 8
            start = fences_end + 8
            self.check(FILTERS, at + start, filter_size, u64(page, start + filter_size), "filters")
            must(groups == -(-blocks // granularity), "number of groups")
            filters = self.read_filters(page[start:start + filter_size], groups, shards, flags & 1)
        else:
            must(groups == shards == 0, "groups without filters")
        for ordinal, size in enumerate(sizes):
            group = ordinal // granularity
            self.read_block(data_at, size, fences[ordinal], heads[ordinal], filters.get(group, []))
            data_at += size
            if filters and (ordinal + 1 == blocks or (ordinal + 1) // granularity != group):
                rates = self.group_rates[group]
                self.block_rates += [(len(self.group_keys) / len(rates), rate) for rate in rates]
                self.group_keys = set()
        return at + page_size

    def read_heads(self, cursor, blocks):
        """(key, sequence, kind, size of the value) of each block that has a head; None for the others."""
        ends = [0] + [u32(cursor.raw(4), 0) for _ in range(blocks)]
        must(ends == sorted(ends) and ends[-1] > 0, "ends of heads")
        stored = cursor.raw(ends[-1])
        heads = [None] * blocks
        for ordinal, (begin, end) in enumerate(zip(ends, ends[1:])):
            if begin < end:
                head = Cursor(stored[begin:end])
                key, tag, size = head.bytes(), head.varint(SEQUENCE_MAX << 1 | 1), head.varint(VALUE_MAX)
                must(head.left() == 0, "bytes after a head")
                heads[ordinal] = (key, tag >> 1, tag & 1, size)
                self.heads += 1
        return heads

    def read_filters(self, area, groups, shards, has_counts):
        cursor = Cursor(area)
        counts = [u16(cursor.raw(2), 0) for _ in range(groups)] if has_counts else [1] * groups
        must(sum(counts) == shards, "number of filters")
        descriptors = [u16(cursor.raw(2), 0) for _ in range(shards)]
        filters = {}
        self.group_rates = {}
        for group, count in enumerate(counts):
            filters[group] = []
            self.group_rates[group] = []
            for _ in range(count):
                descriptor = descriptors.pop(0)
                payload = cursor.raw(self.payload_size(descriptor))
                self.group_rates[group].append(
                    predicted_rate(self.properties["filter_kind"], self.properties["filter_bits_per_probe"], descriptor, payload))
                shown = quoted(payload) if len(payload) > SHOWN_MAX else payload.hex()
                filters[group].append(f"  filter of group {group}: descriptor {descriptor:04x}, {len(payload)} bytes "
                                      f"{shown}")
        must(cursor.left() == 0, "bytes after the filters")
        return filters

    def payload_size(self, descriptor):
        kind, bits_per_probe = self.properties["filter_kind"], self.properties["filter_bits_per_probe"]
        if descriptor == 0:
            return 0
        if kind == 3:
            return 64 * descriptor
        if kind == 4:
            return descriptor
        must(kind == 2, "kind of filters")
        size, bits_per_probe = descriptor & 255, bits_per_probe + (descriptor >> 14 & 1)
        if descriptor >> 15:
            must(size >= 1, "size of a ribbon")
            return (size * bits_per_probe + 7) // 8
        must(size >= 8, "size of a ribbon")
        return size * bits_per_probe

    def read_block(self, at, size, fence, head, filters):
        stored = self.data[at:at + size]
        must(size > 13, "size of a block")
        self.check(BLOCK, at, size - 8, u64(stored, size - 8), "block")
        compression, raw_size = stored[size - 13], u32(stored, size - 12)
        payload = stored[:size - 13]
        must(raw_size <= RAW_MAX and raw_size <= 255 * len(payload) + 64, "raw size")
        if compression == 2:
            must(len(payload) <= raw_size - raw_size // 8, "LZ4 that saves too little")
            payload = lz4_block(payload, raw_size)
        must(compression in (1, 2) and len(payload) == raw_size, "raw size")
        self.say(f"block {self.blocks} at {at}, {size} bytes, {'lz4' if compression == 2 else 'stored raw'}, "
                 f"raw {raw_size}")
        self.blocks += 1
        if fence is not None:
            sequence = "" if fence[1] == SEQUENCE_MAX else f" @ {fence[1]}"
            self.say(f"  fence {quoted(fence[0])}{sequence}")
        if head is not None:
            self.say(f"  head {quoted(head[0])} @ {head[1]} {'put' if head[2] else 'delete'}, a value of {head[3]} bytes")
        self.lines.extend(filters)
        self.read_entries(payload, fence, head)

    def read_entries(self, payload, fence, head):
        tail = u32(payload, len(payload) - 4)
        count, wide = tail & 0x7FFFFFFF, tail >> 31
        width = 4 if wide else 2
        end = len(payload) - 4 - count * width
        must(count >= 1 and end > 0 and wide == (end > 65535), "restarts")
        restarts = [(u32 if wide else u16)(payload, end + width * i) for i in range(count)]
        self.say("  restarts at " + " ".join(map(str, restarts)))
        cursor = Cursor(payload[:end])
        key = None
        starts = []
        while cursor.left():
            start = cursor.at
            starts.append(start)
            shared, unshared, value_size = cursor.varint(KEY_MAX), cursor.varint(KEY_MAX), cursor.varint(VALUE_MAX)
            tag = cursor.varint(SEQUENCE_MAX << 1 | 1)
            suffix = cursor.raw(unshared)
            new = suffix if start in restarts else key[:shared] + suffix
            longest = 0 if start in restarts else common_prefix(key, new)
            must(shared == longest, "shared is not the longest prefix")
            key = new
            value = cursor.raw(value_size)
            must(head in (None, (key, tag >> 1, tag & 1, value_size)), "a head of another entry")
            self.take_entry(key, tag >> 1, tag & 1, value, fence if len(starts) == 1 else None)
            if len(starts) <= ENTRIES_MAX:
                self.say(f"  {start}: {quoted(key)} @ {tag >> 1} " + (f"put {quoted(value)}" if tag & 1 else "delete"))
        if len(starts) > ENTRIES_MAX:
            self.say(f"  and {len(starts) - ENTRIES_MAX} more")
        must(head is None or len(starts) == 1, "a head of a block with several entries")
        interval = self.properties["restart_interval"]
        must(restarts == starts[::interval], "restarts and entries")

    def take_entry(self, key, sequence, kind, value, fence):
        must(kind == 1 or not value, "a deletion with a value")
        must(len(key) <= KEY_MAX, "size of a key")
        entry = (key, sequence)
        if fence is not None:
            must(self.before(self.last, fence) and not self.before(entry, fence), "a fence in the wrong place")
        must(self.last is None or self.before(self.last, entry), "entries out of order")
        if self.last is None:
            self.first = key
        if self.last is None or self.last[0] != key:
            self.keys += 1
            self.distinct.append(key)
        self.group_keys.add(key)
        self.entries += 1
        self.tombstones += kind == 0
        if kind == 0:
            self.buried.append(sequence)
        self.key_bytes += len(key)
        self.value_bytes += len(value)
        self.sequences.append(sequence)
        self.last = entry

    def read_table_filter(self):
        places = [section for section in self.sections if section[0] == 3]
        must((self.properties["table_filter_rate"] == 1) == (not places), "a table_filter, or none")
        if not places:
            must(self.properties["table_filter_size"] == 0, "the size of no table filter")
            return
        at, size = places[0][2:4]
        must(size == self.properties["table_filter_size"], "size of the table filter")
        end = at + size
        list_size = u32(self.data, end - 12)
        start = end - 12 - list_size
        must(start >= at, "size of the list")
        self.check(CHUNKS, start, list_size + 4, u64(self.data, end - 8), "list of the table filter")
        cursor = Cursor(self.data[start:end - 12])
        shift = cursor.varint(10)
        parts = [(cursor.varint(), cursor.varint()) for _ in range(cursor.varint())]
        counts = [min(shards - first, 1 << shift) for _, shards in parts for first in range(0, shards, 1 << shift)]
        sizes = [cursor.varint() for _ in counts]
        fences = self.read_fences(cursor, len(parts) - 1)
        must(at + sum(sizes) == start, "sizes of the chunks")
        for number, (keys, shards) in enumerate(parts):
            fence = f", from {quoted(fences[number - 1][0])}" if number else ""
            must(not number or fences[number - 1][1] == SEQUENCE_MAX, "a part that begins within a key")
            self.say(f"part {number} of the table filter: {keys} keys, {shards} shards{fence}")
        self.shards = []
        for number, (count, size) in enumerate(zip(counts, sizes)):
            self.read_chunk(number, at, size, count)
            at += size
        rates = iter([predicted_rate(2, self.properties["table_filter_fingerprint_bits"], descriptor, payload)
                      for payload, descriptor in self.shards])
        self.table_filter_rates = [(keys / shards, next(rates)) for keys, shards in parts for _ in range(shards)]
        self.ask_table_filter(parts, [fence[0] for fence in fences])

    def read_chunk(self, number, at, size, count):
        chunk = self.data[at:at + size - 8]
        self.check(TABLE_FILTER, at, size - 8, u64(self.data, at + size - 8), "chunk")
        self.say(f"chunk {number} of the table filter: {size} bytes, {count} shards")
        fingerprint_bits = self.properties["table_filter_fingerprint_bits"]
        payloads = 8 * count
        end = 0
        for i in range(count):
            entry = u64(chunk, 8 * i)
            descriptor = entry & 0xFFFF
            must(entry >> 16 == end, "offset of a shard")
            shard_size = split_descriptor(descriptor, fingerprint_bits)[4] if descriptor else 0
            payload = chunk[payloads + end:payloads + end + shard_size]
            end += shard_size
            shown = quoted(payload) if shard_size > SHOWN_MAX else payload.hex()
            self.say(f"  shard {len(self.shards)}: descriptor {descriptor:04x}, {shard_size} bytes {shown}")
            self.shards.append((payload, descriptor))
        must(payloads + end == len(chunk), "size of a chunk")

    def ask_table_filter(self, parts, fences):
        domain = domain_of(TABLE_FILTER_DOMAIN, self.properties["filter_salt"])
        counted = [0] * len(parts)
        for place, key in enumerate(self.distinct):
            part = sum(not self.before((key, SEQUENCE_MAX), (fence, SEQUENCE_MAX)) for fence in fences)
            counted[part] += 1
            if place % (1 + len(self.distinct) // ASKED_MAX):
                continue
            x = hash_key(self.properties["hash_secret"], key) ^ domain
            shard = sum(shards for _, shards in parts[:part]) + ((x >> 32) * parts[part][1] >> 32)
            must(ask_ribbon(*self.shards[shard], self.properties["table_filter_fingerprint_bits"], x), f"the table_filter denies {quoted(key)}")
        must(counted == [keys for keys, _ in parts], "keys of the parts")

    def read_ranges(self):
        self.ranges = []
        if self.properties["range_tombstone_count"] == 0:
            must(all(section[0] != 4 for section in self.sections), "a section of no range tombstones")
            return
        cursor = Cursor(self.section(4))
        for i in range(cursor.varint()):
            size = cursor.varint(KEY_MAX + 1)
            must(size or i, "the first range begins where none ended")
            low = cursor.raw(size - 1) if size else self.ranges[-1][1]
            high = cursor.raw(cursor.varint(KEY_MAX))
            more = cursor.varint()
            sequences = [cursor.varint(SEQUENCE_MAX)]
            for _ in range(more):
                sequences.append(sequences[-1] - cursor.varint())
            must(sorted(set(sequences), reverse=True) == sequences and sequences[-1] >= 0, "sequences of a range")
            must(self.before((low, 0), (high, 0)), "a range that is empty")
            must(not i or not self.before((low, 0), (self.ranges[-1][1], 0)), "ranges that overlap")
            self.ranges.append((low, high, sequences))
            self.say(f"range {quoted(low)} to {quoted(high)} @ " + " ".join(map(str, sequences)))
        must(self.ranges and cursor.left() == 0, "bytes after the ranges")

    def bounds(self):
        """Smallest, largest, and whether that is exclusive."""
        if not self.ranges:
            return self.first, self.last[0], 0
        low, high = self.ranges[0][0], self.ranges[-1][1]
        if self.last is None:
            return low, high, 1
        is_after = self.before((self.last[0], 0), (high, 0))
        first = low if self.before((low, 0), (self.first, 0)) else self.first
        return first, high if is_after else self.last[0], int(is_after)

    def check_counts(self):
        p = self.properties
        smallest, largest, is_exclusive = self.bounds()
        self.sequences += [sequence for piece in self.ranges for sequence in piece[2]]
        counted = {
            "entry_count": self.entries, "key_count": self.keys, "tombstone_count": self.tombstones,
            "block_count": self.blocks, "page_count": len(self.pages), "key_bytes": self.key_bytes,
            "value_bytes": self.value_bytes, "data_size": sum(page[0] for page in self.pages),
            "index_size": sum(page[1] for page in self.pages), "filter_size": self.filter_size,
            "sequence_min": min(self.sequences), "sequence_max": max(self.sequences),
            "head_count": self.heads,
            "smallest": smallest, "largest": largest, "largest_is_exclusive": is_exclusive,
            "range_tombstone_count": sum(len(piece[2]) for piece in self.ranges),
        }
        for name, value in counted.items():
            must(p[name] == value, f"{name} is {p[name]}, counted {value}")
        buried = self.buried + [sequence for piece in self.ranges for sequence in piece[2]]
        must(p["tombstone_sequence_min"] in (0, min(buried, default=0)), "the oldest tombstone")

    def check_prediction(self, name, rates):
        weight = sum(weight for weight, _ in rates)
        mean = sum(weight * rate for weight, rate in rates) / weight if weight else 1
        must(self.properties[name] == 0 or abs(self.properties[name] - mean) <= 1e-9 * mean, f"{name}: {mean}")

    def say_end(self):
        self.lines.extend(self.property_lines)
        for number, flags, offset, size, _ in self.sections:
            self.say(f"section {number} at {offset}, {size} bytes, flags {flags}")
        self.say(f"directory at {self.directory_at}, {self.directory_size} bytes; version {self.version}; "
                 f"table id {self.id.hex()}")


def common_prefix(a, b):
    size = 0
    while size < len(a) and size < len(b) and a[size] == b[size]:
        size += 1
    return size


def predicted_rate(kind, bits_per_probe, descriptor, payload):
    if descriptor == 0:
        return 1
    if kind == 2:
        return 2.0 ** -split_descriptor(descriptor, bits_per_probe)[1]
    size = 64 if kind == 3 else len(payload)
    units = [payload[at:at + size] for at in range(0, len(payload), size)]
    fills = [bin(int.from_bytes(unit, "little")).count("1") / (8 * size) for unit in units]
    return sum(fill ** bits_per_probe for fill in fills) / len(fills)


def read_table(data):
    return Table(data).read()


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        sys.stdout.write(read_table(file.read()))
