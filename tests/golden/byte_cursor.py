"""Reads numbers and LZ4 blocks one byte after the other; for the reader of tables."""
import struct

MASK = (1 << 64) - 1


class Corrupt(Exception):
    pass


def must(condition, what):
    if not condition:
        raise Corrupt(what)


class Cursor:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def left(self):
        return len(self.data) - self.at

    def raw(self, size):
        must(size <= self.left(), "the bytes end too early")
        self.at += size
        return self.data[self.at - size:self.at]

    def varint(self, limit=MASK):
        value = shift = 0
        while True:
            byte = self.raw(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        must(byte != 0 or shift == 0, "a varint longer than needed")
        must(value <= limit, f"a number of {value}, the limit is {limit}")
        return value

    def bytes(self):
        return self.raw(self.varint())


def lz4_block(data, raw_size):
    """One LZ4 block: sequences of literals and matches; the last has literals only."""
    out = bytearray()
    cursor = Cursor(data)

    def length(nibble):
        total = nibble
        while nibble == 15:
            byte = cursor.raw(1)[0]
            total += byte
            if byte != 255:
                break
        return total

    while True:
        token = cursor.raw(1)[0]
        out += cursor.raw(length(token >> 4))
        if cursor.left() == 0:
            break
        offset = struct.unpack("<H", cursor.raw(2))[0]
        must(0 < offset <= len(out), "LZ4 refers to what is not there")
        for _ in range(length(token & 15) + 4):
            out.append(out[-offset])
        must(len(out) <= raw_size, "LZ4 gives too much")
    must(len(out) == raw_size, "LZ4 gives too little")
    return bytes(out)
