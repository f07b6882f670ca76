/* Tracks whether selections use indexes. While they do not, flushes defer their index files
 * (deferred.h).
 *
 * Threads: any; the mutex is not held.
 */
#ifndef BB_KV_INDEXES_INDEX_DEMAND_H
#define BB_KV_INDEXES_INDEX_DEMAND_H

#include "kv/store.h"

/* Notes that a selection uses the store's indexes. */
void bb_index_demand_add(struct bb_db *db);
/* True when a selection has used them since the latest flush began. */
bool bb_index_demand_is_there(const struct bb_db *db);
/* The same for a flush that begins now. */
bool bb_index_demand_take(struct bb_db *db);

#endif
