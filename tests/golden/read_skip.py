"""Reads files of skip indexes, from docs/format-skip.md alone."""
import math
import struct

import xxh3
from read_filter import ribbon_number, split_descriptor

M64 = (1 << 64) - 1
DATA, HEAD, GRANULES, DIRECTORY, FOOTER = 1, 2, 3, 4, 5
BYTES, I64, U64, F64, TIME = 1, 2, 3, 4, 5
KINDS = {1: "min_max", 2: "set", 3: "values", 4: "tokens", 5: "ngrams", 6: "column", 7: "text",
         8: "words", 9: "text of words"}


class Corrupt(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Corrupt(what)


def mix(x):
    for _ in range(2):
        x ^= x >> 32
        x = x * 0xd6e8feb86659fd93 & M64
    return x ^ x >> 32


class Cursor:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def raw(self, size):
        check(self.at + size <= len(self.data), "cut off")
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.raw(struct.calcsize(form)))[0]

    def varint(self):
        value, shift = 0, 0
        while True:
            byte = self.number("B")
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                check(byte != 0 or shift == 7, "a varint is longer than needed")
                return value

    def bytes(self):
        return self.raw(self.varint())

    def end(self):
        check(self.at == len(self.data), "bytes are left")


class Bits:
    def __init__(self, data):
        self.word = int.from_bytes(data, "little")
        self.size = 8 * len(data)
        self.at = 0

    def take(self, width):
        check(self.at + width <= self.size, "bits are missing")
        value = self.word >> self.at & (1 << width) - 1
        self.at += width
        return value

    def zeros(self):
        count = 0
        while self.take(1) == 0:
            count += 1
        return count

    def gamma(self):
        width = self.zeros()
        return 1 << width | self.take(width)

    def rice(self, k):
        high = self.zeros()
        return high << k | self.take(k)

    def bounded(self, m):
        if m == 1:
            return 0
        w = (m - 1).bit_length()
        t = (1 << w) - m
        value = self.take(w - 1)
        return value if value < t else (value << 1 | self.take(1)) - t

    def posting(self, count, low, end):
        if count == 0 or count == end - low:
            return list(range(low, low + count))
        m = count // 2
        x = low + m + self.bounded(end - low - count + 1)
        left = self.posting(m, low, x)
        return left + [x] + self.posting(count - m - 1, x + 1, end)


class Source:
    """What an index file of a file of lines keeps of it."""

    def __init__(self, data):
        cursor = Cursor(data)
        check(cursor.number("B") == 1, "form of a source")
        self.size, self.modified = cursor.varint(), cursor.number("q")
        self.indexed, self.granule_bytes = cursor.varint(), cursor.varint()
        self.ends = cursor.number("Q"), cursor.number("Q")
        self.schema = cursor.bytes()
        cursor.end()

    def is_of(self, data):
        """Whether the indexed bytes of a file are these."""
        count = min(self.indexed, 16384)
        return self.ends == (xxh3.xxh3_64(data[:count]), xxh3.xxh3_64(data[self.indexed - count:self.indexed]))


class Inverted:
    """A segment of values, tokens or ngrams."""

    def __init__(self, file, head, granules, form):
        has_ribbons = form in (6, 8)
        self.file, self.granules = file, granules
        self.offset = head.varint()
        flags = head.number("B")
        check(flags <= 1, "flags")
        bits = head.raw((granules + 7) // 8) if flags else b""
        self.unindexed = [g for g in range(granules) if flags and bits[g // 8] >> g % 8 & 1]
        self.factor = head.varint() if form in (7, 8) else 1
        check(self.factor % 2 == 1 and self.factor < 1 << 40, "factor")
        self.q, self.c, self.k = head.number("B"), head.number("B"), head.number("B")
        self.a, self.pairs, self.frequent, self.addressed = (head.varint() for _ in range(4))
        self.b, self.fingerprint_bits, self.t, self.long = min(self.q, 4), 0, 0, 0
        if has_ribbons:
            self.b, self.fingerprint_bits, self.t, self.long = *(head.number("B") for _ in range(3)), head.varint()
            check(self.b <= min(self.q, 4) and 1 <= self.fingerprint_bits <= 24 and self.t <= 10, "fields of ribbons")
        self.ends = [head.number("I") for _ in range(1 << self.q - self.b)]

    def rate(self):
        ribbons = (1 - self.long / (2 * len(self.ends))) / 2 ** self.fingerprint_bits if self.fingerprint_bits else 0
        return self.addressed / ((1 << self.q) * self.a * self.granules) + ribbons

    def chunk(self, chunk):
        """The bits of each bucket; the descriptor of the ribbon, and the ribbon."""
        begin = self.ends[chunk - 1] if chunk else 0
        data = self.file.unit(DATA, self.offset + begin, self.ends[chunk] - begin)
        descriptor = 0
        if self.fingerprint_bits:
            descriptor, data = struct.unpack_from("<H", data)[0], data[2:]
        count = 1 << self.b
        ends = (0,) + struct.unpack_from(f"<{count}H", data)
        data = data[2 * count:]
        ribbon = data[ends[-1]:]
        check(len(ribbon) == (split_descriptor(descriptor, self.fingerprint_bits)[4] if descriptor else 0), "size of a ribbon")
        return [data[begin:end] for begin, end in zip(ends, ends[1:])], descriptor, ribbon

    def bucket(self, number):
        return Bits(self.chunk(number >> self.b)[0][number & (1 << self.b) - 1])

    def in_ribbon(self, h):
        _, descriptor, ribbon = self.chunk(h >> 40 - self.q + self.b)
        if descriptor == 0:
            return []
        places, found = -(-self.granules >> self.t), []
        codes = 1 << self.fingerprint_bits + (descriptor >> 14 & 1)
        for stripe in range(min(1 << self.t, self.granules)):
            number = ribbon_number(ribbon, descriptor, self.fingerprint_bits, mix(stripe << 40 | h))
            found += [place << self.t | stripe for place in range(places)
                      if number == (place if codes >= places else place * codes // places)]
        return [granule for granule in found if granule < self.granules]

    def numbers(self, bits, count):
        if self.k == 255:
            return bits.posting(count, 0, self.a * self.granules)
        numbers, number = [], -1
        for _ in range(count):
            number += 1 + bits.rice(self.k)
            numbers.append(number)
        return numbers

    def content(self, number):
        """Postings by the rest of h, and by address."""
        bits = self.bucket(number)
        width = 40 - self.q
        listed = [(bits.take(width), 1 + bits.bounded(self.granules)) for _ in range(bits.gamma() - 1)]
        rows = {}
        for number in self.numbers(bits, bits.rice(self.c)):
            rows.setdefault(number // self.granules, []).append(number % self.granules)
        return {rest: bits.posting(count, 0, self.granules) for rest, count in listed}, rows

    def ask(self, member):
        h = (self.file.member_hash(member) >> 24) * self.factor % (1 << 40)
        width = 40 - self.q
        rest = h & (1 << width) - 1
        frequent, rows = self.content(h >> width)
        found = frequent.get(rest)
        if found is None:
            found = rows.get(rest * self.a >> width, []) + self.in_ribbon(h)
        return sorted(set(found) | set(self.unindexed))


class Dictionary:
    """A segment of text: each token with its granules, and with counts the records of each."""

    def __init__(self, file, head, granules, has_counts):
        self.granules, self.has_counts = granules, has_counts
        offset = head.varint()
        flags = head.number("B")
        check(flags <= 1, "flags")
        bits = head.raw((granules + 7) // 8) if flags else b""
        self.unindexed = [g for g in range(granules) if flags and bits[g // 8] >> g % 8 & 1]
        self.token_count, self.pairs = head.varint(), head.varint()
        self.tokens, self.fences = [], []
        for _ in range(head.varint()):
            size, fence = head.varint(), head.bytes()
            self.fences.append(fence)
            block = self.block(file.unit(DATA, offset, size))
            check(fence <= block[0][0] and (not self.tokens or self.tokens[-1][0] < fence), "fence")
            self.tokens += block
            offset += size
        names = [token for token, _, _ in self.tokens]
        check(names == sorted(set(names)) and len(names) == self.token_count, "tokens")
        check(sum(len(where) for _, where, _ in self.tokens) == self.pairs, "pairs")

    def block(self, data):
        count, size, bits_size = struct.unpack_from("<HHH", data)
        cursor, tokens, last = Cursor(data[6:6 + size]), [], b""
        for _ in range(count):
            halves = cursor.number("B")
            shared, rest = halves & 15, halves >> 4
            shared += cursor.number("B") if shared == 15 else 0
            rest += cursor.number("B") if rest == 15 else 0
            check(shared <= len(last), "shared bytes")
            last = last[:shared] + cursor.raw(rest + 1)
            tokens.append(last)
        cursor.end()
        bits, frequent = Bits(data[6 + size:6 + size + bits_size]), Cursor(data[6 + size + bits_size:])
        found = []
        for token in tokens:
            granules = bits.gamma()
            source = bits if granules <= 8 else Bits(frequent.raw(bits.gamma() - 1))
            found.append((token, *self.list(source, granules)))
        frequent.end()
        return found

    def list(self, bits, count):
        where = bits.posting(count, 0, self.granules)
        if not self.has_counts:
            return where, None
        k = bits.gamma() - 1
        return where, [1 + (bits.rice(k - 1) if k else 0) for _ in where]


def bounds(cursor, kind):
    flags = cursor.number("B")
    check(flags <= 3, "flags of bounds")
    if not flags & 1:
        return flags >> 1, None, None
    if kind != BYTES:
        form = {I64: "q", TIME: "q", U64: "Q", F64: "d"}[kind]
        return flags >> 1, cursor.number(form), cursor.number(form)
    low = cursor.raw(cursor.number("B"))
    size = cursor.number("B")
    return flags >> 1, low, None if size == 255 else cursor.raw(size)


def value(cursor, kind):
    if kind == BYTES:
        return cursor.bytes()
    return cursor.number({I64: "q", TIME: "q", U64: "Q", F64: "d"}[kind])


def column_granule(data, kind):
    """None, or the records' values; a state for those without one."""
    if not data:
        return None
    cursor = Cursor(data)
    records = cursor.varint()
    parts = [cursor.varint() for _ in range(cursor.varint())]
    check(not parts or sum(parts) == records, "parts of a granule")
    states = [0] * records
    if cursor.number("B"):
        packed = cursor.raw((records + 3) // 4)
        states = [packed[i // 4] >> i % 4 * 2 & 3 for i in range(records)]
    values = []
    for i in range(cursor.varint()):
        if kind == BYTES:
            shared = cursor.varint()
            values.append((values[-1][:shared] if shared else b"") + cursor.bytes())
        elif kind == F64:
            values.append(cursor.number("d"))
        elif i == 0:
            first = cursor.varint()
            values.append(first if kind == U64 else first >> 1 ^ -(first & 1))
        else:
            values.append(values[-1] + cursor.varint())
    bits = Bits(data[cursor.at:])
    width = max(len(values) - 1, 0).bit_length()
    numbers = [bits.take(width) for _ in range(records)]
    return [("", "null", "missing", "malformed")[state] if state else values[number]
            for state, number in zip(states, numbers)]


class Index:
    def __init__(self, file, fields):
        self.file = file
        self.kind = fields.number("B")
        check(self.kind in KINDS, "kind")
        self.attribute, self.target, self.values, self.n, flags = (
            fields.varint(), fields.number("d"), fields.varint(), fields.varint(), fields.number("B"))
        check(flags <= 3, "flags of an index")
        self.folds, self.counts = flags & 1, flags >> 1
        head_offset, head_size = fields.varint(), fields.varint()
        self.segment_count, self.not_indexed, self.pairs, self.data_bytes = (fields.varint() for _ in range(4))
        self.predicted = fields.number("d")
        self.words = fields.bytes().decode("ascii") if self.kind in (8, 9) else None
        fields.end()
        self.type = file.attributes[self.attribute][2]
        head = Cursor(file.unit(HEAD, head_offset, head_size))
        self.segments = [self.segment(head) for _ in range(self.segment_count)]
        head.end()
        check(sum(granules for granules, _, _ in self.segments) == file.granules, "segments do not cover the granules")

    def segment(self, head):
        granules, form = head.number("H"), head.number("B")
        if form == 0:
            return granules, form, None
        if form in (1, 6, 7, 8):
            return granules, form, Inverted(self.file, head, granules, form)
        if form == 2:
            total = bounds(head, self.type)
            unit = Cursor(self.file.unit(DATA, head.varint(), head.varint()))
            each = [bounds(unit, self.type) for _ in range(granules)]
            unit.end()
            return granules, form, (total, each)
        if form == 4:
            chunks = [(head.varint(), head.varint(), head.varint()) for _ in range(head.varint())]
            return granules, form, [granule for chunk in chunks for granule in self.column_chunk(*chunk)]
        if form == 5:
            return granules, form, Dictionary(self.file, head, granules, self.counts)
        check(form == 3, "form")
        unit = Cursor(self.file.unit(DATA, head.varint(), head.varint()))
        values = [value(unit, self.type) for _ in range(unit.varint())]
        bits = Bits(unit.data[unit.at:])
        return granules, form, [(v, bits.posting(bits.gamma(), 0, granules)) for v in values]

    def column_chunk(self, granules, offset, size):
        data = self.file.unit(DATA, offset, size)
        ends = (0,) + struct.unpack_from(f"<{granules}I", data)
        body = data[4 * granules:]
        check(ends[-1] == len(body), "bytes of a column are left")
        return [column_granule(body[begin:end], self.type) for begin, end in zip(ends, ends[1:])]


class SkipFile:
    def __init__(self, data):
        self.data = data
        check(len(data) >= 64 and data[-8:] == b"\x89BBI\r\n\x1a\n", "magic")
        footer = len(data) - 64
        directory, size, version = struct.unpack_from("<QQI", data, footer)
        check(version in (1, 2, 3), "version")
        self.id = data[footer + 20:footer + 36]
        self.id_low, self.id_high = struct.unpack("<QQ", self.id)
        self.unit(FOOTER, footer, 56)
        cursor = Cursor(self.unit(DIRECTORY, directory, size))
        self.granules, self.records = cursor.varint(), cursor.varint()
        self.secret = cursor.raw(192)
        table = cursor.varint(), cursor.varint()
        self.attributes = [(cursor.bytes(), cursor.bytes(), cursor.number("B")) for _ in range(cursor.varint())]
        fields = [cursor.bytes() for _ in range(cursor.varint())]
        self.source = Source(cursor.bytes()) if cursor.at < len(cursor.data) else None
        cursor.end()
        self.read_table(Cursor(self.unit(GRANULES, *table)))
        self.indexes = [Index(self, Cursor(content)) for content in fields]

    def unit(self, kind, offset, size):
        check(8 <= size and offset + size <= len(self.data), "place of a unit")
        body = self.data[offset:offset + size - 8]
        place = mix(self.id_low ^ mix(self.id_high ^ mix(kind << 56 | offset)))
        stored = struct.unpack_from("<Q", self.data, offset + size - 8)[0]
        check(stored == mix(place ^ xxh3.xxh3_64(body)), f"checksum at {offset}")
        return body

    def read_table(self, cursor):
        self.places, place = [], 0
        for _ in range(self.granules):
            place += cursor.varint()
            self.places.append(place)
        self.rows = [cursor.varint() for _ in range(self.granules)]
        self.states = []
        for _ in range(3 * len(self.attributes)):
            used = cursor.number("B")
            self.states.append([cursor.varint() if used else 0 for _ in range(self.granules)])
        cursor.end()
        check(sum(self.rows) == self.records, "records")

    def member_hash(self, member):
        if len(member) > 16:
            default, xxh3.SECRET = xxh3.SECRET, self.secret
            try:
                return xxh3.xxh3_64(member)
            finally:
                xxh3.SECRET = default
        low, high = struct.unpack("<QQ", member.ljust(16, b"\0"))
        s0, s1 = struct.unpack_from("<QQ", self.secret)
        product = (low ^ s0) * (high ^ s1 ^ (len(member) * 0x9e3779b97f4a7c15 & M64))
        return mix(product >> 64 ^ product & M64)

    def describe(self):
        lines = [f"id {self.id.hex()}", f"granules {self.granules} records {self.records}"]
        for i, (name, definition, kind) in enumerate(self.attributes):
            states = " ".join(str(sum(self.states[3 * i + state])) for state in range(3))
            lines.append(f"attribute {name.decode()} type {kind}: {definition.decode()}; null, missing, malformed {states}")
        for index in self.indexes:
            lines.append(f"index {KINDS[index.kind]} of {index.attribute} rate {index.target:g} values {index.values} "
                         f"n {index.n} folds {index.folds}{' counts' if index.counts else ''}: segments {index.segment_count} unindexed {index.not_indexed} "
                         f"pairs {index.pairs} bytes {index.data_bytes} predicted {index.predicted:.6f}")
            for granules, form, content in index.segments:
                lines += [f"  {line}" for line in describe_segment(granules, form, content)]
        return "".join(line + "\n" for line in lines)


def text(item):
    if isinstance(item, bytes):
        return ascii(item.decode("latin-1"))
    if isinstance(item, float) and math.isnan(item):
        return "nan"
    return str(item)


def describe_segment(granules, form, content):
    if form == 0:
        return [f"{granules} granules, not indexed"]
    if form in (1, 6, 7, 8):
        lines = [f"{granules} granules, factor {content.factor:010x} q {content.q} c {content.c} k {content.k} a {content.a} pairs {content.pairs} "
                 f"frequent {content.frequent} addressed {content.addressed}, rate {content.rate():.6f}"]
        if form in (6, 8):
            lines.append(f"  ribbons: b {content.b} fingerprint bits {content.fingerprint_bits} t {content.t} long {content.long}")
            lines += [f"    {descriptor:04x} {ribbon.hex()}" for _, descriptor, ribbon in map(content.chunk, range(len(content.ends)))]
        for number in range(1 << content.q):
            frequent, rows = content.content(number)
            lines += [f"  {number}.{rest:010x}: {granules}" for rest, granules in frequent.items()]
            lines += [f"  {number}/{address}: {granules}" for address, granules in rows.items()]
        return lines
    if form == 5:
        return [f"{granules} granules, {content.token_count} tokens, pairs {content.pairs}, unindexed {content.unindexed}, "
                f"fences {', '.join(text(fence) for fence in content.fences)}"] + \
            [f"  {text(token)}: {where}" + ("" if counts is None else f" of {counts}") for token, where, counts in content.tokens]
    if form == 2:
        total, each = content
        return [f"{granules} granules, {' '.join(text(part) for part in total)}"] + \
            ["  " + " ".join(text(part) for part in one) for one in each]
    if form == 4:
        return [f"{granules} granules of records"] + \
            ["  " + ("not stored" if one is None else ", ".join(text(item) for item in one)) for one in content]
    return [f"{granules} granules, {len(content)} values"] + [f"  {text(item)}: {where}" for item, where in content]
