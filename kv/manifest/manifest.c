/* See manifest.h. manifest_read.c has the reading. */
#include "kv/manifest/manifest.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/comparator.h"
#include "kv/manifest/current.h"
#include "kv/manifest/filename.h"
#include "kv/wal/wal_writer.h"

/* A new manifest is due when the edits after the snapshot have more than ROTATE_BYTES and are
 * ROTATE_SNAPSHOTS times larger than it. Rewriting then costs at most a quarter of the appended
 * bytes, and reading at most five times the snapshot. */
#define ROTATE_BYTES     ((uint64_t)256 * 1024)
#define ROTATE_SNAPSHOTS 4

struct bb_manifest {
    struct bb_file_system *fs;
    char *directory; /* owned */
    uint64_t number;
    struct bb_wal_writer *log; /* owned; NULL: another process's, never written */
    uint64_t snapshot_size;    /* of the log when it had only the snapshot */
    struct bb_manifest_state state;
    struct bb_error poison; /* BB_OK if not poisoned */
};

enum bb_status bb_manifest_identity_new(struct bb_file_system *fs,
                                        const struct bb_comparator *comparator,
                                        const struct bb_hash_secret *secret,
                                        struct bb_store_identity *ret_identity)
{
    struct bb_store_identity identity = {.format_version = BB_STORE_FORMAT_VERSION};
    const char *name = bb_comparator_name(comparator);
    size_t name_size = strlen(name);
    if (name_size == 0 || name_size > BB_COMPARATOR_NAME_SIZE_MAX)
        return bb_fail(BB_INVALID, "the comparator's name has %zu bytes, allowed are 1 to %d",
                       name_size, BB_COMPARATOR_NAME_SIZE_MAX);
    memcpy(identity.comparator, name, name_size);
    enum bb_status status = fs->ops->random(fs, identity.store_id, sizeof(identity.store_id));
    if (status == BB_OK && secret == NULL)
        status = fs->ops->random(fs, identity.secret.bytes, sizeof(identity.secret.bytes));
    if (status == BB_OK && secret != NULL)
        identity.secret = *secret;
    if (status == BB_OK)
        *ret_identity = identity;
    return status;
}

enum bb_status bb_manifest_check_comparator(const char *directory,
                                            const struct bb_store_identity *identity,
                                            const struct bb_comparator *comparator)
{
    const char *given = bb_comparator_name(comparator);
    if (strcmp(identity->comparator, given) == 0)
        return BB_OK;
    return bb_fail(BB_INVALID,
                   "%s: the store was created with comparator \"%s\", and was opened with \"%s\"",
                   directory, identity->comparator, given);
}

/* Appends the whole state as one edit, which borrows its tables and the catalog from the state. */
static enum bb_status encode_snapshot(const struct bb_manifest_state *state,
                                      uint64_t next_file_number, struct bb_buf *buf)
{
    struct bb_edit edit = {
        .has_identity = true,
        .identity = state->identity,
        .next_file_number = next_file_number,
        .last_sequence = state->last_sequence,
        .log_number = state->log_number,
        .log_is_absent = state->log_is_absent,
        .has_catalog = state->catalog.size > 0,
        .catalog = state->catalog,
        .options = state->options,
        .added_count = state->table_count,
    };
    edit.added = bb_alloc_zeroed(state->table_count + 1, sizeof(*edit.added));
    if (edit.added == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a snapshot of %zu tables", state->table_count);
    for (size_t i = 0; i < state->table_count; i++)
        edit.added[i] = *state->tables[i];
    enum bb_status status = bb_edit_encode(&edit, buf);
    bb_free(edit.added);
    return status;
}

/* Closes a log whose end does not matter, and keeps the message with the reason. */
static void abandon(struct bb_wal_writer *log)
{
    struct bb_error first = *bb_error_last();
    if (bb_wal_writer_close(log) != BB_OK && first.status != BB_OK)
        (void)bb_error_restore(&first);
}

/* Creates a file with the snapshot, synced. */
static enum bb_status write_snapshot(struct bb_file_system *fs, const char *directory,
                                     uint64_t number, struct bb_bytes snapshot,
                                     const struct bb_store_identity *identity,
                                     struct bb_wal_writer **ret_log)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_wal_writer *log = NULL;
    bb_filename_path(directory, BB_FILE_MANIFEST, number, path);
    enum bb_status status =
        bb_wal_writer_create(fs, path, bb_manifest_log_number(number), identity->store_id, 0, &log);
    if (status == BB_OK)
        status = bb_wal_writer_append(log, &snapshot, 1);
    if (status == BB_OK)
        status = bb_wal_writer_sync(log); /* sync S2 */
    if (status == BB_OK)
        status = bb_wal_writer_mark(log);
    if (status == BB_OK) {
        *ret_log = log;
    } else if (log != NULL) {
        abandon(log);
        bb_filename_remove(fs, directory, BB_FILE_MANIFEST, number);
    }
    return status;
}

/* On a full disk each attempt would leave a manifest. If CURRENT names it, or cannot be read, it
 * may be needed. */
static void remove_unpublished(struct bb_file_system *fs, const char *directory, uint64_t number)
{
    uint64_t current = 0;
    struct bb_error failure = *bb_error_last();
    enum bb_status status = bb_current_read(fs, directory, &current);
    if ((status == BB_OK && current != number) || status == BB_NOT_FOUND) {
        bb_filename_remove(fs, directory, BB_FILE_TEMPORARY, number);
        bb_filename_remove(fs, directory, BB_FILE_MANIFEST, number);
    }
    (void)bb_error_restore(&failure);
}

/* Writes the state to a new manifest and makes it current. On success the state's next file number
 * is above the manifest's. */
static enum bb_status write_and_publish(struct bb_file_system *fs, const char *directory,
                                        uint64_t number, struct bb_manifest_state *state,
                                        struct bb_wal_writer **ret_log)
{
    struct bb_buf snapshot = {0};
    struct bb_wal_writer *log = NULL;
    uint64_t next = state->next_file_number > number ? state->next_file_number : number + 1;
    enum bb_status status = encode_snapshot(state, next, &snapshot);
    if (status == BB_OK)
        status =
            write_snapshot(fs, directory, number, bb_buf_bytes(&snapshot), &state->identity, &log);
    bb_buf_deinit(&snapshot);
    if (status != BB_OK)
        return status;
    status = bb_current_publish(fs, directory, number);
    if (status != BB_OK) {
        abandon(log);
        remove_unpublished(fs, directory, number);
        return status;
    }
    state->next_file_number = next;
    *ret_log = log;
    return BB_OK;
}

/* Creates a manifest object without a state and without a log. */
static enum bb_status create_blank(struct bb_file_system *fs, const char *directory,
                                   uint64_t number, struct bb_manifest **ret_manifest)
{
    BB_ASSERT(number > 0 && number <= BB_FILE_NUMBER_MAX);
    struct bb_manifest *manifest = bb_alloc_zeroed(1, sizeof(*manifest));
    char *copy = bb_strdup(directory);
    if (manifest == NULL || copy == NULL) {
        bb_free(copy);
        bb_free(manifest);
        return bb_fail(BB_NO_MEMORY, "%s: no memory for its manifest", directory);
    }
    manifest->fs = fs;
    manifest->directory = copy;
    manifest->number = number;
    *ret_manifest = manifest;
    return BB_OK;
}

static void take_state(struct bb_manifest *manifest, struct bb_manifest_state *state)
{
    manifest->state = *state;
    *state = (struct bb_manifest_state){0};
}

enum bb_status bb_manifest_create(struct bb_file_system *fs, const char *directory, uint64_t number,
                                  struct bb_manifest_state *state,
                                  struct bb_manifest **ret_manifest)
{
    BB_ASSERT(state->has_identity);
    struct bb_manifest *manifest = NULL;
    enum bb_status status = create_blank(fs, directory, number, &manifest);
    if (status != BB_OK)
        return status;
    status = write_and_publish(fs, directory, number, state, &manifest->log);
    if (status != BB_OK) {
        bb_free(manifest->directory);
        bb_free(manifest);
        return status;
    }
    manifest->snapshot_size = bb_wal_writer_size(manifest->log);
    take_state(manifest, state);
    *ret_manifest = manifest;
    return BB_OK;
}

enum bb_status bb_manifest_adopt(struct bb_file_system *fs, const char *directory, uint64_t number,
                                 struct bb_manifest_state *state, struct bb_manifest **ret_manifest)
{
    BB_ASSERT(state->has_identity);
    enum bb_status status = create_blank(fs, directory, number, ret_manifest);
    if (status == BB_OK)
        take_state(*ret_manifest, state);
    return status;
}

enum bb_status bb_manifest_close(struct bb_manifest *manifest)
{
    if (manifest == NULL)
        return BB_OK;
    enum bb_status status = BB_OK;
    if (bb_manifest_is_poisoned(manifest))
        abandon(manifest->log); /* its failure was reported before */
    else
        status = bb_wal_writer_close(manifest->log);
    bb_manifest_state_deinit(&manifest->state);
    bb_free(manifest->directory);
    bb_free(manifest);
    return status;
}

const struct bb_manifest_state *bb_manifest_state_of(const struct bb_manifest *manifest)
{
    return &manifest->state;
}

uint64_t bb_manifest_number(const struct bb_manifest *manifest)
{
    return manifest->number;
}

uint64_t bb_manifest_durable(const struct bb_manifest *manifest)
{
    return manifest->log == NULL ? 0 : bb_wal_writer_durable(manifest->log);
}

bool bb_manifest_is_poisoned(const struct bb_manifest *manifest)
{
    return manifest->poison.status != BB_OK;
}

static enum bb_status poison(struct bb_manifest *manifest, enum bb_status status)
{
    if (!bb_manifest_is_poisoned(manifest))
        manifest->poison = *bb_error_last();
    return status;
}

static enum bb_status stage(struct bb_manifest *manifest, const struct bb_edit *edit,
                            struct bb_manifest_change *ret_change)
{
    struct bb_place place = {.file = "a new edit"};
    enum bb_status status = bb_manifest_state_stage(&manifest->state, edit, place, ret_change);
    if (status == BB_CORRUPT) /* the disk is fine; the caller's edit is not */
        return bb_fail(BB_INVALID, "MANIFEST-%06" PRIu64 " refuses %s", manifest->number,
                       bb_error_last()->message);
    return status;
}

/* The mark distinguishes damage of this record from a record that was never synced. */
static enum bb_status append_durably(struct bb_wal_writer *log, struct bb_bytes record)
{
    enum bb_status status = bb_wal_writer_append(log, &record, 1);
    if (status == BB_OK)
        status = bb_wal_writer_sync(log); /* sync S12 */
    if (status == BB_OK)
        status = bb_wal_writer_mark(log);
    return status;
}

enum bb_status bb_manifest_append(struct bb_manifest *manifest, const struct bb_edit *edit)
{
    struct bb_buf record = {0};
    struct bb_manifest_change change = {0};
    if (bb_manifest_is_poisoned(manifest))
        return bb_fail(BB_READ_ONLY, "MANIFEST-%06" PRIu64 " takes no more edits since: %s",
                       manifest->number, manifest->poison.message);
    BB_ASSERT(manifest->log != NULL);
    enum bb_status status = stage(manifest, edit, &change);
    if (status != BB_OK)
        return status;
    status = bb_edit_encode(edit, &record);
    if (status == BB_OK) {
        status = append_durably(manifest->log, bb_buf_bytes(&record));
        if (status != BB_OK)
            (void)poison(manifest, status);
    }
    if (status == BB_OK)
        bb_manifest_state_commit(&manifest->state, &change);
    else
        bb_manifest_state_drop(&change);
    bb_buf_deinit(&record);
    return status;
}

enum bb_status bb_manifest_note_close(struct bb_manifest *manifest,
                                      const struct bb_wal_end *log_ends, size_t log_end_count)
{
    struct bb_edit edit = {.is_close = true};
    struct bb_buf bytes = {0};
    enum bb_status status = BB_OK;
    if (bb_manifest_is_poisoned(manifest) || manifest->log == NULL)
        return BB_OK;
    for (size_t i = 0; i < log_end_count && status == BB_OK; i++)
        status = bb_edit_add_log_end(&edit, &log_ends[i]);
    if (status == BB_OK)
        status = bb_edit_encode(&edit, &bytes);
    if (status == BB_OK) {
        struct bb_bytes record = bb_buf_bytes(&bytes);
        status = bb_wal_writer_append(manifest->log, &record, 1);
        if (status != BB_OK)
            (void)poison(manifest, status);
    }
    bb_buf_deinit(&bytes);
    bb_edit_deinit(&edit);
    return status;
}

enum bb_status bb_manifest_write(struct bb_file_system *fs, const char *directory, uint64_t number,
                                 bool is_closed, struct bb_manifest_state *state)
{
    struct bb_manifest *manifest = NULL;
    enum bb_status status = bb_manifest_create(fs, directory, number, state, &manifest);
    if (status == BB_OK && is_closed)
        status = bb_manifest_note_close(manifest, NULL, 0);
    if (status == BB_OK)
        return bb_manifest_close(manifest);
    (void)!bb_manifest_close(manifest);
    return status;
}

bool bb_manifest_is_due(const struct bb_manifest *manifest)
{
    if (manifest->log == NULL)
        return true;
    uint64_t appended = bb_wal_writer_size(manifest->log) - manifest->snapshot_size;
    return appended > ROTATE_BYTES && appended > ROTATE_SNAPSHOTS * manifest->snapshot_size;
}

enum bb_status bb_manifest_rotate(struct bb_manifest *manifest, uint64_t number)
{
    BB_ASSERT(number > manifest->number && number <= BB_FILE_NUMBER_MAX);
    struct bb_wal_writer *log = NULL;
    enum bb_status status =
        write_and_publish(manifest->fs, manifest->directory, number, &manifest->state, &log);
    if (status != BB_OK)
        return poison(manifest, status);
    abandon(manifest->log);
    bb_filename_remove(manifest->fs, manifest->directory, BB_FILE_MANIFEST, manifest->number);
    manifest->log = log;
    manifest->number = number;
    manifest->snapshot_size = bb_wal_writer_size(log);
    manifest->poison = (struct bb_error){.status = BB_OK};
    return BB_OK;
}
