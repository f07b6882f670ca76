/* Makes a second store from the tables of this one, while this one is in use.
 *
 *     flush                    earlier writes get into tables
 *     a view of the tables     held to the end: none of their files is removed
 *     directory, links         each table under its number (a copy where files cannot be linked)
 *     manifest, CURRENT        last: before that the directory cannot be opened as a store
 *
 * A checkpoint in two calls cannot flush: the first call determines the state, and must not wait.
 * It holds the view and the sequence, and the second call writes the memtables of the view to
 * tables of the new store (kv/admin/checkpoint_table.h).
 *
 * Tables never change, so both stores can share them. The manifest, logs and id are separate; the
 * id differs, so that a log of one store is never used for the other. Threads: any.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/status.h"
#include "bb/db_files.h"
#include "kv/admin/checkpoint_table.h"
#include "kv/indexes/store_catalog.h"
#include "kv/manifest/edit.h"
#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"
#include "kv/store/call.h"
#include "kv/store/current_view.h"
#include "kv/store/file_number.h"
#include "kv/store/inherited.h"
#include "kv/store/store.h"

struct bb_checkpoint {
    struct bb_db *db;
    struct bb_view *view; /* with a reference */
    uint64_t sequence;    /* later entries do not belong to the checkpoint */
};

/* The checkpoint as it is made. */
struct checkpoint {
    struct bb_db *db;
    struct bb_file_system *fs;
    const char *directory; /* the new store's */
    const struct bb_view *view;
    bool takes_memtables;
    /* Everything up to it is in tables. */
    uint64_t sequence;
    /* The snapshot of the manifest. It names the tables and index files in the directory; the last
     * ones may be incomplete. Its log is never begun. */
    struct bb_edit edit;
    /* Above the numbers of all tables; 0: not allocated yet. */
    uint64_t manifest_number;
};

static void remove_file(struct checkpoint *c, enum bb_file_kind kind, uint64_t number)
{
    bb_filename_remove(c->fs, c->directory, kind, number);
}

/* ---- tables ---- */

static enum bb_status add_file(struct checkpoint *c, enum bb_file_kind kind, uint64_t number)
{
    char from[BB_PATH_SIZE_MAX];
    char to[BB_PATH_SIZE_MAX];
    bb_filename_path(c->db->directory, kind, number, from);
    bb_filename_path(c->directory, kind, number, to);
    enum bb_status status = c->fs->ops->link(c->fs, from, to);
    if (status == BB_UNSUPPORTED)
        status = bb_file_copy_synced(c->fs, from, to); /* sync S18 */
    return status;
}

/* Adds the index file of the table that was added last. It is held while the directory is filled,
 * so that its name exists. A missing one is omitted, as in the original store, and so is a
 * directory with its name. */
static enum bb_status add_index(struct checkpoint *c, struct bb_table_file *table)
{
    struct bb_companion *index = bb_table_file_companion(table);
    if (index == NULL)
        return BB_OK;
    /* Named first, because a failed copy leaves part of the file. */
    bb_edit_set_index(&c->edit, index->number);
    enum bb_status status = add_file(c, BB_FILE_INDEX, index->number);
    bb_companion_unref(index);
    if (status != BB_NOT_FOUND && status != BB_INVALID)
        return status;
    bb_edit_set_index(&c->edit, 0);
    return BB_OK;
}

static enum bb_status add_run(struct checkpoint *c, int level, const struct bb_run *run)
{
    enum bb_status status = BB_OK;
    uint64_t number = level == 0 ? 0 : run->number;
    for (size_t i = 0; i < run->count && status == BB_OK; i++) {
        struct bb_table_file *file = run->files[i];
        status = bb_edit_add_table(&c->edit, level, number, file->number, &file->meta);
        if (status == BB_OK)
            status = add_file(c, BB_FILE_TABLE, file->number);
        if (status == BB_OK)
            status = add_index(c, file);
    }
    return status;
}

static enum bb_status add_tables(struct checkpoint *c)
{
    const struct bb_levels *levels = c->view->levels;
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < levels->turn_count && status == BB_OK; i++)
        status = add_run(c, levels->turns[i].level, levels->turns[i].run);
    return status;
}

/* ---- memtables ---- */

static enum bb_status write_memtable(struct checkpoint *c, const struct bb_write_buffer *buffer)
{
    struct bb_table_meta meta = {0};
    char path[BB_PATH_SIZE_MAX];
    uint64_t number = 0;
    bool is_written = false;
    enum bb_status status = bb_file_number_new(c->db, &number);
    if (status != BB_OK)
        return status;
    bb_filename_path(c->directory, BB_FILE_TABLE, number, path);
    status =
        bb_checkpoint_table_write(c->db, buffer->memtable, c->sequence, path, &meta, &is_written);
    if (is_written)
        status = bb_edit_add_table(&c->edit, 0, 0, number, &meta);
    if (status != BB_OK)
        remove_file(c, BB_FILE_TABLE, number);
    bb_table_meta_deinit(&meta);
    return status;
}

/* Before the manifest gets its number, which is above every number of a table. */
static enum bb_status write_memtables(struct checkpoint *c)
{
    enum bb_status status = BB_OK;
    if (!c->takes_memtables)
        return BB_OK;
    for (size_t i = c->view->buffer_count; i > 0 && status == BB_OK; i--)
        status = write_memtable(c, c->view->buffers[i - 1]);
    return status;
}

/* ---- manifest ---- */

/* At least the sequence of every entry in the tables, and of every write before the call: a write
 * without effect, such as an empty range deletion, is in no table. */
static uint64_t last_sequence(const struct checkpoint *c)
{
    uint64_t sequence = c->sequence;
    for (size_t i = 0; i < c->edit.added_count; i++) {
        uint64_t max = c->edit.added[i].meta.sequence_max;
        sequence = max > sequence ? max : sequence;
    }
    return sequence;
}

/* An index file may have got its number after the manifest. */
static uint64_t number_max(const struct checkpoint *c)
{
    uint64_t max = c->manifest_number;
    for (size_t i = 0; i < c->edit.added_count; i++) {
        uint64_t number = c->edit.added[i].index_number;
        max = number > max ? number : max;
    }
    return max;
}

static enum bb_status describe_catalog(struct checkpoint *c)
{
    struct bb_buf bytes = {0};
    struct bb_catalog *catalog = bb_store_catalog_ref(c->db);
    enum bb_status status = bb_catalog_encode(catalog, &bytes);
    if (status == BB_OK && bytes.size > 0)
        status = bb_edit_set_catalog(&c->edit, bb_buf_bytes(&bytes));
    bb_catalog_unref(catalog);
    bb_buf_deinit(&bytes);
    return status;
}

static enum bb_status describe(struct checkpoint *c)
{
    struct bb_edit *edit = &c->edit;
    edit->has_identity = true;
    edit->last_sequence = last_sequence(c);
    edit->log_is_absent = true;
    edit->next_file_number = number_max(c) + 1;
    edit->options = c->db->stored_options;
    enum bb_status status =
        bb_manifest_identity_new(c->fs, c->db->options.comparator, &c->db->secret, &edit->identity);
    return status == BB_OK ? describe_catalog(c) : status;
}

static enum bb_status write_manifest(struct checkpoint *c)
{
    struct bb_manifest_state state = {0};
    enum bb_status status = describe(c);
    if (status == BB_OK)
        status =
            bb_manifest_state_apply(&state, &c->edit, (struct bb_place){.file = "a checkpoint"});
    if (status == BB_OK)
        status = bb_manifest_write(c->fs, c->directory, c->manifest_number, true, &state);
    bb_manifest_state_deinit(&state);
    return status;
}

/* ---- the checkpoint ---- */

/* Removes the created files, if possible; the latest failure is kept. */
static enum bb_status clear_away(struct checkpoint *c)
{
    struct bb_error failure = *bb_error_last();
    remove_file(c, BB_FILE_CURRENT, 0);
    remove_file(c, BB_FILE_TEMPORARY, c->manifest_number);
    remove_file(c, BB_FILE_MANIFEST, c->manifest_number);
    for (size_t i = 0; i < c->edit.added_count; i++) {
        remove_file(c, BB_FILE_TABLE, c->edit.added[i].number);
        remove_file(c, BB_FILE_INDEX, c->edit.added[i].index_number);
    }
    (void)!c->fs->ops->remove_directory(c->fs, c->directory);
    return bb_error_restore(&failure);
}

static enum bb_status fill_directory(struct checkpoint *c)
{
    enum bb_status status = write_memtables(c);
    if (status == BB_OK)
        status = bb_file_number_new(c->db, &c->edit.log_number);
    if (status == BB_OK)
        status = bb_file_number_new(c->db, &c->manifest_number);
    if (status == BB_OK)
        status = bb_file_sync_parent(c->fs, c->directory); /* sync S17 */
    if (status == BB_OK)
        status = add_tables(c);
    if (status == BB_OK)
        status = write_manifest(c);
    if (status != BB_OK)
        status = clear_away(c);
    bb_edit_deinit(&c->edit);
    return status;
}

static enum bb_status make_and_fill(struct checkpoint *c)
{
    enum bb_status status = c->fs->ops->make_directory(c->fs, c->directory);
    struct bb_error failure = *bb_error_last();
    if (status == BB_EXISTS)
        return bb_fail(BB_EXISTS, "%s; a checkpoint makes its own directory: give another path",
                       failure.message);
    return status == BB_OK ? fill_directory(c) : status;
}

static enum bb_status flush_and_fill(struct bb_db *db, const char *directory)
{
    struct checkpoint c = {.db = db, .fs = db->system, .directory = directory};
    c.sequence = atomic_load_explicit(&db->last_sequence, memory_order_acquire);
    enum bb_status status = bb_db_flush(db);
    if (status != BB_OK)
        return status;
    struct bb_view *view = bb_current_view_pin(db);
    c.view = view;
    status = make_and_fill(&c);
    bb_current_view_unpin(db, view);
    return status;
}

/* WHY this counts as a call around the flush, which is also one: closing waits for the whole
 * checkpoint. */
enum bb_status bb_db_checkpoint(struct bb_db *db, const char *directory)
{
    enum bb_status status = bb_path_check_directory(directory, "the checkpoint's directory");
    if (status == BB_OK)
        status = bb_call_begin_change(db, "a checkpoint");
    if (status != BB_OK)
        return status;
    status = flush_and_fill(db, directory);
    bb_call_end(db);
    return status;
}

/* ---- in two calls ---- */

enum bb_status bb_checkpoint_create(struct bb_db *db, struct bb_checkpoint **ret_checkpoint)
{
    enum bb_status status = bb_call_check_change(db, "a checkpoint");
    if (status != BB_OK)
        return status;
    struct bb_checkpoint *checkpoint = bb_alloc_zeroed(1, sizeof(*checkpoint));
    if (checkpoint == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a checkpoint");
    atomic_fetch_add(&db->iterator_count, 1);
    checkpoint->db = db;
    /* The view must be loaded before the sequence: see lookup.c. */
    checkpoint->view = bb_current_view_pin(db);
    checkpoint->sequence = bb_view_sequence(checkpoint->view, &db->last_sequence);
    *ret_checkpoint = checkpoint;
    return BB_OK;
}

enum bb_status bb_checkpoint_write(struct bb_checkpoint *checkpoint, const char *directory)
{
    struct bb_db *db = checkpoint->db;
    struct checkpoint c = {.db = db,
                           .fs = db->system,
                           .directory = directory,
                           .view = checkpoint->view,
                           .takes_memtables = true,
                           .sequence = checkpoint->sequence};
    enum bb_status status = bb_path_check_directory(directory, "the checkpoint's directory");
    if (status == BB_OK)
        status = bb_call_check_change(db, "a checkpoint");
    return status == BB_OK ? make_and_fill(&c) : status;
}

void bb_checkpoint_destroy(struct bb_checkpoint *checkpoint)
{
    if (checkpoint == NULL || bb_store_is_inherited(checkpoint->db))
        return;
    struct bb_db *db = checkpoint->db;
    bb_current_view_unpin(db, checkpoint->view);
    bb_free(checkpoint);
    /* This must be last: a thread that sees the lower count may close the store. */
    atomic_fetch_sub(&db->iterator_count, 1);
}
