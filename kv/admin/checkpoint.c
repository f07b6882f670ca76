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

/* A table that was written for the checkpoint. */
struct own_table {
    uint64_t number;
    struct bb_table_meta meta;
};

/* The checkpoint as it is made. */
struct checkpoint {
    struct bb_db *db;
    struct bb_file_system *fs;
    const char *directory; /* the new store's */
    const struct bb_view *view;
    const struct bb_levels *levels; /* the view's */
    bool takes_memtables;
    /* Everything up to it is in tables. */
    uint64_t sequence;
    /* The memtables of the view, oldest first. */
    struct own_table own[BB_FROZEN_MAX + 1];
    size_t own_count;
    /* Of a log that is never begun; 0: not allocated yet. */
    uint64_t log_number;
    /* Above the numbers of all tables; 0: not allocated yet. */
    uint64_t manifest_number;
    uint64_t *index_numbers; /* of the index files added, perhaps partly; owned */
    size_t index_count;
};

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

/* Adds the table's present index file. It is held while the directory is filled, so that its name
 * exists. A missing one is omitted, as in the original store. */
static enum bb_status add_index(struct checkpoint *c, struct bb_table_file *table,
                                struct bb_edit *edit)
{
    struct bb_companion *index = bb_table_file_companion(table);
    if (index == NULL)
        return BB_OK;
    /* Listed first, because a failed copy leaves part of the file. */
    c->index_numbers[c->index_count++] = index->number;
    enum bb_status status = add_file(c, BB_FILE_INDEX, index->number);
    if (status == BB_OK)
        bb_edit_set_index(edit, index->number);
    bb_companion_unref(index);
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status add_tables(struct checkpoint *c)
{
    enum bb_status status = BB_OK;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(c->levels, level) && status == BB_OK; i++)
            status = add_file(c, BB_FILE_TABLE, bb_levels_table(c->levels, level, i)->number);
    }
    return status;
}

/* ---- memtables ---- */

static enum bb_status write_memtable(struct checkpoint *c, const struct bb_write_buffer *buffer)
{
    struct own_table *own = &c->own[c->own_count];
    char path[BB_PATH_SIZE_MAX];
    bool is_written = false;
    enum bb_status status = bb_file_number_new(c->db, &own->number);
    if (status != BB_OK)
        return status;
    bb_filename_path(c->directory, BB_FILE_TABLE, own->number, path);
    status = bb_checkpoint_table_write(c->db, buffer->memtable, c->sequence, path, &own->meta,
                                       &is_written);
    c->own_count += is_written;
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

static enum bb_status describe_own(const struct checkpoint *c, struct bb_edit *edit)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < c->own_count && status == BB_OK; i++)
        status = bb_edit_add_table(edit, 0, 0, c->own[i].number, &c->own[i].meta);
    return status;
}

static void release_own(struct checkpoint *c)
{
    for (size_t i = 0; i < c->own_count; i++)
        bb_table_meta_deinit(&c->own[i].meta);
}

/* ---- manifest ---- */

/* At least the sequence of every entry in the tables, and of every write before the call: a write
 * without effect, such as an empty range deletion, is in no table. */
static uint64_t last_sequence(const struct checkpoint *c)
{
    uint64_t sequence = c->sequence;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(c->levels, level); i++) {
            uint64_t max = bb_levels_table(c->levels, level, i)->meta.sequence_max;
            sequence = max > sequence ? max : sequence;
        }
    }
    return sequence;
}

static enum bb_status describe_run(struct checkpoint *c, struct bb_edit *edit, int level,
                                   const struct bb_run *run)
{
    enum bb_status status = BB_OK;
    uint64_t number = level == 0 ? 0 : run->number;
    for (size_t i = 0; i < run->count && status == BB_OK; i++) {
        struct bb_table_file *file = run->files[i];
        status = bb_edit_add_table(edit, level, number, file->number, &file->meta);
        if (status == BB_OK)
            status = add_index(c, file, edit);
    }
    return status;
}

static enum bb_status describe_catalog(struct checkpoint *c, struct bb_edit *edit)
{
    struct bb_buf bytes = {0};
    struct bb_catalog *catalog = bb_store_catalog_ref(c->db);
    enum bb_status status = bb_catalog_encode(catalog, &bytes);
    if (status == BB_OK && bytes.size > 0)
        status = bb_edit_set_catalog(edit, bb_buf_bytes(&bytes));
    bb_catalog_unref(catalog);
    bb_buf_deinit(&bytes);
    return status;
}

static enum bb_status describe(struct checkpoint *c, struct bb_edit *edit)
{
    enum bb_status status =
        bb_manifest_identity_new(c->fs, c->db->options.comparator, &c->db->secret, &edit->identity);
    edit->has_identity = true;
    edit->last_sequence = last_sequence(c);
    edit->options = c->db->stored_options;
    for (size_t i = 0; i < c->levels->turn_count && status == BB_OK; i++)
        status = describe_run(c, edit, c->levels->turns[i].level, c->levels->turns[i].run);
    if (status == BB_OK)
        status = describe_own(c, edit);
    return status == BB_OK ? describe_catalog(c, edit) : status;
}

/* An index file may have got its number after the manifest. */
static uint64_t number_max(const struct checkpoint *c)
{
    uint64_t max = c->manifest_number;
    for (size_t i = 0; i < c->index_count; i++)
        max = c->index_numbers[i] > max ? c->index_numbers[i] : max;
    return max;
}

static enum bb_status write_manifest(struct checkpoint *c)
{
    struct bb_edit edit = {0};
    struct bb_manifest_state state = {0};
    enum bb_status status = describe(c, &edit);
    edit.log_number = c->log_number;
    edit.log_is_absent = true;
    edit.next_file_number = number_max(c) + 1;
    if (status == BB_OK)
        status = bb_manifest_state_apply(&state, &edit, (struct bb_place){.file = "a checkpoint"});
    if (status == BB_OK)
        status = bb_manifest_write(c->fs, c->directory, c->manifest_number, true, &state);
    bb_manifest_state_deinit(&state);
    bb_edit_deinit(&edit);
    return status;
}

/* ---- the checkpoint ---- */

static void remove_file(struct checkpoint *c, enum bb_file_kind kind, uint64_t number)
{
    if (number != 0 || kind == BB_FILE_CURRENT)
        bb_filename_remove(c->fs, c->directory, kind, number);
}

/* Removes the created files, if possible; the latest failure is kept. */
static enum bb_status clear_away(struct checkpoint *c)
{
    struct bb_error failure = *bb_error_last();
    remove_file(c, BB_FILE_CURRENT, 0);
    remove_file(c, BB_FILE_TEMPORARY, c->manifest_number);
    remove_file(c, BB_FILE_MANIFEST, c->manifest_number);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(c->levels, level); i++)
            remove_file(c, BB_FILE_TABLE, bb_levels_table(c->levels, level, i)->number);
    }
    for (size_t i = 0; i < c->own_count; i++)
        remove_file(c, BB_FILE_TABLE, c->own[i].number);
    for (size_t i = 0; i < c->index_count; i++)
        remove_file(c, BB_FILE_INDEX, c->index_numbers[i]);
    (void)!c->fs->ops->remove_directory(c->fs, c->directory);
    return bb_error_restore(&failure);
}

static enum bb_status reserve_indexes(struct checkpoint *c)
{
    size_t count = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        count += bb_levels_table_count(c->levels, level);
    c->index_numbers = bb_alloc_zeroed(count + 1, sizeof(*c->index_numbers));
    return c->index_numbers != NULL ? BB_OK
                                    : bb_fail(BB_NO_MEMORY, "no memory for %zu numbers", count);
}

static enum bb_status fill_directory(struct checkpoint *c)
{
    c->levels = c->view->levels;
    enum bb_status status = reserve_indexes(c);
    if (status == BB_OK)
        status = write_memtables(c);
    if (status == BB_OK)
        status = bb_file_number_new(c->db, &c->log_number);
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
    bb_free(c->index_numbers);
    release_own(c);
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
