/* Hash domains: derive independent values from one key hash for every filter that is probed for the
 * key.
 *
 * A domain is 64 bits for a purpose and a salt. Filters of different domains see unrelated hashes
 * of the same key, so that their false positives are independent: the rates of a table filter and
 * of the block filters multiply, and a false positive in one table is no more likely to be one in
 * the next. Without domains the rates of two stages over the same keys would not multiply at all,
 * because the solver would get the same equations twice.
 *
 * ON DISK: the constants are part of every filter. Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_DOMAIN_H
#define BB_BLOOMBLOCK_DOMAIN_H

#include "base/hash.h"

#define BB_DOMAIN_BLOCK    UINT64_C(0x243f6a8885a308d3) /* filters of blocks, inside a table */
#define BB_DOMAIN_TABLE    UINT64_C(0x13198a2e03707344) /* the filter of a table */
#define BB_DOMAIN_ENVELOPE UINT64_C(0xa4093822299f31d0) /* standalone filters */

/* The domain of a purpose (one of the constants above) under a salt. */
static inline uint64_t bb_domain(uint64_t purpose, uint64_t salt)
{
    return bb_hash_mix(bb_hash_mix(salt) ^ purpose);
}

/* A key's hash in a domain. A bijection of key hashes: distinct ones stay distinct. */
static inline uint64_t bb_domain_hash(uint64_t domain, uint64_t key_hash)
{
    return bb_hash_mix(key_hash ^ domain);
}

/* The same for ribbons: their equations are products, in which every flipped bit of the hash
 * changes the effect of all other bits, so mixing the hash first would be redundant
 * (ribbon_equation.h). */
static inline uint64_t bb_domain_ribbon_hash(uint64_t domain, uint64_t key_hash)
{
    return key_hash ^ domain;
}

#endif
