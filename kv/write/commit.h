/* Writing: batches become records of the log and entries of the memtable. */
#ifndef BB_KV_WRITE_COMMIT_H
#define BB_KV_WRITE_COMMIT_H

#include "kv/store/store.h"

/* Becomes the leader without a batch, to freeze; waits if necessary. End with
 * bb_commit_release_leader. Errors: BB_BUSY when the store is being closed. */
BB_MUST_CHECK enum bb_status bb_commit_become_leader(struct bb_db *db, struct bb_commit *commit);
void bb_commit_release_leader(struct bb_db *db, struct bb_commit *commit);

/* Called by the leader. Makes the log durable, older logs first, so that no newer write survives an
 * older one. */
BB_MUST_CHECK enum bb_status bb_commit_sync_logs(struct bb_db *db);

#endif
