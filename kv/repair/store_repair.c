/* Repairs a store that is not open. bb/db_files.h has the manual, repair.h the steps. */
#include "base/alloc.h"
#include "base/path.h"
#include "base/status.h"
#include "kv/admin/store_verify.h"
#include "kv/options.h"
#include "kv/repair/repair.h"

/* ---- scanning ---- */

/* An entry with one of our names that is not a file (a pipe, a dangling link) contains no data. */
static enum bb_status check_file(struct bb_repair *repair, struct bb_directory_file *file)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_file *opened = NULL;
    if (file->is.number == 0 || file->is.kind == BB_FILE_FOREIGN)
        return BB_OK;
    enum bb_status status = bb_path_join(repair->path, file->name, path);
    if (status == BB_OK)
        status = bb_file_open(repair->fs, path, &opened);
    if (status == BB_INVALID || status == BB_NOT_FOUND) {
        bb_repair_tell(repair, "%s", bb_error_last()->message);
        file->is = (struct bb_filename){.kind = BB_FILE_FOREIGN};
        repair->not_files[file - repair->directory.files] = true;
        return BB_OK;
    }
    return status == BB_OK ? bb_file_close(opened) : status;
}

static enum bb_status scan(struct bb_repair *repair)
{
    enum bb_status status = bb_directory_check(repair->fs, repair->path);
    bb_directory_deinit(&repair->directory);
    if (status == BB_OK)
        status = bb_directory_scan(repair->fs, repair->path, &repair->directory);
    if (status != BB_OK)
        return status;
    if (bb_directory_has_store_file(&repair->directory))
        return BB_OK;
    return bb_fail(BB_NOT_FOUND, "%s: not a store: it has no manifest, log or table", repair->path);
}

static enum bb_status examine(struct bb_repair *repair)
{
    enum bb_status status = scan(repair);
    size_t count = repair->directory.file_count;
    if (status != BB_OK)
        return status;
    repair->aside = bb_alloc_zeroed(count + 1, sizeof(*repair->aside));
    repair->not_files = bb_alloc_zeroed(count + 1, sizeof(*repair->not_files));
    if (repair->aside == NULL || repair->not_files == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu files", count);
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = check_file(repair, &repair->directory.files[i]);
    return status;
}

/* ---- checking whether a repair is needed ---- */

static void count_whole(struct bb_repair *repair, const struct bb_db_verify_report *found)
{
    repair->report = (struct bb_db_repair_report){.is_whole = true,
                                                  .has_manifest = true,
                                                  .is_manifest_current = true,
                                                  .tables_kept = found->tables,
                                                  .entries_kept = found->entries,
                                                  .logs_kept = found->logs,
                                                  .indexes_kept = found->indexes};
}

static enum bb_status find_whole(struct bb_repair *repair)
{
    struct bb_db_verify_report report;
    enum bb_status status =
        bb_store_verify_locked(repair->fs, repair->path, &repair->options, &report);
    if (status == BB_OK && (report.orphans == 0 || !repair->how.take_unnamed_tables))
        count_whole(repair, &report);
    /* BB_INVALID: something that is not a file, or another comparator, which a later step reports
     * again. */
    if (status != BB_CORRUPT && status != BB_NOT_FOUND && status != BB_INVALID)
        return status;
    bb_repair_tell(repair, "%s", bb_error_last()->message);
    return BB_OK;
}

/* ---- the result ---- */

/* Options that cannot be used are not worth the data: the given ones are used. */
static void take_stored_options(struct bb_repair *repair)
{
    struct bb_stored_options merged;
    struct bb_db_options resolved;
    if (bb_options_resolve_stored(&repair->given, &repair->state.options, &resolved, &merged) !=
        BB_OK) {
        bb_repair_tell(repair, "stored options are not used: %s", bb_error_last()->message);
        return;
    }
    repair->options = resolved;
    repair->edit.options = merged;
}

static enum bb_status begin(struct bb_repair *repair)
{
    const struct bb_edit_table *a = NULL;
    const struct bb_edit_table *b = NULL;
    enum bb_status status = bb_repair_find_state(repair);
    if (status == BB_OK)
        take_stored_options(repair);
    if (status == BB_OK)
        status = bb_directory_next_number(repair->path, &repair->directory, &repair->state,
                                          &repair->first_number);
    repair->next_number = repair->first_number;
    if (status != BB_OK)
        return status;
    repair->edit.last_sequence = repair->state.last_sequence;
    /* Tables of one run must not overlap. */
    if (bb_manifest_state_find_overlap(&repair->state, repair->options.comparator, &a, &b)) {
        repair->are_levels_unknown = true;
        repair->report.deletions_may_return = true;
    }
    return BB_OK;
}

/* Another program's directory may have names like ours, but has no readable file of ours. */
static enum bb_status check_found(struct bb_repair *repair)
{
    const struct bb_db_repair_report *report = &repair->report;
    if (repair->has_manifest ||
        report->tables_kept + report->tables_salvaged + report->log_records > 0)
        return BB_OK;
    return bb_fail(BB_CORRUPT,
                   "%s: no manifest, no table and no log in it can be read: nothing was changed",
                   repair->path);
}

static enum bb_status repair_damaged(struct bb_repair *repair)
{
    enum bb_status status = begin(repair);
    if (status == BB_OK)
        status = bb_repair_tables(repair);
    if (status == BB_OK)
        status = bb_repair_logs(repair);
    if (status == BB_OK)
        status = bb_repair_newer(repair);
    if (status == BB_OK)
        status = check_found(repair);
    if (status == BB_OK)
        status = bb_repair_merge(repair);
    if (status == BB_OK && !repair->how.dry_run)
        status = bb_repair_publish(repair);
    repair->report.last_sequence = repair->edit.last_sequence;
    if (status != BB_OK)
        bb_repair_undo(repair);
    return status;
}

static enum bb_status repair_locked(struct bb_repair *repair)
{
    enum bb_status status = find_whole(repair);
    if (status != BB_OK || repair->report.is_whole)
        return status;
    status = examine(repair);
    return status == BB_OK ? repair_damaged(repair) : status;
}

/* A dry run changes nothing, including the lock file. */
static enum bb_status take_lock(struct bb_repair *repair, const char *path,
                                struct bb_file **ret_lock)
{
    return repair->how.dry_run ? repair->fs->ops->lock_shared(repair->fs, path, ret_lock)
                               : repair->fs->ops->lock(repair->fs, path, ret_lock);
}

static enum bb_status lock_and_repair(struct bb_repair *repair)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_file *lock = NULL;
    bb_filename_path(repair->path, BB_FILE_LOCK, 0, path);
    enum bb_status status = scan(repair); /* a directory without a store gets no lock file */
    bool makes_lock = !repair->how.dry_run && !repair->directory.has_lock;
    if (status == BB_OK)
        status = take_lock(repair, path, &lock);
    if (status == BB_OK)
        status = repair_locked(repair);
    if (lock != NULL) {
        struct bb_error failure = *bb_error_last();
        if (status != BB_OK && makes_lock)
            bb_filename_remove(repair->fs, repair->path, BB_FILE_LOCK, 0);
        (void)!repair->fs->ops->unlock(repair->fs, lock);
        if (status != BB_OK)
            status = bb_error_restore(&failure);
    }
    return status;
}

static void release(struct bb_repair *repair)
{
    bb_manifest_state_deinit(&repair->state);
    bb_edit_deinit(&repair->edit);
    bb_directory_deinit(&repair->directory);
    bb_unnamed_deinit(&repair->unnamed);
    bb_buf_deinit(&repair->lost_paths);
    bb_free(repair->aside);
    bb_free(repair->not_files);
}

static enum bb_status take_options(struct bb_repair *repair, const struct bb_db_options *options,
                                   const struct bb_db_repair_options *how)
{
    if (how != NULL)
        repair->how = *how;
    if (options != NULL)
        repair->given = *options;
    return bb_options_resolve(options, &repair->options);
}

enum bb_status bb_db_repair(const char *directory, const struct bb_db_options *options,
                            const struct bb_db_repair_options *how,
                            struct bb_db_repair_report *ret_report)
{
    struct bb_repair repair = {.path = directory};
    struct bb_file_system *own = NULL;
    struct bb_error before = *bb_error_last();
    enum bb_status status = take_options(&repair, options, how);
    if (status == BB_OK)
        status = bb_path_check_directory(directory, "the store's directory");
    if (status != BB_OK)
        return status;
    status = bb_file_system_posix_default(repair.options.file_system, &own, &repair.fs);
    if (status == BB_OK)
        status = lock_and_repair(&repair);
    release(&repair);
    bb_file_system_posix_destroy(own);
    if (status == BB_OK && ret_report != NULL)
        *ret_report = repair.report;
    return bb_error_settle(status, &before);
}
