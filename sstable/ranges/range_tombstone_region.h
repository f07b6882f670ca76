/* The region around a key in which the same range tombstones cover all keys. An iterator keeps one,
 * so that it searches range tombstones once per region instead of once per entry.
 *
 * A region starts as "everything, not covered". Each list and tombstone that may matter narrows it.
 * Keys are borrowed from those.
 */
#ifndef BB_SSTABLE_RANGES_RANGE_TOMBSTONE_REGION_H
#define BB_SSTABLE_RANGES_RANGE_TOMBSTONE_REGION_H

#include "sstable/ranges/range_tombstones.h"

struct bb_range_tombstone_region {
    bool has_low; /* false: open below */
    bool has_high;
    struct bb_bytes low; /* inclusive */
    struct bb_bytes high;
    uint64_t covering; /* the highest visible sequence that covers the region; 0: none */
};

/* Narrows the region to the keys from low to high. covering stays as it is. NULL: open on that
 * side. REQUIRES: the key is in the region and between the two. */
void bb_range_tombstone_region_clip(struct bb_range_tombstone_region *region,
                                    const struct bb_comparator *comparator,
                                    const struct bb_bytes *low, const struct bb_bytes *high);
/* Narrows the region by one tombstone, if its sequence is at most `sequence`. */
void bb_range_tombstone_region_take(struct bb_range_tombstone_region *region,
                                    const struct bb_comparator *comparator, struct bb_bytes key,
                                    uint64_t sequence, const struct bb_range_tombstone *tombstone);
/* Narrows the region by a whole list. */
void bb_range_tombstone_region_take_list(struct bb_range_tombstone_region *region,
                                         const struct bb_range_tombstones *list,
                                         struct bb_bytes key, uint64_t sequence);

/* True when the key is in the region. */
bool bb_range_tombstone_region_contains(const struct bb_range_tombstone_region *region,
                                        const struct bb_comparator *comparator,
                                        struct bb_bytes key);

#endif
