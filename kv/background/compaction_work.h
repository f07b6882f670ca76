/* Compaction as background work: picks a compaction, merges in steps, and installs the result.
 * Called by the compacting worker. */
#ifndef BB_KV_BACKGROUND_COMPACTION_WORK_H
#define BB_KV_BACKGROUND_COMPACTION_WORK_H

#include "kv/store.h"

/* Runs a step of the current compaction, or begins the next due compaction. *ret_did is false when
 * there is no work. */
BB_MUST_CHECK enum bb_status bb_store_compact_some(struct bb_db *db, bool *ret_did);

/* Cancels the current compaction: removes its outputs and keeps its inputs. */
void bb_store_abandon_compaction(struct bb_db *db);

/* With threads, called by the flushing worker and by the leader: cancels a running merge or build
 * of an index file after its present step, removes its outputs, and prevents another one until
 * bb_store_end_yield. False: nothing was running, and there is nothing to end. The mutex is not
 * held. */
bool bb_store_begin_yield(struct bb_db *db);
void bb_store_end_yield(struct bb_db *db);

#endif
