/* XXH3, and the secrets that do not come from the operating system (random_posix.c has the
 * others).
 *
 * The header-only form of xxHash is compiled in: a call through the shared library costs more than
 * the hash of a short key, and this function is called once per lookup. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/coding.h"
#include "base/hash_wide.h"

_Static_assert(BB_HASH_SECRET_SIZE == XXH_SECRET_DEFAULT_SIZE,
               "the secret is as long as XXH3's own");

/* A separate function, so that a key of up to 16 bytes does not pay for the registers that longer
 * keys need. */
static __attribute__((noinline, flatten)) uint64_t
hash_longer_key(const struct bb_hash_secret *secret, struct bb_bytes key)
{
    return XXH3_64bits_withSecret(key.data, key.size, secret->bytes, BB_HASH_SECRET_SIZE);
}

__attribute__((flatten)) uint64_t bb_hash_key(const struct bb_hash_secret *secret,
                                              struct bb_bytes key)
{
    if (__builtin_expect(key.size <= 16, 1))
        return XXH3_64bits_withSecret(key.data, key.size, secret->bytes, BB_HASH_SECRET_SIZE);
    return hash_longer_key(secret, key);
}

uint64_t bb_hash_xxh64(struct bb_bytes bytes)
{
    return XXH64(bytes.data, bytes.size, 0);
}

/* The processor's features are known before main; testing for them is one load. */
static uint64_t hash_long(const void *data, size_t size)
{
#if BB_HASH_WIDE
    if (__builtin_cpu_supports("avx512f"))
        return bb_hash_bytes_avx512(data, size);
    if (__builtin_cpu_supports("avx2"))
        return bb_hash_bytes_avx2(data, size);
#endif
    return XXH3_64bits(data, size);
}

uint64_t bb_hash_bytes(const void *data, size_t size)
{
    return size > BB_HASH_SHORT_MAX ? hash_long(data, size) : XXH3_64bits(data, size);
}

/* The i-th number of the SplitMix64 stream of a seed (Steele, Lea, Flood: Fast Splittable
 * Pseudorandom Number Generators, 2014). */
static uint64_t splitmix64(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void bb_hash_secret_from_seed(uint64_t seed, struct bb_hash_secret *ret_secret)
{
    for (size_t i = 0; i < BB_HASH_SECRET_SIZE / 8; i++)
        bb_store64(ret_secret->bytes + 8 * i, splitmix64(seed, i));
}
