/* Background work: one worker flushes, another compacts, each in a separate thread. In
 * deterministic mode the leader of the commit queue does both, flushes before compactions, and
 * compacts in steps as the threads do. */
#ifndef BB_KV_BACKGROUND_WORKER_H
#define BB_KV_BACKGROUND_WORKER_H

#include "kv/store/store.h"

void bb_workers_init(struct bb_db *db);
void bb_workers_deinit(struct bb_db *db);

/* Also starts the scrubbing thread, if there is a schedule. */
BB_MUST_CHECK enum bb_status bb_workers_start(struct bb_db *db);
/* Waits for the current pieces of work; cancels the current compaction. */
void bb_workers_stop(struct bb_db *db);

/* Deterministic mode, called by the leader: does all due work. With BB_WORK_FLUSH, a failed
 * compaction ends the work, but is not a failure of the call; the store records it. */
BB_MUST_CHECK enum bb_status bb_workers_do_all(struct bb_db *db, enum bb_work wanted);

#endif
