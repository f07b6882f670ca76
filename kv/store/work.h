/* State of the two kinds of background work, flushes and compactions: whether work may be due,
 * whether it fails, and the resources that its pieces share. */
#ifndef BB_KV_STORE_WORK_H
#define BB_KV_STORE_WORK_H

#include "kv/store/store.h"

/* Notes that this work may have become due. The mutex is held. */
void bb_work_signal(struct bb_db *db, enum bb_work work);

/* Records that background work has failed, with the calling thread's latest failure. Waiting calls
 * get that failure until later work of this kind succeeds. If a flush failed, writes get it too,
 * because memory would fill up. The mutex is not held. */
void bb_work_fail(struct bb_db *db, enum bb_work work);
/* Records that such work has succeeded. The mutex is not held. */
void bb_work_succeed(struct bb_db *db, enum bb_work work);

/* The failure of either kind of work; its status is BB_OK without a failure. The mutex is held. */
const struct bb_error *bb_work_failure(const struct bb_db *db);
static inline bool bb_work_is_failing(const struct bb_db *db, enum bb_work work)
{
    return db->workers[work].failure.status != BB_OK;
}

/* The file system for a worker's new tables: the store's, under the limit on writing. */
struct bb_file_system *bb_work_file_system(struct bb_db *db, enum bb_work work);

/* Called by a worker. The sequences of the live snapshots, as from bb_snapshots_list. */
BB_MUST_CHECK enum bb_status bb_work_list_snapshots(struct bb_db *db, uint64_t **ret_snapshots,
                                                    size_t *ret_count);

/* Called by a worker after the work whose filters were planned is installed, or cancelled. */
void bb_work_end_pending(struct bb_db *db, enum bb_work work);

#endif
