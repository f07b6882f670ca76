/* XXH3 with vectors of 64 bytes. See hash_wide.h. Any thread. */
#include "base/hash_wide.h"

#if BB_HASH_WIDE
/* Before the target is set: what these declare is for any processor. */
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f")
#endif

#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX512
#include <xxhash.h>

uint64_t bb_hash_bytes_avx512(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
