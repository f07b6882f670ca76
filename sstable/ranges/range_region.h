/* Around a key: how far its neighbours are covered by the same range tombstones. What an iterator
 * keeps, so that it asks for each region once and not for each entry.
 *
 * Starts as "everything, not covered", and is narrowed by each list and tombstone that may matter.
 * Keys are borrowed from those.
 */
#ifndef BB_SSTABLE_RANGES_RANGE_REGION_H
#define BB_SSTABLE_RANGES_RANGE_REGION_H

#include "sstable/ranges/range_tombstones.h"

struct bb_range_region {
    bool has_low; /* false: everything before high */
    bool has_high;
    struct bb_bytes low; /* inclusive */
    struct bb_bytes high;
    uint64_t covering; /* the greatest sequence asked for that covers the region; 0: none */
};

/* Leaves of the region what lies between the two, as seen from the key; covering stays. NULL: open
 * to that side. REQUIRES: the key is in the region and between the two. */
void bb_range_region_clip(struct bb_range_region *region, const struct bb_comparator *comparator,
                          const struct bb_bytes *low, const struct bb_bytes *high);
/* Takes in one tombstone, if its sequence is at most `sequence`. */
void bb_range_region_take(struct bb_range_region *region, const struct bb_comparator *comparator,
                          struct bb_bytes key, uint64_t sequence,
                          const struct bb_range_tombstone *tombstone);
/* Takes in a whole list. */
void bb_range_region_take_list(struct bb_range_region *region,
                               const struct bb_range_tombstones *list, struct bb_bytes key,
                               uint64_t sequence);

/* Is the key in the region? */
bool bb_range_region_contains(const struct bb_range_region *region,
                              const struct bb_comparator *comparator, struct bb_bytes key);

#endif
