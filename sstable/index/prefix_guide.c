/* See prefix_guide.h. */
#include "sstable/index/prefix_guide.h"

#include "base/alloc.h"

/* Digits use few of the 256 values of a byte, so most buckets of decimal or hexadecimal keys are
 * empty. With 32 buckets per number few numbers share a bucket all the same. */
#define BUCKETS_PER_NUMBER 32

/* Chooses the width and the number of buckets: the last number is in the last bucket. */
static void lay_out(struct bb_prefix_guide *guide, uint64_t span, size_t count)
{
    uint32_t buckets_max = BUCKETS_PER_NUMBER * (uint32_t)count;
    while (span >> guide->shift >= buckets_max)
        guide->shift++;
    guide->bucket_count = (uint32_t)(span >> guide->shift) + 1;
}

/* Fills in the buckets. Returns how many numbers a search does not reach from their buckets,
 * because more than BB_PREFIX_GUIDE_STEPS numbers precede them there. */
static size_t count_belows(const struct bb_prefix_guide *guide, const uint64_t *numbers,
                           size_t count, uint16_t *belows)
{
    size_t below = 0;
    size_t crowded = 0;
    for (uint32_t bucket = 0; bucket < guide->bucket_count; bucket++) {
        size_t first = below;
        belows[bucket] = (uint16_t)below;
        while (below < count && (numbers[below] - guide->low) >> guide->shift <= bucket)
            crowded += below++ - first > BB_PREFIX_GUIDE_STEPS;
    }
    return crowded;
}

enum bb_status bb_prefix_guide_init(struct bb_prefix_guide *guide, const uint64_t *numbers,
                                    size_t count, uint64_t low)
{
    *guide = (struct bb_prefix_guide){.low = low};
    if (count == 0 || count > UINT16_MAX || numbers[0] < low)
        return BB_OK;
    lay_out(guide, numbers[count - 1] - low, count);
    uint16_t *belows = bb_alloc(guide->bucket_count * sizeof(*belows));
    if (belows == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a guide to %zu tables", count);
    guide->belows = belows;
    if (count_belows(guide, numbers, count, belows) > count / 4)
        bb_prefix_guide_deinit(guide);
    return BB_OK;
}

void bb_prefix_guide_deinit(struct bb_prefix_guide *guide)
{
    bb_free(guide->belows);
    *guide = (struct bb_prefix_guide){0};
}
