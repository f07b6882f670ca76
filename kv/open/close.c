/* Closes a store. docs/durability.md defines the order of calls. */
#include "kv/open/close.h"

#include "base/alloc.h"
#include "base/file_limit.h"
#include "base/file_pool.h"
#include "base/status.h"
#include "kv/admin/maintain.h"
#include "kv/background/install.h"
#include "kv/background/range_request.h"
#include "kv/background/worker.h"
#include "kv/indexes/catalog.h"
#include "kv/manifest/manifest.h"
#include "kv/memtable/memtable.h"
#include "kv/open/close_note.h"
#include "kv/store/inherited.h"
#include "kv/store/presence.h"
#include "kv/write/commit.h"

/* After a close at most this many bytes of keys and values must be replayed: about 10 ms. */
#define REPLAY_BYTES_MAX (UINT64_C(1) << 20)

/* The current view is unused, and no other thread exists: releases all views, buffers and
 * levels. */
static void release_views(struct bb_db *db)
{
    if (db->view != NULL) {
        atomic_fetch_sub(&db->view->references, 1);
        bb_view_destroy(db->view);
        db->view = NULL;
    }
    bb_store_reclaim(db);
    if (db->active != NULL)
        bb_write_buffer_unref(db->active);
    db->active = NULL;
    bb_spare_memtable_deinit(&db->spare);
}

enum bb_status bb_store_release(struct bb_db *db)
{
    release_views(db);
    bb_orphans_deinit(&db->orphans);
    bb_range_requests_deinit(db);
    bb_catalog_unref(db->catalog);
    enum bb_status status = bb_manifest_close(db->manifest);
    bb_table_env_deinit(&db->table_env);
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
    if (db->owns_system)
        bb_file_system_posix_destroy(db->system);
    bb_commit_queue_deinit(&db->commits);
    bb_store_deinit_workers(db);
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
    return bb_fail(BB_BUSY, "%s: %zu iterators, %zu snapshots and %zu pinned values are still open",
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
    uint64_t bytes = bb_memtable_raw_bytes(db->view->active->memtable);
    for (size_t i = 0; i < db->view->frozen_count; i++)
        bytes += bb_memtable_raw_bytes(db->view->frozen[i]->memtable);
    bb_mutex_unlock(&db->mutex);
    return bytes;
}

static enum bb_status flush_at_close(struct bb_db *db)
{
    bool is_log_there = true;
    if (db->options.read_only || atomic_load(&db->resume) != NULL)
        return BB_OK;
    enum bb_status status = bb_store_find_log(db, &is_log_there);
    if (status != BB_OK)
        return status;
    bb_file_limit_lift(db->limit);
    /* Flushes to a table when no log can make the data durable: logging is off, or the log has
     * failed or was removed. */
    if (db->options.wal_off || db->is_log_failed || !is_log_there)
        return bb_store_flush_led(db);
    /* Otherwise the flush only saves the next opening work; the logs have the data too. */
    if (memtable_bytes(db) > REPLAY_BYTES_MAX)
        (void)!bb_store_flush_led(db);
    return BB_OK;
}

/* Called by the last leader: earlier writes are done, later ones are refused. */
static enum bb_status close_led(struct bb_db *db, struct bb_commit *commit)
{
    bb_commit_queue_close(&db->commits, commit);
    enum bb_status status = flush_at_close(db);
    struct bb_error failure = *bb_error_last();
    bb_store_stop_workers(db);
    wait_for_calls(db);
    if (status != BB_OK)
        return bb_error_restore(&failure);
    status = bb_store_sync_logs(db); /* sync S9 */
    if (status == BB_OK)
        status = bb_store_check_present(db);
    return status == BB_OK ? bb_close_note_write(db) : status;
}

/* The store belongs to the opening process: do not write, sync, unlock, join or wait. If a thread
 * of that process was inside the store, or anything is still open, its memory is kept until the
 * process ends. */
static enum bb_status leave_inherited(struct bb_db *db)
{
    if (bb_store_was_still(db))
        (void)!bb_store_release(db); /* an inherited file refuses some work by design */
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
        status = bb_store_become_leader(db, &commit);
    if (status != BB_OK)
        return status;
    status = close_led(db, &commit);
    struct bb_error failure = *bb_error_last();
    bb_store_release_leader(db, &commit);
    enum bb_status released = bb_store_release(db);
    return status == BB_OK ? released : bb_error_restore(&failure);
}
