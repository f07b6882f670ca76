"""XXH3-64 without a seed, as the xxHash specification describes it (doc/xxhash_spec.md), for readers of tables."""
import struct

MASK = (1 << 64) - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
PRIME_MX1, PRIME_MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")

STRIPE, STEP, LAST_STRIPE_SKIP, MERGE_SKIP, MIDDLE_SKIP, MIDDLE_LAST = 64, 8, 7, 11, 3, 17
SECRET_MIN = 136
EIGHT = struct.Struct("<8Q").unpack_from
# The eight words at each place of the secret: long inputs use few places, very often.
WORDS = [EIGHT(SECRET, at) for at in range(len(SECRET) - STRIPE + 1)]


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def swap32(x):
    return int.from_bytes(x.to_bytes(4, "little"), "big")


def swap64(x):
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def fold(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def rotate(x, count):
    return ((x << count) | (x >> (64 - count))) & MASK


def avalanche(x):
    x ^= x >> 37
    x = x * PRIME_MX1 & MASK
    return x ^ x >> 32


def avalanche_xxh64(x):
    x ^= x >> 33
    x = x * P64_2 & MASK
    x ^= x >> 29
    x = x * P64_3 & MASK
    return x ^ x >> 32


def hash_to_16(data):
    size = len(data)
    if size > 8:
        low = u64(SECRET, 24) ^ u64(SECRET, 32) ^ u64(data, 0)
        high = u64(SECRET, 40) ^ u64(SECRET, 48) ^ u64(data, size - 8)
        return avalanche((size + swap64(low) + high + fold(low, high)) & MASK)
    if size >= 4:
        keyed = (u32(data, size - 4) | u32(data, 0) << 32) ^ u64(SECRET, 8) ^ u64(SECRET, 16)
        keyed ^= rotate(keyed, 49) ^ rotate(keyed, 24)
        keyed = keyed * PRIME_MX2 & MASK
        keyed ^= (keyed >> 35) + size
        keyed = keyed * PRIME_MX2 & MASK
        return keyed ^ keyed >> 28
    if size > 0:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche_xxh64(combined ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    return avalanche_xxh64(u64(SECRET, 56) ^ u64(SECRET, 64))


def mix16(data, at, secret_at):
    return fold(u64(data, at) ^ u64(SECRET, secret_at), u64(data, at + 8) ^ u64(SECRET, secret_at + 8))


def hash_to_128(data):
    size = len(data)
    total = size * P64_1
    for i in reversed(range((size - 1) // 32 + 1)):
        total += mix16(data, 16 * i, 32 * i) + mix16(data, size - 16 * (i + 1), 32 * i + 16)
    return avalanche(total & MASK)


def hash_to_240(data):
    size = len(data)
    total = size * P64_1
    for i in range(8):
        total += mix16(data, 16 * i, 16 * i)
    total = avalanche(total & MASK)
    for i in range(8, size // 16):
        total += mix16(data, 16 * i, 16 * (i - 8) + MIDDLE_SKIP)
    total += mix16(data, size - 16, SECRET_MIN - MIDDLE_LAST)
    return avalanche(total & MASK)


def accumulate(lanes, data, at, secret_at):
    values, words = EIGHT(data, at), WORDS[secret_at]
    for i in range(0, 8, 2):
        one, two = values[i:i + 2]
        key, other = one ^ words[i], two ^ words[i + 1]
        lanes[i] = (lanes[i] + two + (key & 0xFFFFFFFF) * (key >> 32)) & MASK
        lanes[i + 1] = (lanes[i + 1] + one + (other & 0xFFFFFFFF) * (other >> 32)) & MASK


def scramble(lanes):
    for i in range(8):
        lane = lanes[i] ^ lanes[i] >> 47 ^ u64(SECRET, len(SECRET) - STRIPE + 8 * i)
        lanes[i] = lane * P32_1 & MASK


def hash_long(data):
    size = len(data)
    lanes = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    stripes_per_block = (len(SECRET) - STRIPE) // STEP
    block = STRIPE * stripes_per_block
    blocks = (size - 1) // block
    for b in range(blocks):
        for s in range(stripes_per_block):
            accumulate(lanes, data, b * block + s * STRIPE, s * STEP)
        scramble(lanes)
    for s in range((size - 1 - block * blocks) // STRIPE):
        accumulate(lanes, data, blocks * block + s * STRIPE, s * STEP)
    accumulate(lanes, data, size - STRIPE, len(SECRET) - STRIPE - LAST_STRIPE_SKIP)
    total = size * P64_1
    for i in range(4):
        total += fold(lanes[2 * i] ^ u64(SECRET, MERGE_SKIP + 16 * i),
                      lanes[2 * i + 1] ^ u64(SECRET, MERGE_SKIP + 16 * i + 8))
    return avalanche(total & MASK)


def xxh3_64(data):
    if len(data) <= 16:
        return hash_to_16(data)
    if len(data) <= 128:
        return hash_to_128(data)
    if len(data) <= 240:
        return hash_to_240(data)
    return hash_long(data)
