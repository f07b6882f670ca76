/* A run as one stream: its tables one after the other. */
#ifndef BB_COMPACTION_MERGE_RUN_ITER_H
#define BB_COMPACTION_MERGE_RUN_ITER_H

#include "compaction/levels/run.h"

/* files: the tables that overlap the range, ascending; borrowed until the stream is destroyed. The
 * caller has a reference to each, or to their levels. WHY not the stream: a level has many tables,
 * and most streams read one. Tables are opened when the stream reaches them. range: as in
 * sstable/table/table_iter.h, blocks outside are not read; borrowed until the stream is destroyed;
 * NULL: all keys. stats may be NULL and must outlive the stream. Owned: bb_iter_destroy. */
BB_MUST_CHECK enum bb_status bb_run_iter_create(struct bb_table_file *const *files, size_t count,
                                                const struct bb_comparator *comparator,
                                                const struct bb_key_range *range,
                                                const struct bb_read_options *options,
                                                struct bb_read_stats *stats,
                                                struct bb_iter **ret_iter);
/* Makes bb_iter_stored return the stored form of entries with a separate block
 * (sstable/block/stored_entry.h). Call before the first move. REQUIRES: the iterator is a stream of
 * bb_run_iter_create. */
void bb_run_iter_keep_stored(struct bb_iter *iter);

/* Makes the stream read no block that has a head (bb_table_iter_skip_values), for callers that use
 * no values. Call before the first move. REQUIRES: the iterator is a stream of
 * bb_run_iter_create. */
void bb_run_iter_skip_values(struct bb_iter *iter);

/* Makes seeks use bb_run_find_index of a run whose files, from number `first` on, are the stream's.
 * The run is borrowed until the stream is destroyed. REQUIRES: the iterator is a stream of
 * bb_run_iter_create, and its files are in the run's array. */
void bb_run_iter_search_by(struct bb_iter *iter, const struct bb_run *source, size_t first);

/* Makes the stream charge its tables for seeks and tombstones (bb_table_file_charge). Call before
 * the first move. REQUIRES: the iterator is a stream of bb_run_iter_create. */
void bb_run_iter_charge_tables(struct bb_iter *iter);

/* open makes the stream over one table of a run. The run's stream owns *ret_iter. */
struct bb_run_opener {
    enum bb_status (*open)(void *context, struct bb_table_file *file, struct bb_iter **ret_iter);
    void *context;
};
/* The same over streams that the opener makes, one for each table; their keys ascend in the order
 * of the tables. The opener's context must outlive the stream, like the files. */
BB_MUST_CHECK enum bb_status bb_run_iter_create_opened(struct bb_table_file *const *files,
                                                       size_t count,
                                                       const struct bb_comparator *comparator,
                                                       const struct bb_run_opener *opener,
                                                       struct bb_iter **ret_iter);

/* sstable/approach.h. Streams of bb_run_iter_create have steps. REQUIRES: the iterator is a stream
 * over a run. */
bool bb_run_iter_approach(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence,
                          unsigned step);

#endif
