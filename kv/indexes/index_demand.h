/* Tracks whether selections use indexes. While they do not, flushes defer their index files
 * (deferred.h).
 *
 * A selection makes two requests: to the next flush, to build the file of its table, and to the
 * compacting worker, to build the deferred files. Each request has a flag. The flush clears its
 * flag once its table is installed. The worker clears its flag before it looks for tables.
 *
 * Threads: any; the mutex is not held.
 */
#ifndef BB_KV_INDEXES_INDEX_DEMAND_H
#define BB_KV_INDEXES_INDEX_DEMAND_H

#include "kv/store/store.h"

/* Notes that a selection uses the store's indexes, and wakes the worker. */
void bb_index_demand_add(struct bb_db *db);

/* Whether the store builds the index files that tables of this level lack. Below level 0 it does so
 * if compactions defer them. */
static inline bool bb_index_demand_has_level(const struct bb_db *db, int level)
{
    return level == 0 || db->options.defer_index_files;
}

static inline bool bb_index_demand_is_of_flush(const struct bb_db *db)
{
    return atomic_load(&db->flush_builds_indexes);
}

/* For a flush that built its file and is installed. */
static inline void bb_index_demand_clear_flush(struct bb_db *db)
{
    atomic_store(&db->flush_builds_indexes, false);
}

/* Before the worker looks for deferred files, so that a later demand is kept. */
static inline bool bb_index_demand_take_worker(struct bb_db *db)
{
    return atomic_exchange(&db->worker_builds_indexes, false);
}

/* For a worker that has more to build. */
static inline void bb_index_demand_keep_worker(struct bb_db *db)
{
    atomic_store(&db->worker_builds_indexes, true);
}

#endif
