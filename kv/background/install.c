/* See install.h. */
#include "kv/background/install.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file_limit.h"
#include "base/status.h"
#include "kv/indexes/index_file.h"
#include "kv/manifest/manifest.h"

static void retire(struct bb_db *db, struct bb_view *view)
{
    atomic_fetch_sub(&view->references, 1);
    view->next_retired = db->retired;
    db->retired = view;
}

/* Final for a retired view: its announcements are withdrawn, and new references go only to the
 * current view. */
static bool is_unused(struct bb_db *db, const struct bb_view *view)
{
    return !bb_readers_is_used(&db->readers, view) && atomic_load(&view->references) == 0;
}

/* Unlinks the retired views without readers. The mutex is held. */
static struct bb_view *take_unused(struct bb_db *db)
{
    struct bb_view *unused = NULL;
    struct bb_view **link = &db->retired;
    while (*link != NULL) {
        struct bb_view *view = *link;
        if (!is_unused(db, view)) {
            link = &view->next_retired;
            continue;
        }
        *link = view->next_retired;
        view->next_retired = unused;
        unused = view;
        db->going_views++;
    }
    return unused;
}

/* The mutex is not held: files are closed and removed here. */
static void destroy_views(struct bb_db *db, struct bb_view *view)
{
    size_t count = 0;
    while (view != NULL) {
        struct bb_view *next = view->next_retired;
        bb_view_destroy(view);
        view = next;
        count++;
    }
    if (count == 0)
        return;
    bb_mutex_lock(&db->mutex);
    db->going_views -= count;
    bb_mutex_unlock(&db->mutex);
}

void bb_store_reclaim(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    struct bb_view *unused = take_unused(db);
    bb_mutex_unlock(&db->mutex);
    destroy_views(db, unused);
}

void bb_store_publish(struct bb_db *db, struct bb_view *blank, struct bb_write_buffer *active,
                      struct bb_write_buffer *const *frozen, size_t frozen_count,
                      struct bb_levels *levels)
{
    struct bb_view *old = db->view;
    bb_view_set(blank, active, frozen, frozen_count, levels);
    db->view = blank;
    bb_readers_publish(&db->readers, blank);
    if (old != NULL)
        retire(db, old);
}

static void end_view(struct bb_view *view, uint64_t sequence)
{
    if (atomic_load_explicit(&view->sequence_end, memory_order_relaxed) > sequence)
        atomic_store_explicit(&view->sequence_end, sequence, memory_order_relaxed);
}

void bb_store_end_views(struct bb_db *db)
{
    uint64_t last = atomic_load_explicit(&db->last_sequence, memory_order_acquire);
    if (db->view != NULL)
        end_view(db->view, last);
    for (struct bb_view *view = db->retired; view != NULL; view = view->next_retired)
        end_view(view, last);
}

struct bb_view *bb_store_pin_view(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    struct bb_view *view = db->view;
    atomic_fetch_add(&view->references, 1);
    bb_mutex_unlock(&db->mutex);
    return view;
}

void bb_store_release_view(struct bb_db *db, struct bb_view *view)
{
    bb_mutex_lock(&db->mutex);
    atomic_fetch_sub(&view->references, 1);
    struct bb_view *unused = take_unused(db);
    bb_mutex_unlock(&db->mutex);
    destroy_views(db, unused);
}

struct bb_levels *bb_store_ref_levels(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    struct bb_levels *levels = bb_levels_ref(db->view->levels);
    bb_mutex_unlock(&db->mutex);
    return levels;
}

struct bb_file_system *bb_store_files_of(struct bb_db *db, enum bb_work work)
{
    return db->limit == NULL ? db->system : bb_file_limit_system(db->limit, work == BB_WORK_FLUSH);
}

void bb_store_signal_work(struct bb_db *db, enum bb_work work)
{
    db->workers[work].signals++;
    bb_condvar_signal(&db->workers[work].is_due);
}

void bb_store_fail(struct bb_db *db, enum bb_work work)
{
    struct bb_event event = {
        .kind = BB_EVENT_ERROR, .level = -1, .message = bb_error_last()->message};
    bb_mutex_lock(&db->mutex);
    db->workers[work].failure = *bb_error_last();
    db->workers[work].failed_attempt = db->workers[work].begun_attempts;
    atomic_store(&db->workers[work].is_failing, true);
    bb_condvar_broadcast(&db->work_is_done);
    bb_mutex_unlock(&db->mutex);
    bb_store_event(db, &event);
}

void bb_store_recovered(struct bb_db *db, enum bb_work work)
{
    bb_mutex_lock(&db->mutex);
    bool was_failing = bb_store_is_failing(db, work);
    db->workers[work].failure.status = BB_OK;
    atomic_store(&db->workers[work].is_failing, false);
    if (was_failing)
        bb_condvar_broadcast(&db->work_is_done);
    bb_mutex_unlock(&db->mutex);
}

enum bb_status bb_store_check_open(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool is_closing = db->is_closing;
    bb_mutex_unlock(&db->mutex);
    return is_closing ? bb_fail(BB_BUSY, "the store is being closed") : BB_OK;
}

enum bb_status bb_store_check_merging(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool yields = db->yield_count > 0;
    bb_mutex_unlock(&db->mutex);
    return yields ? bb_fail(BB_BUSY, "a write needs the space") : bb_store_check_open(db);
}

enum bb_status bb_store_begin_call(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool is_closing = db->is_closing;
    db->call_count += !is_closing;
    bb_mutex_unlock(&db->mutex);
    return is_closing ? bb_fail(BB_BUSY, "the store is being closed") : BB_OK;
}

void bb_store_end_call(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    db->call_count--;
    if (db->is_closing)
        bb_condvar_broadcast(&db->work_is_done);
    bb_mutex_unlock(&db->mutex);
}

struct bb_error bb_store_why_not(const struct bb_db *db, const struct bb_error *failure)
{
    if (failure->status == BB_OK && db->is_closing)
        return (struct bb_error){.status = BB_BUSY, .message = "the store is being closed"};
    return *failure;
}

const struct bb_error *bb_store_failure(const struct bb_db *db)
{
    enum bb_work work = bb_store_is_failing(db, BB_WORK_FLUSH) ? BB_WORK_FLUSH : BB_WORK_COMPACTION;
    return &db->workers[work].failure;
}

void bb_store_event(struct bb_db *db, const struct bb_event *event)
{
    if (db->options.on_event != NULL)
        db->options.on_event(db->options.event_context, event);
}

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

/* The table for an edit's addition: a new one, or the moved one. The caller gets a reference. */
static enum bb_status table_of(struct bb_db *db, struct bb_levels *levels,
                               const struct bb_edit_table *added, struct bb_table_file **ret_file)
{
    struct bb_table_file *file = bb_levels_find_number(levels, added->number);
    if (file == NULL)
        return create_table_file(db, added, ret_file);
    *ret_file = bb_table_file_ref(file);
    return BB_OK;
}

enum bb_status bb_store_apply_edit(struct bb_db *db, struct bb_levels *levels,
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

void bb_store_note_manifest(struct bb_db *db)
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

static bool is_moved(const struct bb_edit *edit, uint64_t number)
{
    for (size_t i = 0; i < edit->added_count; i++) {
        if (edit->added[i].number == number)
            return true;
    }
    return false;
}

void bb_store_mark_removed(struct bb_levels *levels, const struct bb_edit *edit)
{
    for (size_t i = 0; i < edit->removed_count; i++) {
        struct bb_table_file *file = bb_levels_find_number(levels, edit->removed[i]);
        if (file != NULL && !is_moved(edit, file->number))
            atomic_store(&file->is_obsolete, true);
    }
}
