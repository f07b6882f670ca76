/* The possible truths of a condition for the records of each granule: three bitsets in one block of
 * memory, and three-valued logic on them.
 *
 * Every set is an upper bound. AND may be true where both sides may be true. It may be false where
 * one side may be false, and null where one side may be null. NOT exchanges true and false. So a
 * condition is evaluated without rewriting its tree.
 */
#ifndef BB_SKIP_QUERY_TRUTH_BITS_H
#define BB_SKIP_QUERY_TRUTH_BITS_H

#include "bb/skip.h"
#include "skip/bits/posting.h"

static inline void bb_bit_set(uint64_t *words, size_t bit)
{
    words[bit / 64] |= UINT64_C(1) << bit % 64;
}

static inline bool bb_bit_get(const uint64_t *words, size_t bit)
{
    return (words[bit / 64] >> bit % 64 & 1) != 0;
}

/* Words of one of the bitsets. */
static inline size_t bb_truth_words(size_t granule_count)
{
    return (granule_count + 63) / 64;
}

/* Clears 3 * bb_truth_words words and places the bitsets in them. The words remain the caller's. */
void bb_truth_bits_place(struct bb_skip_verdicts *verdicts, uint64_t *words, size_t granule_count);
/* Makes true, false and null possible for each granule. */
void bb_truth_bits_fill(struct bb_skip_verdicts *verdicts);
/* *verdicts = *verdicts AND *other, or OR. */
void bb_truth_bits_and(struct bb_skip_verdicts *verdicts, const struct bb_skip_verdicts *other);
void bb_truth_bits_or(struct bb_skip_verdicts *verdicts, const struct bb_skip_verdicts *other);
void bb_truth_bits_not(struct bb_skip_verdicts *verdicts);

/* In these comments, words[i] is bit i.
 *
 * words[first ... first + count - 1] &= bits. Returns the number of bits that this cleared. */
size_t bb_truth_bits_restrict(uint64_t *words, size_t first, uint32_t count,
                              const struct bb_granule_bits *bits);
/* Whether any of words[first ... first + count - 1] is set. */
bool bb_truth_bits_any(const uint64_t *words, size_t first, uint32_t count);
/* *ret_bits = words[first ... first + count - 1]. count: at most BB_SEGMENT_GRANULES_MAX. */
void bb_truth_bits_window(const uint64_t *words, size_t first, uint32_t count,
                          struct bb_granule_bits *ret_bits);

#endif
