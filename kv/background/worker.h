/* Background work: one worker flushes, one compacts, each in a thread of its own. In deterministic
 * mode the leader of the commit queue does both, flush before compaction, and a compaction in steps
 * as the threads do it. */
#ifndef BB_KV_BACKGROUND_WORKER_H
#define BB_KV_BACKGROUND_WORKER_H

#include "kv/store.h"

void bb_store_init_workers(struct bb_db *db);
void bb_store_deinit_workers(struct bb_db *db);

/* With the scrubbing thread, if there is a schedule. */
BB_MUST_CHECK enum bb_status bb_store_start_workers(struct bb_db *db);
/* Waits for the pieces of work in hand; a compaction in progress is abandoned. */
void bb_store_stop_workers(struct bb_db *db);

/* Deterministic mode, the leader's: does all work that is due. wanted BB_WORK_FLUSH: a compaction
 * that fails ends the work, and is no failure of the call; it is recorded in the store. */
BB_MUST_CHECK enum bb_status bb_store_work_all(struct bb_db *db, enum bb_work wanted);

#endif
