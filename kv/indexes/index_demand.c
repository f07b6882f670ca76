/* See index_demand.h. */
#include "kv/indexes/index_demand.h"

#include "kv/background/install.h"

void bb_index_demand_add(struct bb_db *db)
{
    if (atomic_exchange(&db->indexes_are_wanted, true))
        return;
    bb_mutex_lock(&db->mutex);
    bb_store_signal_work(db, BB_WORK_COMPACTION);
    bb_mutex_unlock(&db->mutex);
}

bool bb_index_demand_is_there(const struct bb_db *db)
{
    return atomic_load(&db->indexes_are_wanted);
}

bool bb_index_demand_take(struct bb_db *db)
{
    return atomic_exchange(&db->indexes_are_wanted, false);
}
