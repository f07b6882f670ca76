/* See the header. One thread. */
#include "sstable/ranges/range_tombstone_region.h"

void bb_range_tombstone_region_clip(struct bb_range_tombstone_region *region,
                                    const struct bb_comparator *comparator,
                                    const struct bb_bytes *low, const struct bb_bytes *high)
{
    if (low != NULL && (!region->has_low || bb_key_compare(comparator, region->low, *low) < 0)) {
        region->low = *low;
        region->has_low = true;
    }
    if (high != NULL &&
        (!region->has_high || bb_key_compare(comparator, *high, region->high) < 0)) {
        region->high = *high;
        region->has_high = true;
    }
}

void bb_range_tombstone_region_take(struct bb_range_tombstone_region *region,
                                    const struct bb_comparator *comparator, struct bb_bytes key,
                                    uint64_t sequence, const struct bb_range_tombstone *tombstone)
{
    if (tombstone->sequence > sequence)
        return;
    if (bb_key_compare(comparator, key, tombstone->low) < 0) {
        bb_range_tombstone_region_clip(region, comparator, NULL, &tombstone->low);
    } else if (bb_key_compare(comparator, key, tombstone->high) >= 0) {
        bb_range_tombstone_region_clip(region, comparator, &tombstone->high, NULL);
    } else {
        bb_range_tombstone_region_clip(region, comparator, &tombstone->low, &tombstone->high);
        if (tombstone->sequence > region->covering)
            region->covering = tombstone->sequence;
    }
}

void bb_range_tombstone_region_take_list(struct bb_range_tombstone_region *region,
                                         const struct bb_range_tombstones *list,
                                         struct bb_bytes key, uint64_t sequence)
{
    size_t index = bb_range_tombstones_find(list, key);
    const struct bb_range_tombstone_fragment *fragment = &list->fragments[index];
    if (index < list->count && bb_key_compare(list->comparator, fragment->low, key) <= 0) {
        uint64_t covering = bb_range_tombstone_fragment_newest(fragment, sequence);
        region->covering = covering > region->covering ? covering : region->covering;
        bb_range_tombstone_region_clip(region, list->comparator, &fragment->low, &fragment->high);
        return;
    }
    bb_range_tombstone_region_clip(region, list->comparator, index == 0 ? NULL : &fragment[-1].high,
                                   index == list->count ? NULL : &fragment->low);
}

bool bb_range_tombstone_region_contains(const struct bb_range_tombstone_region *region,
                                        const struct bb_comparator *comparator, struct bb_bytes key)
{
    return (!region->has_low || bb_key_compare(comparator, region->low, key) <= 0) &&
           (!region->has_high || bb_key_compare(comparator, key, region->high) < 0);
}
