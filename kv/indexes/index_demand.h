/* Do selections ask for indexes? Flushes put their index files off as long as they do not
 * (deferred.h).
 *
 * Threads: any; the mutex is not held.
 */
#ifndef BB_KV_INDEXES_INDEX_DEMAND_H
#define BB_KV_INDEXES_INDEX_DEMAND_H

#include "kv/store.h"

/* A selection asks for the indexes of the store. */
void bb_index_demand_add(struct bb_db *db);
/* Has any asked since the latest flush began? */
bool bb_index_demand_is_there(const struct bb_db *db);
/* The same for a flush that begins now. */
bool bb_index_demand_take(struct bb_db *db);

#endif
