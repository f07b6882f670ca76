/* The range tombstones of a table that is being built. They are collected in any order, cut into
 * fragments and counted after the last entry, and written as a section. One thread. */
#ifndef BB_SSTABLE_BUILD_TABLE_RANGES_H
#define BB_SSTABLE_BUILD_TABLE_RANGES_H

#include "sstable/meta/properties.h"
#include "sstable/ranges/range_tombstones.h"

/* Empty when zeroed. Owned: bb_table_ranges_deinit. */
struct bb_table_ranges {
    struct bb_range_tombstone_array array; /* each low is the start of an allocation of both keys */
    struct bb_range_tombstones *list;      /* NULL until finished, or if none exist */
};

void bb_table_ranges_deinit(struct bb_table_ranges *ranges);
/* Copies the keys. REQUIRES: low is below high. */
BB_MUST_CHECK enum bb_status bb_table_ranges_add(struct bb_table_ranges *ranges,
                                                 struct bb_bytes low, struct bb_bytes high,
                                                 uint64_t sequence);
/* Call after the last entry. Makes the list, and extends count, sequences and bounds of the
 * properties to include it. smallest and largest are the entries' bounds, if there are any. */
BB_MUST_CHECK enum bb_status bb_table_ranges_finish(struct bb_table_ranges *ranges,
                                                    const struct bb_comparator *comparator,
                                                    struct bb_properties *properties);

/* Extends sequences and bounds of the properties to include a list. Used by finish, and by
 * verification to check the result. */
BB_MUST_CHECK enum bb_status bb_table_ranges_widen(const struct bb_range_tombstones *list,
                                                   struct bb_properties *properties);

#endif
