/* A run as one stream: tables that ascend by key and share none, one after the other. */
#ifndef BB_COMPACTION_RUN_ITER_H
#define BB_COMPACTION_RUN_ITER_H

#include "compaction/table_file.h"

/* files: ascending; a reference is taken to each. Tables are opened when the stream comes to them.
 * stats may be NULL and must outlive the stream. Owned: bb_iter_destroy. */
BB_MUST_CHECK enum bb_status bb_run_iter_create(struct bb_table_file *const *files, size_t count,
                                                const struct bb_comparator *comparator,
                                                const struct bb_read_options *options,
                                                struct bb_read_stats *stats,
                                                struct bb_iter **ret_iter);
/* Entries that have a block of their own are shown with it (sstable/block/stored_entry.h). Before the first
 * move; REQUIRES: the iterator is one of these. */
void bb_run_iter_keep_stored(struct bb_iter *iter);
/* What is wanted of them is a range, as of sstable/table_iter.h: blocks outside are not read. files:
 * those that meet it. */
BB_MUST_CHECK enum bb_status
bb_run_iter_create_range(struct bb_table_file *const *files, size_t count,
                         const struct bb_comparator *comparator, const struct bb_key_range *range,
                         const struct bb_read_options *options, struct bb_read_stats *stats,
                         struct bb_iter **ret_iter);

/* Makes the stream over one table of a run. *ret_iter is owned by the run's stream. */
struct bb_run_opener {
    enum bb_status (*open)(void *context, struct bb_table_file *file, struct bb_iter **ret_iter);
    void *context;
};
/* The same over streams of the caller's making, which ascend as the tables do. The context must
 * outlive the stream. */
BB_MUST_CHECK enum bb_status bb_run_iter_create_opened(struct bb_table_file *const *files,
                                                       size_t count,
                                                       const struct bb_comparator *comparator,
                                                       const struct bb_run_opener *opener,
                                                       struct bb_iter **ret_iter);

#endif
