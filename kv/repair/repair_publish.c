/* The end of a repair. Files that no longer belong to the store get a second name outside the
 * grammar, then the new manifest is made current, then the first names are removed. See repair.h.
 *
 *     000007.bbt ------------------+------------------- removed
 *     000007.bbt.lost      S20: durable with S3         stays
 *     000012.bbt  S20              |
 *     MANIFEST-000013      S2  S3  | CURRENT  S4 S5
 *
 * Until CURRENT is renamed the store is unchanged; after that it is repaired. This holds if any
 * call fails or the process stops.
 */
#include <inttypes.h>
#include <string.h>

#include "base/path.h"
#include "base/status.h"
#include "kv/repair/repair.h"

/* ---- second names ---- */

static enum bb_status link_lost(struct bb_repair *repair, const char *from,
                                char ret_to[BB_FILENAME_LOST_SIZE_MAX])
{
    enum bb_status status = BB_EXISTS;
    for (int i = 1; i <= BB_FILENAME_LOST_MAX && status == BB_EXISTS; i++) {
        bb_filename_lost(from, i, ret_to);
        status = bb_repair_link_file(repair->fs, from, ret_to);
    }
    return status;
}

static enum bb_status put_aside(struct bb_repair *repair, const struct bb_directory_file *file)
{
    char from[BB_PATH_SIZE_MAX];
    char to[BB_FILENAME_LOST_SIZE_MAX];
    /* Reserves space first, so that every new name can be undone. */
    enum bb_status status = bb_path_join(repair->path, file->name, from);
    if (status == BB_OK)
        status = bb_buf_reserve(&repair->lost_paths, strlen(from) + BB_FILENAME_SIZE_MAX);
    if (status == BB_OK)
        status = link_lost(repair, from, to);
    if (status == BB_OK)
        status = bb_buf_append(&repair->lost_paths, to, strlen(to) + 1);
    repair->report.files_set_aside += status == BB_OK;
    return status;
}

static bool is_state_file(const struct bb_directory_file *file)
{
    return file->is.kind == BB_FILE_CURRENT || file->is.kind == BB_FILE_MANIFEST;
}

/* A file cannot replace a directory. */
static enum bb_status move_current(struct bb_repair *repair)
{
    char from[BB_PATH_SIZE_MAX];
    char to[BB_FILENAME_LOST_SIZE_MAX];
    bb_filename_path(repair->path, BB_FILE_CURRENT, 0, from);
    return bb_filename_rename_lost(repair->fs, from, to);
}

static bool is_current_a_directory(const struct bb_repair *repair)
{
    return repair->directory.has_current && bb_repair_find(repair, BB_FILE_CURRENT, 0) == NULL;
}

static enum bb_status put_all_aside(struct bb_repair *repair)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < repair->directory.file_count && status == BB_OK; i++) {
        const struct bb_directory_file *file = &repair->directory.files[i];
        if (repair->aside[i] || is_state_file(file))
            status = put_aside(repair, file);
    }
    if (status == BB_OK && is_current_a_directory(repair))
        status = move_current(repair);
    return status;
}

/* An opening would read a link or a pipe by its name, and fail. */
static enum bb_status rename_not_files(struct bb_repair *repair)
{
    char from[BB_PATH_SIZE_MAX];
    char to[BB_FILENAME_LOST_SIZE_MAX];
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < repair->directory.file_count && status == BB_OK; i++) {
        if (!repair->not_files[i])
            continue;
        status = bb_path_join(repair->path, repair->directory.files[i].name, from);
        if (status == BB_OK)
            status = bb_filename_rename_lost(repair->fs, from, to);
        repair->report.files_set_aside += status == BB_OK;
    }
    return status;
}

/* ---- publishing ---- */

/* Kept logs are replayed after the last sequence of the old state. */
static enum bb_status set_counters(struct bb_repair *repair)
{
    struct bb_edit *edit = &repair->edit;
    enum bb_status status = BB_OK;
    edit->has_identity = true;
    edit->identity = repair->state.identity;
    if (repair->keeps_logs) {
        edit->last_sequence = repair->state.last_sequence;
        edit->log_number = repair->state.log_number;
        edit->log_is_absent = repair->state.log_is_absent;
    } else {
        status = bb_repair_new_number(repair, &edit->log_number);
        edit->log_is_absent = true;
    }
    edit->next_file_number = repair->next_number;
    return status == BB_OK ? bb_repair_catalog(repair) : status;
}

static enum bb_status put_in_force(struct bb_repair *repair)
{
    struct bb_manifest_state state = {0};
    uint64_t number = 0;
    enum bb_status status = bb_repair_new_number(repair, &number);
    if (status == BB_OK)
        status = set_counters(repair);
    if (status == BB_OK)
        status =
            bb_manifest_state_apply(&state, &repair->edit, (struct bb_place){.file = "repair"});
    if (status == BB_OK) {
        repair->is_published = true;
        status = bb_manifest_write(repair->fs, repair->path, number, !repair->keeps_logs, &state);
    }
    bb_manifest_state_deinit(&state);
    return status;
}

/* The next opening removes the rest. */
static void remove_first_names(struct bb_repair *repair)
{
    char path[BB_PATH_SIZE_MAX];
    for (size_t i = 0; i < repair->directory.file_count; i++) {
        const struct bb_directory_file *file = &repair->directory.files[i];
        if (!repair->aside[i] && file->is.kind != BB_FILE_MANIFEST &&
            !bb_repair_is_spare_index(repair, file))
            continue;
        if (bb_path_join(repair->path, file->name, path) == BB_OK)
            (void)!repair->fs->ops->remove(repair->fs, path);
    }
}

enum bb_status bb_repair_publish(struct bb_repair *repair)
{
    enum bb_status status = put_all_aside(repair);
    if (status == BB_OK)
        status = put_in_force(repair);
    if (status == BB_OK)
        status = rename_not_files(repair);
    if (status == BB_OK)
        remove_first_names(repair);
    return status;
}

/* ---- undoing ---- */

static void remove_new_tables(struct bb_repair *repair)
{
    for (uint64_t number = repair->first_number; number < repair->next_number; number++)
        bb_filename_remove(repair->fs, repair->path, BB_FILE_TABLE, number);
}

static void remove_second_names(struct bb_repair *repair)
{
    const char *path = (const char *)repair->lost_paths.data;
    size_t left = repair->lost_paths.size;
    while (left > 0) {
        size_t size = strlen(path) + 1;
        (void)!repair->fs->ops->remove(repair->fs, path);
        path += size;
        left -= size;
    }
}

void bb_repair_undo(struct bb_repair *repair)
{
    struct bb_error failure = *bb_error_last();
    if (repair->is_published || repair->how.dry_run)
        return;
    remove_new_tables(repair);
    remove_second_names(repair);
    (void)!bb_error_restore(&failure);
}
