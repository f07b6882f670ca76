/* The metadata of a table that is available without opening it, taken from its properties. */
#ifndef BB_SSTABLE_META_TABLE_META_H
#define BB_SSTABLE_META_TABLE_META_H

#include "sstable/meta/properties.h"

/* An independent copy; owned. */
BB_MUST_CHECK enum bb_status bb_table_meta_copy(const struct bb_table_meta *meta,
                                                struct bb_table_meta *ret_copy);

/* Fills *ret_meta with copies; owned. */
BB_MUST_CHECK enum bb_status bb_table_meta_init(const struct bb_properties *properties,
                                                uint64_t file_size, struct bb_table_meta *ret_meta);

/* Compares a table's metadata (found) with the expected metadata (`wanted`). Errors: BB_CORRUPT for
 * another table or another number. A caller that plans with the manifest's numbers calls this when
 * it opens the table. */
BB_MUST_CHECK enum bb_status bb_table_meta_check(const char *path,
                                                 const struct bb_table_meta *wanted,
                                                 const struct bb_table_meta *found);

/* The secret under which the table's filters were built. Borrowed while the table is open. */
const struct bb_hash_secret *bb_table_secret(const struct bb_table *table);

#endif
