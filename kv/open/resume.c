/* See resume.h. */
#include "kv/open/resume.h"

#include "base/status.h"
#include "kv/background/worker.h"
#include "kv/manifest/current.h"
#include "kv/manifest/filename.h"
#include "kv/open/opening.h"
#include "kv/readonly/read_only.h"
#include "kv/store/current_view.h"
#include "kv/write/commit.h"

/* True when the manifest that the attempt read is still current. Otherwise the attempt has
 * published, and its files may be needed. */
static bool is_undone(const struct bb_opening *opening)
{
    const struct bb_db *db = opening->db;
    uint64_t number = 0;
    return opening->first_number > 0 &&
           bb_current_read(db->system, db->directory, &number) == BB_OK &&
           number == opening->manifest.number;
}

/* The unreferenced files of a failed attempt take up space. */
static void remove_attempt(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    bb_directory_deinit(&opening->directory);
    opening->directory = (struct bb_directory){0};
    if (bb_directory_scan(db->system, db->directory, &opening->directory) != BB_OK)
        return;
    const struct bb_name_list *names = &opening->directory.names;
    for (size_t i = 0; i < names->count; i++) {
        struct bb_filename name = bb_filename_decode(bb_bytes_of_text(names->names[i]));
        struct bb_buf path = {0};
        if (name.number >= opening->first_number && name.kind != BB_FILE_FOREIGN &&
            name.number < atomic_load(&db->next_file_number) &&
            bb_filename_path(db->directory, name.kind, name.number, &path) == BB_OK)
            (void)!db->system->ops->remove(db->system, (const char *)path.data);
        bb_buf_deinit(&path);
    }
}

bool bb_opening_undo(struct bb_opening *opening)
{
    struct bb_error failure = *bb_error_last();
    if (opening->buffer != NULL)
        bb_write_buffer_unref(opening->buffer);
    opening->buffer = NULL;
    bb_levels_unref(opening->levels);
    opening->levels = NULL;
    bool undone = is_undone(opening);
    if (undone)
        remove_attempt(opening);
    (void)bb_error_restore(&failure);
    return undone;
}

static enum bb_status try_again(struct bb_db *db)
{
    struct bb_opening opening = {.db = db};
    enum bb_status status = db->manifest == NULL ? bb_opening_recover(&opening) : BB_OK;
    if (status != BB_OK && !bb_opening_undo(&opening))
        status = bb_fail(BB_READ_ONLY, "%s: open the store again, since its opening failed: %s",
                         db->directory, bb_error_last()->message);
    struct bb_error failure = *bb_error_last();
    bb_opening_deinit(&opening);
    if (status != BB_OK)
        return bb_error_restore(&failure);
    bb_current_view_reclaim(db);
    status = bb_store_start_workers(db);
    if (status == BB_OK) {
        atomic_store_explicit(&db->resume, NULL, memory_order_release);
        return BB_OK;
    }
    bb_mutex_lock(&db->mutex);
    db->is_closing = false; /* they were stopped; the next call starts them */
    bb_mutex_unlock(&db->mutex);
    return status;
}

/* REQUIRES: the caller does not lead the commit queue. */
static enum bb_status resume(struct bb_db *db)
{
    struct bb_commit commit;
    enum bb_status status = bb_store_become_leader(db, &commit);
    if (status != BB_OK)
        return status;
    if (atomic_load(&db->resume) != NULL)
        status = try_again(db);
    struct bb_error failure = *bb_error_last();
    bb_store_release_leader(db, &commit);
    return status == BB_OK ? BB_OK : bb_error_restore(&failure);
}

enum bb_status bb_store_wait_for_space(struct bb_db *db)
{
    struct bb_error failure = *bb_error_last();
    struct bb_event event = {.kind = BB_EVENT_ERROR, .level = -1};
    enum bb_status status = bb_read_only_start(db);
    if (status != BB_OK)
        return bb_error_restore(&failure);
    atomic_store_explicit(&db->resume, resume, memory_order_release);
    (void)!bb_fail(BB_NO_SPACE, "%s: open only for reading until there is space: %s", db->directory,
                   failure.message);
    event.message = bb_error_last()->message;
    bb_store_event(db, &event);
    return BB_OK;
}
