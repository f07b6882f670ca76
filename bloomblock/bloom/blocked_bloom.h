/* Bloom filters in lines: all probes of a key fall into one line of 64 bytes, so that a question
 * costs one cache miss, and building is a few nanoseconds per key. The price is space: keys are
 * spread over lines unevenly, and the full lines set the rate (Putze, Sanders, Singler, "Cache-,
 * hash- and space-efficient Bloom filters", 2007; the mixture is in rate.h).
 *
 *     payload    | line 0 | line 1 | ... |        64 bytes each
 *     line       bit p, 0 <= p < 512, is bit p mod 8 of byte p / 8: the same bit as p mod 64 of the
 *                little-endian word p / 64
 *     key        line:   high 32 bits of the hash, scaled to the number of lines
 *                probes: the hash is multiplied for every six probes; each takes the next 9 bits of
 *                        the product, from the top
 *
 * Threads: may_contain is pure; add is for one thread. The filter that readers ask while it grows
 * is memory_filter.h; it shares the positions below.
 */
#ifndef BB_BLOOMBLOCK_BLOOM_BLOCKED_BLOOM_H
#define BB_BLOOMBLOCK_BLOOM_BLOCKED_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define BB_LINE_SIZE               64
#define BB_LINE_BITS               512
#define BB_LINE_BITS_LOG2          9
#define BB_LINE_PROBES_PER_PRODUCT 6 /* 54 bits: the lowest ones of a product are weak */

/* ON DISK. */
#define BB_LINE_REMIX UINT64_C(0xaf251af3b0f025b5)

static inline uint32_t bb_blocked_bloom_line(uint64_t hash, uint32_t line_count)
{
    return bb_hash_range(hash, line_count);
}

/* The probes of a key inside its line, one after the other. */
struct bb_blocked_bloom_line_probes {
    uint64_t product;
    uint64_t bits; /* the unused part of the product, in the high bits */
    uint32_t left; /* positions left in bits */
};

static inline struct bb_blocked_bloom_line_probes bb_blocked_bloom_line_probes(uint64_t hash)
{
    return (struct bb_blocked_bloom_line_probes){.product = hash};
}

/* The next position, 0 ... 511. */
static inline uint32_t
bb_blocked_bloom_line_probes_next(struct bb_blocked_bloom_line_probes *probes)
{
    if (probes->left == 0) {
        probes->product *= BB_LINE_REMIX;
        probes->bits = probes->product;
        probes->left = BB_LINE_PROBES_PER_PRODUCT;
    }
    uint32_t position = (uint32_t)(probes->bits >> (64 - BB_LINE_BITS_LOG2));
    probes->bits <<= BB_LINE_BITS_LOG2;
    probes->left--;
    return position;
}

/* line_count is not 0; the payload has BB_LINE_SIZE bytes per line, of any alignment. */
void bb_blocked_bloom_add(uint8_t *payload, uint32_t line_count, uint32_t probes, uint64_t hash);
bool bb_blocked_bloom_may_contain(const uint8_t *payload, uint32_t line_count, uint32_t probes,
                                  uint64_t hash);

/* The same with vectors: all probes of one product together. Compiled for x86 only. */
bool bb_blocked_bloom_avx2(const uint8_t *payload, uint32_t line_count, uint32_t probes,
                           uint64_t hash);
bool bb_blocked_bloom_avx512(const uint8_t *payload, uint32_t line_count, uint32_t probes,
                             uint64_t hash);

/* The rate for non-member keys, computed from the set bits: the mean over lines of fill^probes. */
double bb_blocked_bloom_rate(const uint8_t *payload, uint32_t line_count, uint32_t probes);

#endif
