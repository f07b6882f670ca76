/* Background work: flush before compaction, a compaction in steps, so that a frozen memtable never
 * waits for a whole one. Done by the store's thread, or in deterministic mode by the leader of the
 * commit queue. */
#ifndef BB_KV_WORKER_H
#define BB_KV_WORKER_H

#include "kv/store.h"

BB_MUST_CHECK enum bb_status bb_store_start_worker(struct bb_db *db);
/* Waits for the piece of work in hand; a compaction in progress is abandoned. */
void bb_store_stop_worker(struct bb_db *db);

/* Work may have become due. The mutex is held. */
void bb_store_signal_work(struct bb_db *db);

/* Deterministic mode, the leader's: does all work that is due. */
BB_MUST_CHECK enum bb_status bb_store_work_all(struct bb_db *db);

#endif
