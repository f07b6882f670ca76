/* The upper part of the keys of a large merge, which a second thread merges at the same time as the
 * compacting worker merges the lower part.
 *
 *     tables      [a ... f] [g ... m] [n ... z]
 *     merged      ####>                             when writes pause
 *     the rest    lower: the worker | upper: from a key in the middle of the rest on
 *
 * The rest of a merge is divided when writes pause, or when a caller waits for the merge, and the
 * thread continues if writes begin. Both parts are installed together. The thread ends early when
 * the store is being closed, a flush needs the space of the merge, or an index was created.
 *
 * A merge is not divided if its rest is small, if no key divides it, if it has range tombstones, if
 * its output is in level 0, or if it builds index files, whose builder sees one table after the
 * other; and not under background_bytes_per_second or in deterministic mode.
 *
 * Threads: the compacting worker's.
 */
#ifndef BB_KV_BACKGROUND_UPPER_MERGE_H
#define BB_KV_BACKGROUND_UPPER_MERGE_H

#include "compaction/merge/compaction.h"
#include "kv/store/store.h"

struct bb_upper_merge;

/* False if the merge is never divided. */
bool bb_upper_merge_is_possible(const struct bb_db *db, const struct bb_plan *plan);
/* True when writes have paused, or a caller waits for merges. */
bool bb_upper_merge_is_due(struct bb_db *db);

/* Divides the rest of the merge, and starts the thread for its upper part. NULL if the merge is not
 * divided: also if memory is lacking, or a table cannot be read, because dividing is not necessary.
 * REQUIRES: it is possible. */
struct bb_upper_merge *bb_upper_merge_create(struct bb_db *db, struct bb_compaction *lower);
/* Waits for the thread. NULL is allowed. Call after the lower part is destroyed, which borrows the
 * key. */
void bb_upper_merge_destroy(struct bb_upper_merge *upper);

/* True when the thread has failed: step reports it. */
bool bb_upper_merge_has_failed(const struct bb_upper_merge *upper);
/* Call when the lower part is done, or the thread has failed: waits for the thread, or merges up
 * to entry_count_max entries. Errors: also the thread's. */
BB_MUST_CHECK enum bb_status bb_upper_merge_step(struct bb_upper_merge *upper,
                                                 uint64_t entry_count_max, bool *ret_is_done);

/* True if there was a thread. */
bool bb_upper_merge_had_thread(const struct bb_upper_merge *upper);
/* Borrowed. REQUIRES: no thread is running. */
struct bb_compaction *bb_upper_merge_compaction(const struct bb_upper_merge *upper);

#endif
