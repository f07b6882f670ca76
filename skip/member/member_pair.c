/* Radix sort of pairs by the hash: once by the high eight bits, into parts that fit the caches, and
 * each part by the sixteen bits below. Few pairs are out of order after that, and each of them is
 * put into its place. Passes through all pairs, one for each digit, took six times as long: they
 * miss the caches. See member_pair.h. */
#include "skip/member/member_pair.h"

#include "base/hash.h"

#define PART_BITS  8
#define PART_COUNT (1 << PART_BITS)
#define PART_SHIFT (BB_MEMBER_GRANULE_BITS + BB_MEMBER_HASH_BITS - PART_BITS)

#define DIGIT_BITS  8
#define DIGIT_COUNT (1 << DIGIT_BITS)
#define HIGH_SHIFT  (PART_SHIFT - DIGIT_BITS)
#define LOW_SHIFT   (HIGH_SHIFT - DIGIT_BITS)

#define SMALL 48

/* Pairs between a part's last pair and the place that is fetched, which may be after the array.
 * Without it each line of a part is waited for: the pass took half as long again. */
#define AHEAD 16

/* From counts to where the pairs of each digit begin. */
static void add_up(uint32_t *counts, size_t digit_count)
{
    uint32_t place = 0;
    for (size_t i = 0; i < digit_count; i++) {
        uint32_t count = counts[i];
        counts[i] = place;
        place += count;
    }
}

static inline size_t digit_of(uint64_t pair, uint32_t shift)
{
    return pair >> shift & (DIGIT_COUNT - 1);
}

/* Sorts by two digits, in place; equals keep their order. */
static void sort_digits(uint64_t *pairs, uint64_t *spare, size_t count)
{
    uint32_t low[DIGIT_COUNT] = {0};
    uint32_t high[DIGIT_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        low[digit_of(pairs[i], LOW_SHIFT)]++;
        high[digit_of(pairs[i], HIGH_SHIFT)]++;
    }
    add_up(low, DIGIT_COUNT);
    add_up(high, DIGIT_COUNT);
    for (size_t i = 0; i < count; i++)
        spare[low[digit_of(pairs[i], LOW_SHIFT)]++] = pairs[i];
    for (size_t i = 0; i < count; i++)
        pairs[high[digit_of(spare[i], HIGH_SHIFT)]++] = spare[i];
}

/* Pairs are words that order correctly. Fast for few, and where few are out of order. */
static void copy_sorted(const uint64_t *from, uint64_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t pair = from[i];
        size_t at = i;
        for (; at > 0 && to[at - 1] > pair; at--)
            to[at] = to[at - 1];
        to[at] = pair;
    }
}

uint64_t bb_member_pairs_factor(const uint64_t *pairs, size_t count)
{
    uint64_t sum = count;
    for (size_t i = 0; i < count; i++)
        sum += pairs[i];
    return bb_hash_mix(sum) >> (64 - BB_MEMBER_HASH_BITS) | 1;
}

static inline uint64_t permute(uint64_t pair, uint64_t factor)
{
    return bb_member_permute(bb_member_pair_hash(pair), factor) << BB_MEMBER_GRANULE_BITS |
           bb_member_pair_granule(pair);
}

/* Pairs with permuted hashes into `to`, part by part; *ends: where each part ends. */
static void deal_out(const uint64_t *pairs, uint64_t *to, size_t count, uint64_t factor,
                     uint32_t *ends)
{
    for (size_t i = 0; i < count; i++)
        ends[permute(pairs[i], factor) >> PART_SHIFT]++;
    add_up(ends, PART_COUNT);
    for (size_t i = 0; i < count; i++) {
        uint64_t pair = permute(pairs[i], factor);
        uint64_t *place = to + ends[pair >> PART_SHIFT]++;
        *place = pair;
        __builtin_prefetch((const void *)((uintptr_t)place + AHEAD * sizeof(*place)), 1);
    }
}

void bb_member_pairs_sort(uint64_t *pairs, uint64_t *spare, size_t count, uint64_t factor)
{
    uint32_t ends[PART_COUNT] = {0};
    deal_out(pairs, spare, count, factor, ends);
    uint32_t begin = 0;
    for (size_t part = 0; part < PART_COUNT; part++) {
        size_t size = ends[part] - begin;
        if (size > SMALL)
            sort_digits(spare + begin, pairs + begin, size);
        copy_sorted(spare + begin, pairs + begin, size);
        begin = ends[part];
    }
}
