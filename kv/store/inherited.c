/* See inherited.h. */
#include "kv/store/inherited.h"

#include "base/file_pool.h"
#include "base/status.h"
#include "kv/background/scrubber.h"
#include "sstable/block/block_cache.h"

enum bb_status bb_store_fail_inherited(const struct bb_db *db)
{
    return bb_fail(
        BB_INVALID,
        "%s: was opened by process %ld, and this is process %ld, which a fork made: a "
        "store does not go through fork; open it here, once process %ld has closed it or "
        "with read_only",
        db->directory, db->process_id, bb_process_id(), db->process_id);
}

/* The data that a mutex guards is consistent when the mutex is free. */
static bool are_mutexes_free(struct bb_db *db)
{
    return bb_mutex_is_free(&db->commits.mutex) && bb_mutex_is_free(&db->installing) &&
           bb_mutex_is_free(&db->mutex) && bb_mutex_is_free(&db->spare.mutex) &&
           bb_mutex_is_free(&db->table_env.mutex) && bb_mutex_is_free(&db->table_env.pages.mutex) &&
           bb_file_pool_is_free(db->pool) &&
           (db->cache == NULL || bb_block_cache_is_free(db->cache));
}

/* True when no write and no waiting call is running. */
static bool are_calls_done(const struct bb_db *db)
{
    return db->commits.head == NULL && db->commits.waiting == 0 && !db->commits.is_closed &&
           db->call_count == 0 && !db->is_closing && db->range_requests == NULL;
}

/* A worker that has handled every signal waits for the next one, or frees views, which are
 * counted. */
static bool are_workers_idle(const struct bb_db *db)
{
    bool is_idle = db->compaction == NULL && db->going_views == 0 && bb_scrubber_is_idle(db);
    for (enum bb_work work = 0; work < BB_WORK_COUNT; work++) {
        const struct bb_worker *worker = &db->workers[work];
        is_idle = is_idle && (!worker->has_thread || worker->answered == worker->signals);
    }
    return is_idle;
}

/* True when only the store has the current view, and no thread has an older one. */
static bool are_views_unused(const struct bb_db *db)
{
    bool are_unused = db->view != NULL && atomic_load(&db->view->references) == 1;
    for (const struct bb_view *view = db->retired; view != NULL; view = view->next_retired)
        are_unused = are_unused && atomic_load(&view->references) == 0;
    return are_unused;
}

/* Lookups, iterators, snapshots, pinned values: releasing them later would need the store. */
static bool are_readers_gone(struct bb_db *db)
{
    return bb_readers_are_gone(&db->readers) && bb_readers_pinned_values(&db->readers) == 0 &&
           atomic_load(&db->iterator_count) == 0 && db->snapshots.count == 0 &&
           are_views_unused(db);
}

bool bb_store_was_still(struct bb_db *db)
{
    return are_mutexes_free(db) && are_calls_done(db) && are_workers_idle(db) &&
           are_readers_gone(db);
}
