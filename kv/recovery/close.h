/* The end of a store in memory: bb_db_close, and what an opening that failed needs of it. */
#ifndef BB_KV_RECOVERY_CLOSE_H
#define BB_KV_RECOVERY_CLOSE_H

#include "kv/store.h"

/* Releases whatever there is; for a store that was half opened too. REQUIRES: no other thread is in
 * it, and its workers have stopped. The status is that of closing its files. */
BB_MUST_CHECK enum bb_status bb_store_release(struct bb_db *db);

#endif
