/* The range tombstones of a table that is being built: gathered in any order, cut into fragments
 * and counted behind the last entry, and written as a section. One thread. */
#ifndef BB_SSTABLE_TABLE_RANGES_H
#define BB_SSTABLE_TABLE_RANGES_H

#include "sstable/properties.h"
#include "sstable/ranges/range_tombstones.h"

/* Empty when zeroed; owned: bb_table_ranges_deinit. */
struct bb_table_ranges {
    struct bb_range_array array;      /* each low is the start of an allocation of both keys */
    struct bb_range_tombstones *list; /* NULL until finished, or without any */
};

void bb_table_ranges_deinit(struct bb_table_ranges *ranges);
/* Keys are copied. REQUIRES: low is below high. */
BB_MUST_CHECK enum bb_status bb_table_ranges_add(struct bb_table_ranges *ranges,
                                                 struct bb_bytes low, struct bb_bytes high,
                                                 uint64_t sequence);
/* Behind the last entry: makes the list, and has count, sequences and bounds of the properties take
 * it in. smallest and largest are those of the entries if there are any. */
BB_MUST_CHECK enum bb_status bb_table_ranges_finish(struct bb_table_ranges *ranges,
                                                    const struct bb_comparator *comparator,
                                                    struct bb_properties *properties);

/* Has sequences and bounds of the properties take in a list: what finish does, and verification
 * does again. */
BB_MUST_CHECK enum bb_status bb_table_ranges_widen(const struct bb_range_tombstones *list,
                                                   struct bb_properties *properties);

#endif
