/* See edit_install.h. */
#include "kv/background/edit_install.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "kv/indexes/index_file.h"
#include "kv/manifest/manifest.h"
#include "kv/store/current_view.h"
#include "kv/store/file_number.h"
#include "kv/store/work.h"

/* Includes the index file, if there is one. */
static enum bb_status create_table_file(struct bb_db *db, const struct bb_edit_table *added,
                                        struct bb_table_file **ret_file)
{
    struct bb_table_file *file = NULL;
    struct bb_companion *index = NULL;
    enum bb_status status =
        bb_table_file_create(&db->table_env, added->number, &added->meta, &file);
    if (status != BB_OK)
        return status;
    if (added->index_number != 0)
        status = bb_index_file_create(db, added->index_number, added->meta.table_id, &index);
    if (status != BB_OK) {
        bb_table_file_unref(file);
        return status;
    }
    bb_table_file_set_companion(file, index);
    *ret_file = file;
    return BB_OK;
}

/* The table for an edit's addition: a new one, or the moved one. The caller gets a reference. WHY
 * the ids are compared: if a backup has replaced the directory of a read-only store, new tables may
 * have the numbers of old ones. */
static enum bb_status table_of(struct bb_db *db, struct bb_levels *levels,
                               const struct bb_edit_table *added, struct bb_table_file **ret_file)
{
    struct bb_table_file *file = bb_levels_find_number(levels, added->number);
    if (file == NULL || !bb_edit_table_is_same(added, &file->meta))
        return create_table_file(db, added, ret_file);
    *ret_file = bb_table_file_ref(file);
    return BB_OK;
}

enum bb_status bb_edit_install_levels(struct bb_db *db, struct bb_levels *levels,
                                      const struct bb_edit *edit, struct bb_levels **ret_levels)
{
    size_t count = 0;
    enum bb_status status = BB_OK;
    struct bb_level_change *changes = bb_alloc_zeroed(edit->added_count + 1, sizeof(*changes));
    if (changes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an edit of %zu tables", edit->added_count);
    for (size_t i = 0; i < edit->added_count && status == BB_OK; i++) {
        changes[i].level = edit->added[i].level;
        changes[i].run = edit->added[i].run;
        status = table_of(db, levels, &edit->added[i], &changes[i].file);
        count += status == BB_OK;
    }
    if (status == BB_OK)
        status =
            bb_levels_apply(levels, edit->removed, edit->removed_count, changes, count, ret_levels);
    for (size_t i = 0; i < count; i++)
        bb_table_file_unref(changes[i].file);
    bb_free(changes);
    return status;
}

void bb_edit_install_note_manifest(struct bb_db *db)
{
    bool is_usable = !bb_manifest_is_poisoned(db->manifest);
    uint64_t number = is_usable ? bb_manifest_number(db->manifest) : 0;
    bb_mutex_lock(&db->mutex);
    if (db->manifest_number != number)
        atomic_store(&db->is_manifest_damaged, false);
    db->manifest_number = number;
    db->manifest_durable = bb_manifest_durable(db->manifest);
    bb_mutex_unlock(&db->mutex);
}

static enum bb_status rotate_manifest(struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->installing));
    uint64_t number = 0;
    enum bb_status status = bb_file_number_new(db, &number);
    if (status == BB_OK)
        status = bb_manifest_rotate(db->manifest, number);
    bb_edit_install_note_manifest(db);
    return status;
}

enum bb_status bb_edit_install_replace_manifest(struct bb_db *db)
{
    enum bb_status status = BB_OK;
    bb_mutex_lock(&db->installing);
    if (bb_manifest_is_poisoned(db->manifest)) {
        status = rotate_manifest(db);
        /* The new manifest is current, and has no record of them. */
        if (status == BB_OK)
            bb_orphans_remove(&db->orphans, &db->table_env);
    }
    bb_mutex_unlock(&db->installing);
    return status;
}

static enum bb_status append_edit(struct bb_db *db, struct bb_edit *edit)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->installing));
    enum bb_status status = bb_manifest_is_due(db->manifest) ? rotate_manifest(db) : BB_OK;
    if (status != BB_OK)
        return status;
    /* Read last, because a rotation also takes a number. */
    edit->next_file_number = atomic_load(&db->next_file_number);
    status = bb_manifest_append(db->manifest, edit);
    bb_edit_install_note_manifest(db);
    return status;
}

static void show(struct bb_db *db, struct bb_view *blank, struct bb_levels *levels,
                 const struct bb_write_buffer *flushed, uint64_t sequence)
{
    struct bb_write_buffer *buffers[1 + BB_FROZEN_MAX];
    size_t count = 0;
    bb_mutex_lock(&db->mutex);
    for (size_t i = 0; i < db->view->buffer_count; i++) {
        if (db->view->buffers[i] != flushed)
            buffers[count++] = db->view->buffers[i];
    }
    if (flushed != NULL) {
        db->flushed_sequence = flushed->sequence_end;
        bb_pace_flushed(&db->pace, db->system->ops->now(db->system));
        bb_work_signal(db, BB_WORK_COMPACTION);
    }
    if (sequence != 0)
        bb_current_view_end(db);
    bb_current_view_publish(db, blank, buffers, count, levels);
    /* Set under the mutex together with the view, so that a snapshot gets both old or both new
     * values. Set after the view: see kv/read/lookup.c. */
    if (sequence != 0) {
        db->flushed_sequence = sequence;
        atomic_store_explicit(&db->last_sequence, sequence, memory_order_release);
        bb_work_signal(db, BB_WORK_COMPACTION);
    }
    bb_condvar_broadcast(&db->work_is_done);
    bb_mutex_unlock(&db->mutex);
}

/* Handles a failed edit. Unless its record was begun, its tables are certainly unreferenced. */
static void disown(struct bb_db *db, const struct bb_edit *edit, const struct bb_levels *levels)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->installing));
    bb_orphans_add(&db->orphans, edit, levels);
    if (!bb_manifest_is_poisoned(db->manifest))
        bb_orphans_remove(&db->orphans, &db->table_env);
}

/* A moved table keeps its index file, which may have been replaced since the move was planned. */
static void keep_indexes(const struct bb_levels *levels, struct bb_edit *edit)
{
    for (size_t i = 0; i < edit->added_count; i++) {
        struct bb_table_file *file = bb_levels_find_number(levels, edit->added[i].number);
        if (file != NULL && edit->added[i].index_number == 0)
            edit->added[i].index_number = bb_table_file_companion_number(file);
    }
}

static bool is_moved(const struct bb_edit *edit, uint64_t number)
{
    for (size_t i = 0; i < edit->added_count; i++) {
        if (edit->added[i].number == number)
            return true;
    }
    return false;
}

/* Marks the tables that an edit removes for good: their files are removed with their last
 * reference. REQUIRES: the edit is durable. */
static void mark_removed(struct bb_levels *levels, const struct bb_edit *edit)
{
    for (size_t i = 0; i < edit->removed_count; i++) {
        struct bb_table_file *file = bb_levels_find_number(levels, edit->removed[i]);
        if (file != NULL && !is_moved(edit, file->number))
            atomic_store(&file->is_obsolete, true);
    }
}

/* Before the flush is visible, so that the call that waits for it returns after this. */
static void count_flush(struct bb_db *db, const struct bb_edit *edit)
{
    if (edit->added_count == 0)
        return;
    bb_mutex_lock(&db->mutex);
    db->counts.flushes++;
    db->counts.flush_bytes_written += edit->added[0].meta.file_size;
    bb_mutex_unlock(&db->mutex);
}

/* REQUIRES: the levels are the current view's. */
static enum bb_status install_on(struct bb_db *db, struct bb_levels *old, struct bb_edit *edit,
                                 struct bb_write_buffer *flushed, uint64_t sequence)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->installing));
    struct bb_levels *levels = NULL;
    struct bb_view *blank = NULL;
    enum bb_status status = bb_edit_install_levels(db, old, edit, &levels);
    if (status == BB_OK)
        status = bb_view_create(&blank);
    if (status == BB_OK && edit->added_count > 0)
        status = db->system->ops->sync_directory(db->system, db->directory); /* sync S11 */
    if (status == BB_OK)
        status = append_edit(db, edit);
    if (status != BB_OK) {
        bb_view_destroy(blank);
        bb_levels_unref(levels);
        disown(db, edit, old);
        return status;
    }
    mark_removed(old, edit);
    if (flushed != NULL)
        count_flush(db, edit);
    show(db, blank, levels, flushed, sequence);
    bb_levels_unref(levels);
    return BB_OK;
}

enum bb_status bb_edit_install_placed(struct bb_db *db, struct bb_edit *edit,
                                      const struct bb_placing *placing)
{
    bb_mutex_lock(&db->installing);
    struct bb_levels *levels = bb_current_view_ref_levels(db);
    enum bb_status status =
        placing->place == NULL ? BB_OK : placing->place(placing->context, levels, edit);
    if (status == BB_OK && !placing->drops_index)
        keep_indexes(levels, edit);
    if (status == BB_OK)
        status = install_on(db, levels, edit, placing->flushed, placing->sequence);
    if (status == BB_OK && placing->placed != NULL)
        placing->placed(placing->context);
    if (status == BB_OK && placing->share != NULL)
        bb_waste_share_end(&db->shares, placing->share);
    bb_levels_unref(levels);
    bb_mutex_unlock(&db->installing);
    if (status == BB_OK)
        bb_current_view_reclaim(db);
    return status;
}

enum bb_status bb_edit_install(struct bb_db *db, struct bb_edit *edit)
{
    const struct bb_placing placing = {.place = NULL};
    return bb_edit_install_placed(db, edit, &placing);
}
