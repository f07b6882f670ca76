/* A guide to where numbers stand among others: what a search of them begins with, so that it is at its
 * end at once where they are spread somewhat evenly.
 *
 *     numbers     |  0    1  2         3     4  |          `count` of them, ascending
 *     buckets     |0|0|0|1|2|3|3|3|3|3|4|4|4|5|5|          equal ranges from `low` on: how many
 *                                                          numbers are below each
 *
 * A bucket has BB_PREFIX_GUIDE_STEPS numbers at most, mostly: so many comparisons, which do not wait
 * for each other, tell the rest. A binary search of nine numbers is five loads, each of which waits
 * for the one before.
 *
 * Threads: constant after init.
 */
#ifndef BB_SSTABLE_INDEX_PREFIX_GUIDE_H
#define BB_SSTABLE_INDEX_PREFIX_GUIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define BB_PREFIX_GUIDE_STEPS 2

struct bb_prefix_guide {
    uint64_t low;
    uint32_t shift;        /* a bucket is 2^shift wide */
    uint32_t bucket_count; /* 0: there is none, and nothing is found */
    uint16_t *belows;      /* owned */
};

/* For looking between low and the last number. There is none, too, when a quarter of the numbers
 * stand so close together that they would be guessed wrong, and when there are too many.
 * BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_prefix_guide_init(struct bb_prefix_guide *guide,
                                                  const uint64_t *numbers, size_t count,
                                                  uint64_t low);
void bb_prefix_guide_deinit(struct bb_prefix_guide *guide);

/* About how many of the numbers are below `number`: 0 ... count, for a number that is not below `low`
 * never more than there are. False outside of the buckets. REQUIRES: BB_PREFIX_GUIDE_STEPS times
 * UINT64_MAX behind the numbers. */
static inline bool bb_prefix_guide_find(const struct bb_prefix_guide *guide,
                                        const uint64_t *numbers, uint64_t number, size_t *ret_below)
{
    uint64_t bucket = (number - guide->low) >> guide->shift;
    if (bucket >= guide->bucket_count)
        return false;
    size_t below = guide->belows[bucket];
    const uint64_t *next = numbers + below;
    for (size_t i = 0; i < BB_PREFIX_GUIDE_STEPS; i++)
        below += next[i] < number;
    *ret_below = below;
    return true;
}

#endif
