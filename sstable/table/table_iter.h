/* An iterator over part of a table. */
#ifndef BB_SSTABLE_TABLE_TABLE_ITER_H
#define BB_SSTABLE_TABLE_TABLE_ITER_H

#include "bb/table.h"

/* Like bb_table_iter_create, but reads no index page and no block that is entirely outside the
 * range: moves end at its borders. seek_first and seek_last go to the ends of the range. Entries
 * outside the range may still appear when they share a block with entries inside: the caller
 * compares keys. range is borrowed while the iterator lives; NULL: everything. */
BB_MUST_CHECK enum bb_status bb_table_iter_create_range(struct bb_table *table,
                                                        const struct bb_read_options *options,
                                                        const struct bb_key_range *range,
                                                        struct bb_read_stats *stats,
                                                        struct bb_iter **ret_iter);

/* Makes the iterator keep the stored form (sstable/block/stored_entry.h) of entries that fill a
 * separate large block, for callers that copy entries into another table. REQUIRES: the iterator is
 * over a table. */
void bb_table_iter_keep_stored(struct bb_iter *iter);

#endif
