/* An interpolation table over sorted numbers. A search starts here. It usually ends here too, if
 * the numbers are spread fairly evenly.
 *
 *     numbers     |  0    1  2         3     4  |          `count` of them, ascending
 *     buckets     |0|0|0|1|2|3|3|3|3|3|4|4|4|5|5|          equal ranges from `low` on; each holds
 *                                                          how many numbers are below its range
 *
 * Most buckets have at most BB_PREFIX_GUIDE_STEPS numbers, and that many independent comparisons
 * finish the search. A binary search of nine numbers takes five loads instead, each of which waits
 * for the previous one.
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
    uint32_t bucket_count; /* 0: there is no guide, and find returns false */
    uint16_t *belows;      /* owned */
};

/* Builds a guide for searches between low and the last number. Builds none when more than a quarter
 * of the numbers are so close together that the estimate would be wrong, when there are no numbers
 * or more than UINT16_MAX, or when the first one is below low. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_prefix_guide_init(struct bb_prefix_guide *guide,
                                                  const uint64_t *numbers, size_t count,
                                                  uint64_t low);
void bb_prefix_guide_deinit(struct bb_prefix_guide *guide);

/* Estimates how many of the numbers are below `number`: 0 ... count. For a number not below `low`
 * the estimate is never too high. False outside the buckets. REQUIRES: after the numbers, the array
 * has BB_PREFIX_GUIDE_STEPS more elements, all UINT64_MAX. */
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
