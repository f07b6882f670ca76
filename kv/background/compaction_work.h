/* Compaction as a piece of background work: what to merge is picked, merged in steps, and
 * installed. The compacting worker's. */
#ifndef BB_KV_BACKGROUND_COMPACTION_WORK_H
#define BB_KV_BACKGROUND_COMPACTION_WORK_H

#include "kv/store.h"

/* Takes a step of the compaction in progress, or begins the one that is due. *ret_did is false when
 * none is. */
BB_MUST_CHECK enum bb_status bb_store_compact_some(struct bb_db *db, bool *ret_did);

/* Gives up the compaction in progress; its outputs are removed, its inputs stay. */
void bb_store_abandon_compaction(struct bb_db *db);

/* Threads, the flushing worker's: when a merge is under way, it is abandoned, its outputs are removed,
 * and no other begins before bb_store_end_yield. False: there was none, and nothing to end. */
bool bb_store_begin_yield(struct bb_db *db);
void bb_store_end_yield(struct bb_db *db);

#endif
