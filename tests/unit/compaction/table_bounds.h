/* Whether a key is within the bounds of a table. */
#ifndef BB_TESTS_UNIT_COMPACTION_TABLE_BOUNDS_H
#define BB_TESTS_UNIT_COMPACTION_TABLE_BOUNDS_H

#include "base/bytes.h"
#include "compaction/levels/table_file.h"

static inline bool table_bounds_contain(const struct bb_table_file *file,
                                        const struct bb_comparator *comparator, struct bb_bytes key)
{
    return bb_key_compare(comparator, bb_table_file_smallest(file), key) <= 0 &&
           !bb_table_file_ends_before(file, comparator, key);
}

#endif
