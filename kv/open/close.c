/* Closes a store. docs/durability.md defines the order of calls. */
#include "kv/open/close.h"

#include "base/alloc.h"
#include "base/file_limit.h"
#include "base/file_pool.h"
#include "base/status.h"
#include "kv/admin/maintain.h"
#include "kv/background/range_request.h"
#include "kv/background/scrubber.h"
#include "kv/background/worker.h"
#include "kv/indexes/catalog.h"
#include "kv/manifest/manifest.h"
#include "kv/memtable/memtable.h"
#include "kv/open/close_note.h"
#include "kv/store/current_view.h"
#include "kv/store/inherited.h"
#include "kv/store/presence.h"
#include "kv/write/commit.h"
#include "sstable/block/block_cache.h"

/* After a close at most this many bytes of keys and values must be replayed: about 10 ms. */
#define REPLAY_BYTES_MAX (UINT64_C(1) << 20)

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
    return bb_commit_queue_is_still(&db->commits) && db->call_count == 0 && !db->is_closing &&
           db->range_requests == NULL;
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

/* For an inherited store: true when no thread was changing or using it at the fork. Then it is
 * consistent, and may be released. Never waits. */
static bool was_still(struct bb_db *db)
{
    return are_mutexes_free(db) && are_calls_done(db) && are_workers_idle(db) &&
           are_readers_gone(db);
}

/* The current view is unused, and no other thread exists: releases all views, buffers and
 * levels. */
static void release_views(struct bb_db *db)
{
    if (db->view != NULL) {
        atomic_fetch_sub(&db->view->references, 1);
        bb_view_destroy(db->view);
        db->view = NULL;
    }
    bb_current_view_reclaim(db);
    bb_write_buffer_unref(db->active);
    db->active = NULL;
    bb_spare_memtable_deinit(&db->spare);
}

enum bb_status bb_close_release(struct bb_db *db)
{
    release_views(db);
    bb_orphans_deinit(&db->orphans);
    bb_range_requests_deinit(db);
    bb_catalog_unref(db->catalog);
    enum bb_status status = bb_manifest_close(db->manifest);
    bb_table_file_env_deinit(&db->table_env);
    if (db->cache != NULL)
        bb_block_cache_destroy(db->cache);
    if (db->readers.slots != NULL)
        bb_readers_deinit(&db->readers);
    if (db->lock != NULL) {
        enum bb_status unlocked = db->system->ops->unlock(db->system, db->lock);
        status = status == BB_OK ? unlocked : status;
    }
    bb_file_limit_destroy(db->limit);
    bb_file_pool_destroy(db->pool);
    bb_file_system_posix_destroy(db->own_system);
    bb_commit_queue_deinit(&db->commits);
    bb_workers_deinit(db);
    bb_condvar_deinit(&db->work_is_done);
    bb_mutex_deinit(&db->installing);
    bb_mutex_deinit(&db->mutex);
    bb_free(db->directory);
    bb_free(db);
    return status;
}

static enum bb_status check_unused(struct bb_db *db)
{
    size_t iterators = atomic_load(&db->iterator_count);
    bb_mutex_lock(&db->mutex);
    size_t snapshots = db->snapshots.count;
    bb_mutex_unlock(&db->mutex);
    size_t values = (size_t)bb_readers_pinned_values(&db->readers);
    if (iterators + snapshots + values == 0)
        return BB_OK;
    return bb_fail(BB_BUSY, "%s: still open are iterators: %zu, snapshots: %zu, pinned values: %zu",
                   db->directory, iterators, snapshots, values);
}

/* Notifies calls that wait for workers, and waits until they have returned. */
static void wait_for_calls(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    while (db->call_count > 0)
        bb_condvar_wait(&db->work_is_done, &db->mutex);
    bb_mutex_unlock(&db->mutex);
}

/* The size of the data that the next opening would replay. */
static uint64_t memtable_bytes(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    uint64_t bytes = 0;
    for (size_t i = 0; i < db->view->buffer_count; i++)
        bytes += bb_memtable_raw_bytes(db->view->buffers[i]->memtable);
    bb_mutex_unlock(&db->mutex);
    return bytes;
}

static enum bb_status flush_at_close(struct bb_db *db)
{
    bool is_log_there = true;
    if (db->options.read_only || atomic_load(&db->resume) != NULL)
        return BB_OK;
    enum bb_status status = bb_presence_find_log(db, &is_log_there);
    if (status != BB_OK)
        return status;
    bb_file_limit_lift(db->limit);
    /* Flushes to a table when no log can make the data durable: logging is off, or the log has
     * failed or was removed. */
    if (db->options.wal_off || db->is_log_failed || !is_log_there)
        return bb_maintain_flush_led(db);
    /* Otherwise the flush only saves the next opening work; the logs have the data too. */
    if (memtable_bytes(db) > REPLAY_BYTES_MAX)
        (void)!bb_maintain_flush_led(db);
    return BB_OK;
}

/* Called by the last leader: earlier writes are done, later ones are refused. */
static enum bb_status close_led(struct bb_db *db, struct bb_commit *commit)
{
    bb_commit_queue_close(&db->commits, commit);
    enum bb_status status = flush_at_close(db);
    struct bb_error failure = *bb_error_last();
    bb_workers_stop(db);
    wait_for_calls(db);
    if (status != BB_OK)
        return bb_error_restore(&failure);
    status = bb_commit_sync_logs(db); /* sync S9 */
    if (status == BB_OK)
        status = bb_presence_check(db);
    return status == BB_OK ? bb_close_note_write(db) : status;
}

/* The store belongs to the opening process: do not write, sync, unlock, join or wait. If a thread
 * of that process was inside the store, or anything is still open, its memory is kept until the
 * process ends. */
static enum bb_status leave_inherited(struct bb_db *db)
{
    if (was_still(db))
        (void)!bb_close_release(db); /* an inherited file refuses some work by design */
    return BB_OK;
}

enum bb_status bb_db_close(struct bb_db *db)
{
    struct bb_commit commit;
    if (db == NULL)
        return BB_OK;
    if (bb_store_is_inherited(db))
        return leave_inherited(db);
    enum bb_status status = check_unused(db);
    if (status == BB_OK)
        status = bb_commit_become_leader(db, &commit);
    if (status != BB_OK)
        return status;
    status = close_led(db, &commit);
    struct bb_error failure = *bb_error_last();
    bb_commit_release_leader(db, &commit);
    enum bb_status released = bb_close_release(db);
    return status == BB_OK ? released : bb_error_restore(&failure);
}
