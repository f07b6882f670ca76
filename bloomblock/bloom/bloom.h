/* The classic Bloom filter (Bloom 1970) with any number of bits and independent probes.
 *
 *     payload    ceil(m / 8) bytes; bit b is bit b mod 8 of byte b / 8; bits from m on are zero
 *     probe i    position = floor(h * C^i / 2^64 * m), products modulo 2^64, i = 1 ... k
 *
 * Each probe multiplies the hash again and scales the high part of the result to m bits. The
 * textbook method, double hashing modulo m, repeats whole probe sequences: at 20 keys its rate is
 * 11 times the formula's.
 *
 * Threads: may_contain is pure; one thread may add. */
#ifndef BB_BLOOMBLOCK_BLOOM_BLOOM_H
#define BB_BLOOMBLOCK_BLOOM_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define BB_BLOOM_PROBES_MAX 30

static inline size_t bb_bloom_size(uint64_t bit_count)
{
    return (size_t)(bit_count / 8 + (bit_count % 8 != 0));
}

/* ON DISK. Odd, without a pattern; one of the 64-bit multipliers of Steele and Vigna,
 * "Computationally easy, spectrally good multipliers", 2021. */
#define BB_BLOOM_REMIX UINT64_C(0xd1342543de82ef95)

/* The next position of a key, among bit_count. *state begins as the key's hash. */
static inline uint64_t bb_bloom_next(uint64_t *state, uint64_t bit_count)
{
    *state *= BB_BLOOM_REMIX;
    return bb_hash_range64(*state, bit_count);
}

/* bit_count is not 0. */
void bb_bloom_add(uint8_t *payload, uint64_t bit_count, uint32_t probes, uint64_t hash);
bool bb_bloom_may_contain(const uint8_t *payload, uint64_t bit_count, uint32_t probes,
                          uint64_t hash);

/* The number of set bits in size bytes, of any filter. */
uint64_t bb_bloom_set_count(const uint8_t *payload, size_t size);

#endif
