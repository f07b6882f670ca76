/* Writing: batches become records of the log and entries of the memtable. */
#ifndef BB_KV_WRITE_COMMIT_H
#define BB_KV_WRITE_COMMIT_H

#include "kv/store.h"

/* Becomes the leader (waiting for it) without a batch: the writer role for freezing. End it with
 * bb_store_release_leader. BB_BUSY: the store is being closed. */
BB_MUST_CHECK enum bb_status bb_store_become_leader(struct bb_db *db, struct bb_commit *commit);
void bb_store_release_leader(struct bb_db *db, struct bb_commit *commit);

/* The leader's: makes the log durable, older ones first, so that nothing newer survives what is
 * older. */
BB_MUST_CHECK enum bb_status bb_store_sync_logs(struct bb_db *db);

#endif
