/* Waiting for the background work of a store, until Ctrl-C. */
#ifndef BB_TOOLS_STORE_STORE_IDLE_H
#define BB_TOOLS_STORE_STORE_IDLE_H

#include "bb/db.h"

/* Waits until no flush and no compaction is due. After Ctrl-C (interrupt.h) it closes the store,
 * which gives up running merges, sets *db to NULL and returns BB_BUSY. */
BB_MUST_CHECK enum bb_status store_idle_wait(struct bb_db **db);

#endif
