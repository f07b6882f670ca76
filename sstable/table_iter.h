/* The iterator over a table, of which only a part is wanted. */
#ifndef BB_SSTABLE_TABLE_ITER_H
#define BB_SSTABLE_TABLE_ITER_H

#include "bb/table.h"

/* As bb_table_iter_create, but no index page and no block is read that lies outside of the range as
 * a whole: moves end at its borders. First and last are those of the range. Otherwise entries
 * outside of it may be shown, where they share a block with others: the caller compares. range is
 * borrowed while the iterator lives; NULL: everything. */
BB_MUST_CHECK enum bb_status bb_table_iter_create_range(struct bb_table *table,
                                                        const struct bb_read_options *options,
                                                        const struct bb_key_range *range,
                                                        struct bb_read_stats *stats,
                                                        struct bb_iter **ret_iter);

/* From here on the iterator has the stored form (sstable/block/stored_entry.h) of entries that fill a large
 * block alone: for who writes what it reads. REQUIRES: it is an iterator over a table. */
void bb_table_iter_keep_stored(struct bb_iter *iter);

#endif
