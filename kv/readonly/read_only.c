/* See read_only.h. */
#include "kv/readonly/read_only.h"

#include "base/assert.h"
#include "kv/options.h"
#include "kv/readonly/read_only_snapshot.h"
#include "kv/store/current_view.h"
#include "kv/store/inherited.h"
#include "kv/write/commit.h"

/* A snapshot is only valid for the state in which it was taken: the writer does not know the
 * readers' snapshots. The mutex is held. */
static enum bb_status check_snapshots(const struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    if (db->snapshots.count == 0)
        return BB_OK;
    return bb_fail(BB_BUSY,
                   "%s: %zu snapshots are open, which would not be readable in a newer "
                   "state",
                   db->directory, db->snapshots.count);
}

/* WHY the sequence is set before the view: lookups load the view first (kv/read/lookup.c). A lookup
 * with the old view sees the old state, because that view has an end. A lookup with the new view,
 * whose merges may have dropped versions for the old sequence, has the new sequence. */
static enum bb_status show(struct bb_db *db, struct bb_read_only_snapshot *snapshot,
                           struct bb_view *blank)
{
    bb_mutex_lock(&db->mutex);
    enum bb_status status = check_snapshots(db);
    if (status == BB_OK) {
        bb_current_view_end(db); /* the old view may share the buffer */
        atomic_store_explicit(&db->last_sequence, snapshot->last_sequence, memory_order_release);
        db->sequence_allocated = snapshot->last_sequence;
        bb_current_view_publish(db, blank, &snapshot->buffer, 1, snapshot->levels);
    }
    bb_mutex_unlock(&db->mutex);
    return status;
}

/* Installs the read-only snapshot as the store's view, and takes it on success. */
static enum bb_status install(struct bb_db *db, struct bb_read_only_snapshot *snapshot)
{
    struct bb_view *blank = NULL;
    enum bb_status status = bb_view_create(&blank);
    if (status == BB_OK)
        status = show(db, snapshot, blank);
    if (status != BB_OK) {
        bb_view_destroy(blank);
        return status;
    }
    bb_write_buffer_unref(db->active);
    db->active = snapshot->buffer;
    snapshot->buffer = NULL;
    bb_read_only_snapshot_deinit(snapshot);
    bb_current_view_reclaim(db);
    return BB_OK;
}

static enum bb_status take_and_install(struct bb_db *db)
{
    /* Only the caller replaces the view. */
    struct bb_read_only_snapshot before = {.levels = db->view == NULL ? NULL : db->view->levels,
                                           .buffer = db->active};
    struct bb_read_only_snapshot snapshot = {0};
    enum bb_status status = bb_read_only_snapshot_take(db, &before, &snapshot);
    if (status == BB_OK)
        status = install(db, &snapshot);
    if (status != BB_OK)
        bb_read_only_snapshot_deinit(&snapshot);
    return status;
}

enum bb_status bb_read_only_start(struct bb_db *db)
{
    bb_options_for_table(&db->options, db->files, &db->secret, db->cache, &db->table_env.options);
    return take_and_install(db);
}

enum bb_status bb_db_refresh(struct bb_db *db)
{
    struct bb_commit commit;
    enum bb_status status = bb_inherited_check(db);
    if (status != BB_OK || !db->options.read_only)
        return status;
    bb_mutex_lock(&db->mutex);
    status = check_snapshots(db);
    bb_mutex_unlock(&db->mutex);
    if (status == BB_OK) /* one refresh runs at a time */
        status = bb_commit_become_leader(db, &commit);
    if (status != BB_OK)
        return status;
    status = take_and_install(db);
    bb_commit_release_leader(db, &commit);
    return status;
}
