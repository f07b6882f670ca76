/* The upper part of the keys of a large merge, which a second thread may merge at the same time as
 * the compacting worker merges the lower part.
 *
 *     tables      [a ... f] [g ... m] [n ... z]
 *     merges      lower: the worker  | upper: from a key in the middle of the largest run on
 *
 * The thread starts when writes pause, or when a caller waits for the merge. It continues if writes
 * begin. If it does not start, the worker merges the upper part after the lower one. Both parts are
 * installed together. The thread ends early when the store is being closed, a flush needs the space
 * of the merge, or an index was created.
 *
 * A merge is not divided if it is small, has range tombstones, or builds index files, whose builder
 * sees one table after the other. Under background_bytes_per_second no thread starts.
 *
 * Threads: the compacting worker's.
 */
#ifndef BB_KV_BACKGROUND_UPPER_MERGE_H
#define BB_KV_BACKGROUND_UPPER_MERGE_H

#include "compaction/merge/compaction.h"
#include "kv/store/store.h"

struct bb_upper_merge;

/* Copies the plan. options: of the whole merge. *ret_upper is NULL if it is not divided. */
BB_MUST_CHECK enum bb_status bb_upper_merge_create(struct bb_db *db, const struct bb_plan *plan,
                                                   struct bb_levels *levels,
                                                   const struct bb_compact_options *options,
                                                   struct bb_upper_merge **ret_upper);
/* Waits for the thread. NULL is allowed. */
void bb_upper_merge_destroy(struct bb_upper_merge *upper);

/* The range of the lower part, borrowed. */
struct bb_key_range bb_upper_merge_rest(const struct bb_upper_merge *upper);

/* Starts the thread if it is due, unless it has run. */
void bb_upper_merge_start(struct bb_upper_merge *upper);
/* True when the thread has failed: step reports it. */
bool bb_upper_merge_has_failed(const struct bb_upper_merge *upper);
/* Called when the lower part is done, or the thread has failed: waits for the thread, or merges up
 * to entry_count_max entries. Errors: also those of the thread. */
BB_MUST_CHECK enum bb_status bb_upper_merge_step(struct bb_upper_merge *upper,
                                                 uint64_t entry_count_max, bool *ret_is_done);

/* True if there was a thread. */
bool bb_upper_merge_had_thread(const struct bb_upper_merge *upper);
/* Borrowed. REQUIRES: no thread is running. */
struct bb_compaction *bb_upper_merge_compaction(const struct bb_upper_merge *upper);

#endif
