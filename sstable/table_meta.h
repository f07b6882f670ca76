/* What is known of a table without opening it, from its properties. */
#ifndef BB_SSTABLE_TABLE_META_H
#define BB_SSTABLE_TABLE_META_H

#include "sstable/properties.h"

/* Fills *ret_meta with copies; on failure it is empty. */
BB_MUST_CHECK enum bb_status bb_table_meta_init(const struct bb_properties *properties,
                                                uint64_t file_size, struct bb_table_meta *ret_meta);

/* Does a table (found) have what was said of it (wanted)? BB_CORRUPT: another table, or another number.
 * Whoever plans by what a manifest says of a table checks it so when the table is opened. */
BB_MUST_CHECK enum bb_status bb_table_meta_check(const char *path,
                                                 const struct bb_table_meta *wanted,
                                                 const struct bb_table_meta *found);

/* The secret that the table's filters were built under; borrowed while it is open. */
const struct bb_hash_secret *bb_table_secret(const struct bb_table *table);

#endif
