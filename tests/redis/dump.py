"""The payload of DUMP, and damaged ones with a valid checksum: a version and a CRC-64 end it."""
import struct

POLYNOMIAL = 0x95AC9329AC4BC9B5  # CRC-64/Redis, reflected


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def crc64(data):
    crc = 0
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc


def body(payload):
    """The serialized value without the checksum; ends in two bytes of version."""
    return payload[:-8]


def sealed(data):
    """The value with a checksum that fits."""
    return data + struct.pack("<Q", crc64(data))


def damaged(payload, rng, count):
    """Payloads with a flipped bit, a cut, or another byte, and a valid checksum."""
    data = body(payload)
    assert sealed(data) == payload
    for _ in range(count):
        at = rng.randrange(len(data) - 2)
        kind = rng.randrange(4)
        if kind == 0:
            cut = rng.randrange(len(data) - 2)
            yield sealed(data[:cut] + data[-2:])
        else:
            byte = data[at] ^ 1 << rng.randrange(8) if kind < 3 else rng.randrange(256)
            yield sealed(data[:at] + bytes([byte]) + data[at + 1:])
