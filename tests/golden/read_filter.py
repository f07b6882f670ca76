"""Reads filter envelopes and asks them, from docs/filters.md alone."""
import struct

import xxh3

MASK = (1 << 64) - 1
NONE, RIBBON, BLOCKED_BLOOM, BLOOM, SPLIT_BLOCK, COUNTING, SCALABLE, PARTITIONED, COUNT_MIN = range(1, 10)
BLOCK, ENVELOPE = 0x243F6A8885A308D3, 0xA4093822299F31D0


class Corrupt(Exception):
    pass


def check(holds, what):
    if not holds:
        raise Corrupt(what)


def mix(x):
    for _ in range(2):
        x ^= x >> 32
        x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


def domain_of(purpose, salt):
    return mix(mix(salt) ^ purpose)


def parity(number):
    return bin(number).count("1") & 1


def equation(x, descriptor, count, overhang):
    tweaked = x ^ descriptor * 0xA0761D6478BD642F & MASK
    drawn = ((tweaked * 0x9E3779B97F4A7C15 & MASK) >> 32) * (count + 2 * overhang)
    start = min(max((drawn >> 32) - overhang, 0), count - 1)
    product = tweaked * 0xE7037ED1A0B428DB
    return start, drawn >> 7, (product >> 64 ^ product) & MASK | 1


def grouped_row(payload, row, fingerprint_bits):
    return sum((payload[row // 8 * fingerprint_bits + j] >> row % 8 & 1) << j for j in range(fingerprint_bits))


def exact_row(payload, row, fingerprint_bits, slots):
    columns = int.from_bytes(payload, "little")
    return sum((columns >> j * slots + row & 1) << j for j in range(fingerprint_bits))


def split_descriptor(descriptor, fingerprint_bits):
    """Layout, fingerprint bits, seed, size in groups or slots, size in bytes."""
    exact, size = descriptor >> 15, descriptor & 255
    fingerprint_bits += descriptor >> 14 & 1
    check(size >= (1 if exact else 8), f"descriptor {descriptor:04x}")
    return exact, fingerprint_bits, descriptor >> 8 & 63, size, (size * fingerprint_bits + 7) // 8 if exact else size * fingerprint_bits


def ribbon_number(payload, descriptor, table_bits, x):
    """What the rows of x add up to, and its fingerprint: 0 for the keys of a filter."""
    exact, fingerprint_bits, _, size, _ = split_descriptor(descriptor, table_bits)
    total = 0
    if exact:
        width = min(size, 57)
        start, fingerprint, coefficients = equation(x, descriptor, size - width + 1, 20)
        for i in range(width):
            if coefficients >> i & 1:
                total ^= exact_row(payload, start + i, fingerprint_bits, size)
    else:
        start, fingerprint, coefficients = equation(x, descriptor, size - 7, 3)
        for i in range(64):
            if coefficients >> i & 1:
                total ^= grouped_row(payload, 8 * start + i, fingerprint_bits)
    return (total ^ fingerprint) & (1 << fingerprint_bits) - 1


def ask_ribbon(payload, descriptor, table_bits, x):
    return descriptor == 0 or ribbon_number(payload, descriptor, table_bits, x) == 0


def ask_blocked_bloom(payload, lines, probes, x):
    line = ((x >> 32) * lines >> 32) * 64
    product = x
    for i in range(probes):
        if i % 6 == 0:
            product = product * 0xAF251AF3B0F025B5 & MASK
        p = product >> 55 - 9 * (i % 6) & 511
        if not payload[line + p // 8] >> p % 8 & 1:
            return False
    return True


def ask_bloom(payload, bits, probes, h):
    for _ in range(probes):
        h = h * 0xD1342543DE82EF95 & MASK
        b = h * bits >> 64
        if not payload[b // 8] >> b % 8 & 1:
            return False
    return True


def ask_counting(payload, counters, probes, h):
    for _ in range(probes):
        h = h * 0xD1342543DE82EF95 & MASK
        c = h * counters >> 64
        if not payload[c // 2] >> c % 2 * 4 & 15:
            return False
    return True


def ask_partitioned(payload, width, probes, h):
    for i in range(probes):
        h = h * 0xD1342543DE82EF95 & MASK
        b = i * width + (h * width >> 64)
        if not payload[b // 8] >> b % 8 & 1:
            return False
    return True


SPLIT_BLOCK_SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)


def ask_split_block(payload, blocks, key_hash):
    block = (key_hash >> 32) * blocks >> 32
    for i, salt in enumerate(SPLIT_BLOCK_SALTS):
        word = struct.unpack_from("<I", payload, block * 32 + i * 4)[0]
        if not word >> ((key_hash & 0xFFFFFFFF) * salt % 2**32 >> 27) & 1:
            return False
    return True


class Envelope:
    def __init__(self, data):
        check(len(data) >= 72 and data[:8] == b"BBFILTER", "magic")
        (self.version, self.kind, header, size, self.salt, self.keys, self.rate, *self.parameters) = struct.unpack_from(
            "<IHHQQQdQQ", data, 8)
        check((self.version, header, size) == (1, 64, len(data)), "version or sizes")
        self.checksum = struct.unpack_from("<Q", data, size - 8)[0]
        check(xxh3.xxh3_64(data[:-8]) == self.checksum, "checksum")
        self.payload = data[64:-8]
        self.shards = []
        if self.kind == RIBBON and self.keys > 0:
            self.read_directory()
        if self.kind == SCALABLE:
            self.read_stages()
        if self.kind == COUNT_MIN:
            self.read_sketch()
        if self.kind == COUNTING:
            check((self.parameters[0] + 1) // 2 == len(self.payload), "number of counters")
            sums = sum((byte & 15) + (byte >> 4) for byte in self.payload)
            full = any(15 in (byte & 15, byte >> 4) for byte in self.payload)
            check(full or sums == self.keys * self.parameters[1], "sum of the counters")
        if self.kind == SPLIT_BLOCK and self.keys > 0:
            check(self.salt == 0 and self.parameters == [len(self.payload) // 32, 8], "split-block")
        self.domain = domain_of(ENVELOPE, self.salt)

    def read_directory(self):
        count, fingerprint_bits = self.parameters
        check(count == (1 if self.keys <= 2000 else (self.keys + 500) // 1000), "number of shards")
        data = count * 8
        end = 0
        for i in range(count):
            entry = struct.unpack_from("<Q", self.payload, i * 8)[0]
            descriptor, offset = entry & 0xFFFF, entry >> 16
            check(offset == end, "offset of a shard")
            size = split_descriptor(descriptor, fingerprint_bits)[4] if descriptor else 0
            payload = self.payload[data + end:data + end + size]
            if descriptor >> 15:
                _, shard_bits, _, slots, _ = split_descriptor(descriptor, fingerprint_bits)
                check(int.from_bytes(payload, "little") >> slots * shard_bits == 0, "bits after the last slot")
            self.shards.append((descriptor, offset, payload))
            end += size
        check(data + end == len(self.payload), "size of the shards")

    def read_stages(self):
        check(self.parameters[0] >= 16 and self.parameters[1] == 2 and len(self.payload) >= 16, "scalable")
        count, self.ratio = struct.unpack_from("<Qd", self.payload)
        check(1 <= count <= 32 and 0.1 <= self.ratio <= 0.95, "stages")
        self.stages, end = [], 16 + count * 24
        for i in range(count):
            keys, bits, probes = struct.unpack_from("<QQQ", self.payload, 16 + i * 24)
            size = (bits + 7) // 8
            check(1 <= bits and end + size <= len(self.payload) and 1 <= probes <= 30, "stage")
            self.stages.append((keys, bits, probes, self.payload[end:end + size]))
            end += size
        check(end == len(self.payload) and sum(stage[0] for stage in self.stages) == self.keys, "end of the stages")

    def read_sketch(self):
        columns, rows = self.parameters
        self.total, self.error, self.flags, self.top_capacity, count, self.reserved = struct.unpack_from("<QdIIII", self.payload)
        check(columns * self.error >= 2.71828 and rows >= 1 and self.flags <= 1 and count <= self.top_capacity <= 1024, "sketch")
        self.cells = [struct.unpack_from(f"<{columns}I", self.payload, 32 + row * columns * 4) for row in range(rows)]
        check(all(sum(row) <= self.total and (self.flags or sum(row) == self.total) for row in self.cells), "row sums")
        self.top, at = [], 32 + columns * rows * 4
        for _ in range(count):
            key_hash, key_count, size = struct.unpack_from("<QQI", self.payload, at)
            self.top.append((key_hash, key_count, self.payload[at + 20:at + 20 + size]))
            at += 20 + size
        check(at == len(self.payload), "end of the top keys")

    def count(self, h):
        counts = []
        for row in self.cells:
            h = h * 0xD1342543DE82EF95 & MASK
            counts.append(row[h * self.parameters[0] >> 64])
        return min(counts)

    def may_contain(self, key_hash):
        first, second = self.parameters
        h = mix(key_hash ^ self.domain)
        if self.kind == NONE or (self.keys == 0 and self.kind not in (COUNTING, SCALABLE, COUNT_MIN)):
            return self.kind == NONE
        if self.kind == BLOCKED_BLOOM:
            return ask_blocked_bloom(self.payload, first, second, h)
        if self.kind == SPLIT_BLOCK:
            return ask_split_block(self.payload, first, key_hash)
        if self.kind == COUNT_MIN:
            return self.count(h) > 0
        if self.kind == SCALABLE:
            return any(ask_bloom(bits, size, probes, mix(h ^ i)) for i, (_, size, probes, bits) in enumerate(self.stages))
        if self.kind == COUNTING:
            return ask_counting(self.payload, first, second, h)
        if self.kind == PARTITIONED:
            return ask_partitioned(self.payload, first // second, second, h)
        if self.kind == BLOOM:
            return ask_bloom(self.payload, first, second, h)
        x = key_hash ^ self.domain
        descriptor, _, payload = self.shards[(x >> 32) * first >> 32]
        return ask_ribbon(payload, descriptor, second, x)


def split_mix(seed, count):
    numbers = []
    for i in range(1, count + 1):
        z = seed + i * 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        numbers.append(z ^ z >> 31)
    return numbers


SECRET_OF_SEED_1 = struct.pack("<24Q", *split_mix(1, 24))


def key_hash(i):
    """The hash of a golden's key number i: XXH3 with a secret instead of its own."""
    default, xxh3.SECRET = xxh3.SECRET, SECRET_OF_SEED_1
    try:
        return xxh3.xxh3_64(b"key-%04d" % i)
    finally:
        xxh3.SECRET = default


class Text:
    """Field by field: offset, width, name, value."""

    def __init__(self):
        self.offset, self.lines = 0, []

    def add(self, width, name, value):
        self.lines.append(f"{self.offset:6} {width:5}  {name:<23}{value}".rstrip())
        self.offset += width

    def add_bytes(self, name, data):
        self.add(len(data), name, "")
        rows = [data[i:i + 32] for i in range(0, len(data), 32)]
        self.lines += ["               " + row.hex(" ") for row in rows]


def describe_sketch(envelope, text):
    text.add(8, "total", envelope.total)
    text.add(8, "error", "%.17g" % envelope.error)
    text.add(4, "flags", envelope.flags)
    text.add(4, "space for top keys", envelope.top_capacity)
    text.add(4, "top keys", len(envelope.top))
    text.add(4, "reserved", envelope.reserved)
    for row in envelope.cells:
        text.add_bytes("cells of a row", struct.pack(f"<{len(row)}I", *row))
    for key_hash, count, key in envelope.top:
        check(1 <= count <= envelope.count(mix(key_hash ^ envelope.domain)), "count of a top key")
        text.add(8, "hash of a top key", f"0x{key_hash:016x}")
        text.add(8, "count", count)
        text.add(4, "key size", len(key))
        text.add(len(key), "key", key.decode("ascii"))


def describe(data, members):
    envelope, text = Envelope(data), Text()
    text.add(8, "magic", data[:8].decode("ascii"))
    text.add(4, "version", envelope.version)
    text.add(2, "kind", envelope.kind)
    text.add(2, "header size", 64)
    text.add(8, "envelope size", len(data))
    text.add(8, "salt", f"0x{envelope.salt:016x}")
    text.add(8, "key count", envelope.keys)
    text.add(8, "target rate", "%.17g" % envelope.rate)
    text.add(8, "parameter 0", envelope.parameters[0])
    text.add(8, "parameter 1", envelope.parameters[1])
    if envelope.shards:
        for descriptor, offset, _ in envelope.shards:
            exact, bits, seed, size, _ = split_descriptor(descriptor, envelope.parameters[1])
            layout, unit = ("bit-exact", "slots") if exact else ("byte-grouped", "groups")
            text.add(2, "descriptor", f"0x{descriptor:04x}: {layout}, {bits} fingerprint bits, seed {seed}, {size} {unit}")
            text.add(6, "offset", offset)
        for _, _, payload in envelope.shards:
            text.add_bytes("payload of a shard", payload)
    elif envelope.kind == BLOCKED_BLOOM:
        for i in range(0, len(envelope.payload), 64):
            text.add_bytes("line", envelope.payload[i:i + 64])
    elif envelope.kind == SPLIT_BLOCK:
        for i in range(0, len(envelope.payload), 32):
            text.add_bytes("block", envelope.payload[i:i + 32])
    elif envelope.kind == COUNT_MIN:
        describe_sketch(envelope, text)
    elif envelope.kind == SCALABLE:
        text.add(8, "stages", len(envelope.stages))
        text.add(8, "tightening ratio", "%.17g" % envelope.ratio)
        for keys, bits, probes, _ in envelope.stages:
            text.add(8, "keys of a stage", keys)
            text.add(8, "bits of a stage", bits)
            text.add(8, "probes of a stage", probes)
        for stage in envelope.stages:
            text.add_bytes("bits", stage[3])
    elif envelope.kind == COUNTING:
        text.add_bytes("counters", envelope.payload)
    elif envelope.kind in (BLOOM, PARTITIONED):
        text.add_bytes("bits", envelope.payload)
    text.add(8, "checksum", f"0x{envelope.checksum:016x}")
    check(all(envelope.may_contain(key_hash(i)) for i in range(members)) or envelope.keys == 0, "a member is denied")
    passing = [i for i in range(10000, 12000) if envelope.may_contain(key_hash(i))]
    text.lines.append(f"members: {members}, key-0000 and so on, secret of seed 1")
    text.lines.append(" ".join(["non-member keys that pass, from key-10000 on:", *map(str, passing[:8])]))
    return "\n".join(text.lines) + "\n"
