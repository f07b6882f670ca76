/* The only interface to XXH3: the key hash (declared in bb/base.h) and the checksum of stored
 * bytes. Specification: xxHash, doc/xxhash_spec.md, XXH3. */
#ifndef BB_BASE_HASH_H
#define BB_BASE_HASH_H

#include "bb/base.h"

/* XXH3-64 without seed or secret: the raw checksum of bytes, before it is bound to an offset. */
uint64_t bb_hash_bytes(const void *data, size_t size);

#define BB_HASH_MIX_FACTOR UINT64_C(0xd6e8feb86659fd93)

/* A bijective 64-bit finaliser (xor-shift-multiply, as in MurmurHash3's fmix64): every output bit
 * depends on every input bit. Derives independent values from a hash. */
static inline uint64_t bb_hash_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= BB_HASH_MIX_FACTOR;
    x ^= x >> 32;
    x *= BB_HASH_MIX_FACTOR;
    x ^= x >> 32;
    return x;
}

/* The inverse of bb_hash_mix. */
static inline uint64_t bb_hash_unmix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xcfee444d8b59a89b); /* the inverse of the factor above, modulo 2^64 */
    x ^= x >> 32;
    x *= UINT64_C(0xcfee444d8b59a89b);
    x ^= x >> 32;
    return x;
}

/* Maps a hash evenly to 0 ... count - 1, by multiplication ("fastrange", Lemire 2016). Uses only
 * the high 32 bits. */
static inline uint32_t bb_hash_range(uint64_t hash, uint32_t count)
{
    return (uint32_t)(((hash >> 32) * count) >> 32);
}

/* The same for any 64-bit count: uses all bits. */
static inline uint64_t bb_hash_range64(uint64_t hash, uint64_t count)
{
    __extension__ typedef unsigned __int128 product;
    return (uint64_t)(((product)hash * count) >> 64);
}

#endif
