/* The Bloom filter with counters instead of bits (Fan, Cao, Almeida, Broder, "Summary cache",
 * 1998), from which keys can be removed.
 *
 *     payload      ceil(m / 2) bytes; counter c has the low half of byte c / 2 if c is even, else
 *                  the high half; the half after the last counter is zero
 *     probe i      counter instead of bit, otherwise as in bloom.h
 *
 * A counter that reaches 15 stays there: its true value is unknown, and decrementing it could rule
 * out a member. With 4 bits and half of the counters in use, the probability that one of them
 * overflows is below 1.4e-15 (docs/filters.md). A filter with the same m and k in which a bit is
 * set if the counter is above 0 is the classic Bloom filter of the same keys, bit for bit.
 *
 * Threads: one thread may add and remove; the rest are pure. */
#ifndef BB_STANDALONE_BLOOM_COUNTING_BLOOM_H
#define BB_STANDALONE_BLOOM_COUNTING_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BB_COUNTER_MAX 15

static inline size_t bb_counting_bloom_size(uint64_t counter_count)
{
    return (size_t)(counter_count / 2 + counter_count % 2);
}

/* counter_count is not 0. */
void bb_counting_bloom_add(uint8_t *payload, uint64_t counter_count, uint32_t probes,
                           uint64_t hash);
bool bb_counting_bloom_may_contain(const uint8_t *payload, uint64_t counter_count, uint32_t probes,
                                   uint64_t hash);
/* False, without a change, if the key is certainly absent: one of its counters is below the number
 * of the key's probes that use it. */
bool bb_counting_bloom_remove(uint8_t *payload, uint64_t counter_count, uint32_t probes,
                              uint64_t hash);

struct bb_counting_bloom_sums {
    uint64_t used;      /* counters above 0 */
    uint64_t saturated; /* counters of BB_COUNTER_MAX */
    uint64_t total;     /* of all counters */
};
struct bb_counting_bloom_sums bb_counting_bloom_sums(const uint8_t *payload, size_t size);

/* Sets a bit for every `factor` neighbouring counters of which one is above 0. */
void bb_counting_bloom_fold(const uint8_t *payload, size_t size, uint64_t factor, uint8_t *bits);

#endif
