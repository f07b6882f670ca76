/* See opening.h. docs/durability.md defines the order of calls. */
#include "kv/open/opening.h"

#include <inttypes.h>

#include "base/assert.h"
#include "base/path.h"
#include "base/status.h"
#include "kv/background/edit_install.h"
#include "kv/directory/directory.h"
#include "kv/indexes/store_catalog.h"
#include "kv/manifest/current.h"
#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"
#include "kv/open/set_aside.h"
#include "kv/options.h"
#include "kv/recovery/replay.h"
#include "kv/store/current_view.h"
#include "kv/store/file_number.h"
#include "kv/store/store_options.h"
#include "kv/write/freeze.h"

static enum bb_status make_directory(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    enum bb_status status = bb_directory_check(db->system, db->directory);
    if (status != BB_NOT_FOUND)
        return status;
    if (!db->options.create_if_missing)
        return bb_fail(BB_NOT_FOUND, "%s: no such directory, and create_if_missing is not set",
                       db->directory);
    status = db->system->ops->make_directory(db->system, db->directory);
    opening->made_directory = status == BB_OK;
    /* BB_EXISTS: another process has made it since. */
    return status == BB_EXISTS ? bb_directory_check(db->system, db->directory) : status;
}

static enum bb_status take_lock(struct bb_db *db)
{
    char path[BB_PATH_SIZE_MAX];
    bb_filename_path(db->directory, BB_FILE_LOCK, 0, path);
    return db->system->ops->lock(db->system, path, &db->lock);
}

static enum bb_status rescan(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    bb_directory_deinit(&opening->directory);
    return bb_directory_scan(db->system, db->directory, &opening->directory);
}

/* For a directory without CURRENT: checks that its contents and the options permit creating a
 * store. */
static enum bb_status check_may_create(const struct bb_opening *opening)
{
    const struct bb_db *db = opening->db;
    enum bb_status status = bb_directory_check_new(db->system, db->directory, &opening->directory);
    if (status != BB_OK || db->options.create_if_missing)
        return status;
    return bb_fail(BB_NOT_FOUND,
                   "%s: not a store: there is no CURRENT, and create_if_missing is not set",
                   db->directory);
}

/* Fails if a store exists but must not. A store that waits for space has held the lock since its
 * first attempt: it is the one that exists. */
static enum bb_status check_exists(const struct bb_opening *opening)
{
    const struct bb_db *db = opening->db;
    bool is_first_attempt = db->view == NULL;
    if (!opening->directory.has_current || !db->options.error_if_exists || !is_first_attempt)
        return BB_OK;
    return bb_fail(BB_EXISTS, "%s: is a store already, and error_if_exists is set", db->directory);
}

/* Runs before the lock is taken. An existing store exists whether it is open or not, and a
 * directory that is not and will not become a store gets no lock file. Only names are checked:
 * another process may be creating or removing the store, which would look like damage. */
static enum bb_status check_is_store(struct bb_opening *opening)
{
    enum bb_status status = rescan(opening);
    if (status == BB_OK)
        status = check_exists(opening);
    bool may_be_store = opening->directory.has_current ||
                        bb_directory_has_store_file(&opening->directory) ||
                        opening->db->options.create_if_missing;
    return status == BB_OK && !may_be_store ? check_may_create(opening) : status;
}

/* Creates a store: its identity in a first manifest. */
static enum bb_status create_store(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    struct bb_manifest_state state = {0};
    struct bb_manifest *manifest = NULL;
    uint64_t number = 0;
    enum bb_status status = check_may_create(opening);
    if (status != BB_OK)
        return status;
    status = bb_file_sync_parent(db->system, db->directory); /* sync S1 */
    /* A parent directory that cannot be opened matters only if the directory is new in it. If it
     * can be opened but not synced, the new name may be lost: an attempt that was killed may have
     * made the directory recently. */
    if (status == BB_READ_ONLY && !opening->made_directory)
        status = BB_OK;
    if (status == BB_OK)
        status = bb_manifest_identity_new(db->system, db->options.comparator, db->options.secret,
                                          &state.identity);
    state.has_identity = status == BB_OK;
    if (status == BB_OK)
        status = bb_directory_next_number(db->directory, &opening->directory, &state, &number);
    if (status == BB_OK)
        status = bb_manifest_create(db->system, db->directory, number, &state, &manifest);
    if (status == BB_OK)
        status = bb_manifest_close(manifest);
    bb_manifest_state_deinit(&state);
    return status;
}

static enum bb_status find_or_create(struct bb_opening *opening)
{
    enum bb_status status = rescan(opening);
    if (status == BB_OK)
        status = check_exists(opening);
    if (status != BB_OK || opening->directory.has_current)
        return status;
    status = create_store(opening);
    return status == BB_OK ? rescan(opening) : status;
}

static enum bb_status read_manifest(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    uint64_t next = 0;
    enum bb_status status =
        bb_directory_load_manifest(db->system, db->directory, &opening->directory, &db->options,
                                   &opening->state, &opening->manifest);
    if (status == BB_OK)
        status =
            bb_directory_next_number(db->directory, &opening->directory, &opening->state, &next);
    if (status != BB_OK)
        return status;
    /* Numbers that an earlier attempt used are not used again. */
    if (next < atomic_load(&db->next_file_number))
        next = atomic_load(&db->next_file_number);
    atomic_store(&db->next_file_number, next);
    opening->first_number = next;
    if (db->view != NULL)
        return BB_OK;
    memcpy(db->store_id, opening->state.identity.store_id, sizeof(db->store_id));
    db->secret = opening->state.identity.secret;
    status = bb_store_options_take(db, &opening->state.options);
    if (status != BB_OK)
        return status;
    return bb_store_catalog_load(db, &opening->state.catalog);
}

static enum bb_status open_tables(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    struct bb_levels *empty = NULL;
    struct bb_edit all = {0};
    if (db->view != NULL) { /* waiting for space: the store is unchanged since */
        opening->levels = bb_current_view_ref_levels(db);
        return BB_OK;
    }
    bb_options_for_table(&db->options, db->files, &db->secret, db->cache, &db->table_env.options);
    db->table_env.first_new = atomic_load(&db->next_file_number);
    enum bb_status status = bb_levels_create_empty(db->options.comparator, &empty);
    for (size_t i = 0; i < opening->state.table_count && status == BB_OK; i++)
        status = bb_edit_copy_table(&all, opening->state.tables[i]);
    if (status == BB_OK)
        status = bb_edit_install_levels(db, empty, &all, &opening->levels);
    bb_edit_deinit(&all);
    bb_levels_unref(empty);
    return status;
}

/* True when the store was cleanly closed, with nothing to recover or clean up. Then no file is
 * written before the first write: docs/durability.md, "A cleanly closed store". */
static bool is_at_rest(const struct bb_opening *opening)
{
    const struct bb_manifest_state *state = &opening->state;
    const struct bb_replay_report *replay = &opening->replay;
    uint64_t named_logs = state->log_is_absent ? 0 : 1;
    const struct bb_stored_options *wanted = &opening->db->stored_options;
    return state->is_closed && bb_stored_options_are_equal(&state->options, wanted) &&
           opening->manifest.is_whole && state->log_number != 0 &&
           replay->log_count == named_logs && replay->check.record_count == 0 &&
           replay->dropped.bytes == 0 && replay->cut_count == 0 &&
           bb_directory_is_clean(&opening->directory, state, opening->manifest.number);
}

static enum bb_status create_buffer(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    uint64_t old_log = opening->state.log_is_absent ? 0 : opening->state.log_number;
    enum bb_status status = bb_view_create(&opening->blank);
    if (status != BB_OK)
        return status;
    return opening->is_at_rest
               ? bb_freeze_new_resting_buffer(db, old_log, &opening->buffer)
               : bb_freeze_new_buffer(db, (size_t)db->options.write_buffer_bytes, &opening->buffer);
}

/* Writes the present state to a new manifest. */
static enum bb_status publish_manifest(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    struct bb_edit edit = {0};
    uint64_t number = 0;
    edit.log_is_absent = opening->buffer->log == NULL;
    edit.log_number = opening->buffer->log_number;
    edit.options = db->stored_options;
    opening->is_publishing = true;
    enum bb_status status = bb_file_number_new(db, &number);
    if (status == BB_OK && edit.log_is_absent)
        status = bb_file_number_new(db, &edit.log_number);
    edit.next_file_number = atomic_load(&db->next_file_number);
    if (status == BB_OK)
        status =
            bb_manifest_state_apply(&opening->state, &edit, (struct bb_place){.file = "opening"});
    bb_edit_deinit(&edit);
    if (status == BB_OK)
        status = bb_manifest_create(db->system, db->directory, number, &opening->state,
                                    &opening->manifest_in_force);
    return status;
}

/* The old manifest stays current until the first change. */
static enum bb_status put_manifest_in_place(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    return opening->is_at_rest
               ? bb_manifest_adopt(db->system, db->directory, opening->manifest.number,
                                   &opening->state, &opening->manifest_in_force)
               : publish_manifest(opening);
}

/* Counts of 0 are omitted. */
static enum bb_status append_count(struct bb_buf *text, uint64_t count, const char *of_files)
{
    const char *separator = text->data[text->size - 1] == ':' ? "" : ";";
    const char *files = count == 1 ? "file" : "files";
    return count == 0
               ? BB_OK
               : bb_buf_print(text, "%s %" PRIu64 " %s %s", separator, count, files, of_files);
}

static enum bb_status print_orphans(struct bb_buf *text, const char *directory, uint64_t removed,
                                    const struct bb_directory_report *report)
{
    enum bb_status status = bb_buf_print(text, "%s:", directory);
    if (status == BB_OK)
        status = append_count(text, removed, "removed that nothing referred to");
    if (status == BB_OK)
        status = append_count(text, report->failed, "not removed, since that failed");
    if (status == BB_OK)
        status = append_count(text, report->foreign, "not of the store");
    return status == BB_OK ? bb_buf_append(text, "", 1) : status;
}

static uint64_t window_count(const struct bb_directory *directory)
{
    uint64_t count = 0;
    for (size_t i = 0; i < directory->file_count; i++)
        count += directory->files[i].is.kind == BB_FILE_WINDOW;
    return count;
}

/* The previous manifest, the replayed logs and their windows are always removed; reports everything
 * else. */
static void tell_orphans(const struct bb_opening *opening, const struct bb_directory_report *report)
{
    struct bb_db *db = opening->db;
    struct bb_buf text = {0};
    uint64_t usual = opening->replay.log_count + window_count(&opening->directory) + 1;
    uint64_t removed = report->removed > usual ? report->removed - usual : 0;
    if (removed + report->foreign + report->failed == 0)
        return;
    bb_store_tell(db, &text, print_orphans(&text, db->directory, removed, report));
}

static void remove_orphans(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    struct bb_directory_report report = {0};
    bb_directory_remove_orphans(db->system, db->directory, &opening->directory,
                                bb_manifest_state_of(db->manifest),
                                bb_manifest_number(db->manifest), &report);
    tell_orphans(opening, &report);
}

/* Publishes the recovered state, which is current now. Lookups load the view before the sequence
 * (kv/read/lookup.c). */
static void take_over(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    struct bb_write_buffer *before = db->active;
    uint64_t last = bb_manifest_state_of(opening->manifest_in_force)->last_sequence;
    db->manifest = opening->manifest_in_force;
    bb_edit_install_note_manifest(db);
    db->active = opening->buffer;
    db->sequence_allocated = last;
    bb_mutex_lock(&db->mutex);
    bb_current_view_end(db);
    db->flushed_sequence = last;
    atomic_store_explicit(&db->last_sequence, last, memory_order_release);
    bb_current_view_publish(db, opening->blank, &db->active, 1, opening->levels);
    bb_mutex_unlock(&db->mutex);
    bb_write_buffer_unref(before);
    opening->manifest_in_force = NULL;
    opening->buffer = NULL;
    opening->blank = NULL;
}

enum bb_status bb_opening_prepare(struct bb_opening *opening)
{
    enum bb_status status = make_directory(opening);
    if (status == BB_OK)
        status = check_is_store(opening);
    if (status != BB_OK)
        return status;
    status = take_lock(opening->db);
    opening->made_lock = status == BB_OK && !opening->directory.has_lock;
    return status;
}

enum bb_status bb_opening_recover(struct bb_opening *opening)
{
    BB_DEBUG_ASSERT(opening->db->lock != NULL || opening->db->options.read_only);
    struct bb_db *db = opening->db;
    enum bb_status status = find_or_create(opening);
    if (status == BB_OK)
        status = read_manifest(opening);
    if (status == BB_OK)
        status = open_tables(opening);
    if (status == BB_OK)
        status = bb_replay_logs(db, &opening->directory, &opening->state, &opening->levels,
                                &opening->replay);
    if (status == BB_OK &&
        (!opening->manifest.is_marked || bb_log_check_has_loss(&opening->replay.check)))
        status = bb_set_aside_tables(db, &opening->directory, &opening->state, &opening->manifest,
                                     &opening->tables_set_aside);
    if (status == BB_OK)
        status = bb_replay_keep_cut_logs(db, &opening->replay);
    if (status == BB_OK) {
        opening->is_at_rest = is_at_rest(opening);
        status = create_buffer(opening);
    }
    if (status == BB_OK)
        status = put_manifest_in_place(opening);
    if (status != BB_OK)
        return status;
    take_over(opening);
    remove_orphans(opening);
    return BB_OK;
}

/* True when the manifest that the attempt read is still current. Otherwise, or if that cannot be
 * read after a publication has begun, the attempt's files may be needed. */
static bool is_undone(const struct bb_opening *opening)
{
    const struct bb_db *db = opening->db;
    uint64_t number = 0;
    if (opening->first_number == 0 || !opening->is_publishing)
        return opening->first_number > 0;
    return bb_current_read(db->system, db->directory, &number) == BB_OK &&
           number == opening->manifest.number;
}

/* The unreferenced files of a failed attempt take up space. */
static void remove_attempt(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    if (rescan(opening) != BB_OK)
        return;
    const struct bb_file_names *names = &opening->directory.names;
    for (size_t i = 0; i < names->count; i++) {
        struct bb_filename name = bb_filename_decode(bb_bytes_of_text(names->names[i]));
        if (name.number >= opening->first_number && name.kind != BB_FILE_FOREIGN &&
            name.number < atomic_load(&db->next_file_number))
            bb_filename_remove(db->system, db->directory, name.kind, name.number);
    }
}

bool bb_opening_undo(struct bb_opening *opening)
{
    struct bb_error failure = *bb_error_last();
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

/* The lock is held until the store is released, so no other process has this name's file locked. A
 * process that has opened the file and then locks it finds that it was removed, and fails
 * (base/lock_posix.c). */
void bb_opening_leave(struct bb_opening *opening)
{
    struct bb_db *db = opening->db;
    struct bb_error failure = *bb_error_last();
    if (opening->made_lock)
        bb_filename_remove(db->system, db->directory, BB_FILE_LOCK, 0);
    if (opening->made_directory)
        (void)!db->system->ops->remove_directory(db->system, db->directory);
    (void)bb_error_restore(&failure);
}

void bb_opening_deinit(struct bb_opening *opening)
{
    bb_write_buffer_unref(opening->buffer);
    bb_view_destroy(opening->blank);
    bb_levels_unref(opening->levels);
    bb_manifest_state_deinit(&opening->state);
    bb_directory_deinit(&opening->directory);
    bb_replay_report_deinit(&opening->replay);
}
