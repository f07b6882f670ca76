/* Closing a store: bb_db_close, and the cleanup after a failed opening. */
#ifndef BB_KV_OPEN_CLOSE_H
#define BB_KV_OPEN_CLOSE_H

#include "kv/store/store.h"

/* Releases everything, also for a partly opened store. Returns the status of closing its files.
 * REQUIRES: no other thread uses it, and its workers have stopped. */
BB_MUST_CHECK enum bb_status bb_close_release(struct bb_db *db);

#endif
