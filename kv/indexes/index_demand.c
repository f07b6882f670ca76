/* See index_demand.h. */
#include "kv/indexes/index_demand.h"

#include "kv/store/work.h"

void bb_index_demand_add(struct bb_db *db)
{
    atomic_store(&db->flush_builds_indexes, true);
    if (atomic_exchange(&db->worker_builds_indexes, true))
        return;
    bb_mutex_lock(&db->mutex);
    bb_work_signal(db, BB_WORK_COMPACTION);
    bb_mutex_unlock(&db->mutex);
}
