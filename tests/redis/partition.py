"""Where a field of a collection is: the rule of docs/redis.md, "Partitions", written from it."""
import binascii

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)


def rotate(x, count):
    return (x << count | x >> (64 - count)) & MASK


def mix_lane(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """XXH64 with seed 0."""
    words = len(data) // 32 * 32
    if words:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        for at in range(0, words, 8):
            lanes[at // 8 % 4] = mix_lane(lanes[at // 8 % 4], int.from_bytes(data[at:at + 8], "little"))
        result = sum(rotate(lane, turn) for lane, turn in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            result = ((result ^ mix_lane(0, lane)) * P1 + P4) & MASK
    else:
        result = P5
    result = (result + len(data)) & MASK
    at = words
    while at + 8 <= len(data):
        result ^= mix_lane(0, int.from_bytes(data[at:at + 8], "little"))
        result = (rotate(result, 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= len(data):
        result ^= int.from_bytes(data[at:at + 4], "little") * P1 & MASK
        result = (rotate(result, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        result = rotate(result ^ byte * P5 & MASK, 11) * P1 & MASK
    result = (result ^ result >> 33) * P2 & MASK
    result = (result ^ result >> 29) * P3 & MASK
    return result ^ result >> 32


def partition_of(field, count):
    return xxh64(field) % count


def slot_of(key):
    """Of a key NAME:{NUMBER}: only the part in braces counts."""
    return binascii.crc_hqx(key[key.index(b"{") + 1:key.index(b"}")], 0) % 16384
