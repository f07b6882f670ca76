"""Reads the files of filters, from docs/format-filter-file.md alone."""
import struct

import xxh3
from read_filter import Envelope, check

HEADER, KEYED = 256, 1


class FilterFile:
    def __init__(self, data):
        check(len(data) >= HEADER + 72 and data[:8] == b"BBFLFILE", "magic")
        self.version, self.hash, header, self.size = struct.unpack_from("<IHHQ", data, 8)
        check((self.version, header, self.size) == (0, HEADER, len(data)), "version or sizes")
        self.secret = data[24:216]
        self.seal, self.planned, self.checksum = struct.unpack_from("<QQ16xQ", data, 216)
        check(xxh3.xxh3_64(data[:248]) == self.checksum, "checksum of the header")
        check(self.hash == KEYED, "hash")
        check(self.planned <= 1 << 32, "planned keys")
        check(data[232:248] == bytes(16), "reserved bytes")
        check(data[-8:] == struct.pack("<Q", self.seal), "seal")
        self.envelope = Envelope(data[HEADER:])

    def key_hash(self, key):
        """XXH3 with the file's secret instead of its own."""
        default, xxh3.SECRET = xxh3.SECRET, self.secret
        try:
            return xxh3.xxh3_64(key)
        finally:
            xxh3.SECRET = default

    def may_contain(self, key):
        return self.envelope.may_contain(self.key_hash(key))
