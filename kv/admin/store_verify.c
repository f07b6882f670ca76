/* Verifies a store that is not open. Reads everything and creates, writes or removes no file, not
 * even the lock file, so that a copy without write permission can be verified. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/status.h"
#include "bb/db_files.h"
#include "kv/admin/store_verify.h"
#include "kv/directory/directory.h"
#include "kv/directory/unnamed.h"
#include "kv/indexes/catalog.h"
#include "kv/indexes/index_check.h"
#include "kv/indexes/index_file.h"
#include "kv/manifest/manifest.h"
#include "kv/options.h"
#include "kv/recovery/dropped.h"
#include "kv/recovery/replay.h"
#include "kv/wal/wal_salvage.h"
#include "sstable/table/table_check.h"

struct verification {
    struct bb_db_options options; /* resolved */
    const char *path;
    struct bb_file_system *fs;
    struct bb_directory directory;
    struct bb_manifest_state state;
    struct bb_manifest_report manifest;
    uint64_t last_sequence; /* of manifest and logs */
    bool has_loss;          /* of the logs */
    struct bb_db_verify_report report;
    struct bb_dropped dropped;      /* data that an opening would drop */
    struct bb_db_recovery recovery; /* and the rest of its report */
    struct bb_error index_failure;  /* the first of the index files; BB_OK: none */
    bool is_complete;               /* everything was verified */
};

/* A damaged or unreadable index file costs reads, but no data: the verification continues. */
static void note_index_failure(struct verification *v)
{
    const struct bb_error *failure = bb_error_last();
    v->report.indexes_damaged++;
    if (v->index_failure.status == BB_OK)
        v->index_failure = *failure;
    struct bb_error found = *failure;
    struct bb_event event = {.kind = BB_EVENT_DAMAGE, .level = -1, .message = found.message};
    if (v->options.on_event != NULL)
        v->options.on_event(v->options.event_context, &event);
}

static enum bb_status verify_index(struct verification *v, const struct bb_edit_table *table,
                                   const struct bb_table_options *options)
{
    enum bb_status status = bb_index_check(v->path, table, options);
    v->report.indexes++;
    if (!bb_index_file_is_unreadable(status))
        return status;
    note_index_failure(v);
    return BB_OK;
}

static enum bb_status verify_table(struct verification *v, const struct bb_edit_table *table)
{
    struct bb_table_options options;
    struct bb_table_verify_report report;
    char path[BB_PATH_SIZE_MAX];
    bb_options_for_table(&v->options, v->fs, &v->state.identity.secret, NULL, &options);
    bb_filename_path(v->path, BB_FILE_TABLE, table->number, path);
    enum bb_status status = bb_table_check(path, &options, &table->meta, &report);
    if (status == BB_OK && table->index_number != 0)
        status = verify_index(v, table, &options);
    if (status != BB_OK)
        return status;
    v->report.tables++;
    v->report.entries += report.entries;
    v->report.bytes += report.bytes;
    return BB_OK;
}

static enum bb_status verify_tables(struct verification *v)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < v->state.table_count && status == BB_OK; i++)
        status = verify_table(v, v->state.tables[i]);
    return status;
}

/* The definitions of attributes and indexes. */
static enum bb_status verify_catalog(const struct verification *v)
{
    struct bb_catalog *catalog = NULL;
    enum bb_status status = bb_catalog_decode(bb_buf_bytes(&v->state.catalog),
                                              (struct bb_place){.file = v->path}, &catalog);
    bb_catalog_unref(catalog);
    return status;
}

/* An opening without options must accept them. */
static enum bb_status verify_stored_options(const struct verification *v)
{
    const struct bb_db_options none = {.comparator = v->options.comparator};
    struct bb_db_options resolved;
    struct bb_stored_options merged;
    if (bb_options_resolve_stored(&none, &v->state.options, &resolved, &merged) == BB_OK)
        return BB_OK;
    struct bb_error failure = *bb_error_last();
    return bb_corrupt((struct bb_place){.file = v->path}, 0, "the manifest: %s", failure.message);
}

/* No two tables of a run may have the same key. */
static enum bb_status verify_levels(struct verification *v)
{
    const struct bb_edit_table *a = NULL;
    const struct bb_edit_table *b = NULL;
    if (!bb_manifest_state_find_overlap(&v->state, v->options.comparator, &a, &b))
        return BB_OK;
    return bb_fail(BB_CORRUPT, "%s: tables %" PRIu64 " and %" PRIu64 " of level %d overlap",
                   v->path, a->number, b->number, a->level);
}

static enum bb_status verify_log(struct verification *v, uint64_t number,
                                 struct bb_log_check *check)
{
    char path[BB_PATH_SIZE_MAX];
    bb_filename_path(v->path, BB_FILE_LOG, number, path);
    return bb_replay_check_log(v->fs, path, number, v->state.identity.store_id, v->options.recovery,
                               check, NULL, NULL);
}

/* Counts the operations of the log that an opening would drop, as kv/recovery/replay.c does. */
static enum bb_status count_dropped(struct verification *v, uint64_t number, uint64_t bytes,
                                    const struct bb_log_check *check)
{
    if (bytes == 0 && !check->is_gap && !check->is_damaged)
        return BB_OK;
    return bb_dropped_count_log(v->fs, v->path, v->state.identity.store_id, number, bytes,
                                check->expected_sequence, &v->dropped);
}

/* Logs after a gap are not part of the state. */
static enum bb_status verify_each_log(struct verification *v, const uint64_t *numbers, size_t count,
                                      struct bb_log_check *check)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        uint64_t before = check->dropped_bytes;
        v->report.logs += !check->is_gap;
        if (!check->is_gap)
            status = verify_log(v, numbers[i], check);
        if (v->options.recovery == BB_RECOVERY_POINT_IN_TIME)
            v->recovery.files_set_aside += check->is_damaged; /* copied: kv/recovery/replay.c */
        if (status == BB_OK)
            status = count_dropped(v, numbers[i], check->dropped_bytes - before, check);
    }
    return status;
}

static enum bb_status verify_logs(struct verification *v)
{
    struct bb_log_check check = bb_replay_check_from(&v->state);
    uint64_t *numbers = NULL;
    size_t count = 0;
    enum bb_status status = bb_directory_logs(&v->directory, &v->state, &numbers, &count);
    if (status == BB_OK)
        status = verify_each_log(v, numbers, count, &check);
    bb_free(numbers);
    bb_replay_describe(&check, &v->dropped, count, &v->recovery);
    v->last_sequence = check.expected_sequence - 1;
    v->has_loss = bb_log_check_has_loss(&check);
    v->report.log_records = check.record_count;
    v->report.log_bytes_dropped = check.dropped_bytes;
    return status;
}

/* A table with a sequence above all others may have been acknowledged, unless the manifest's end
 * proves that no edit is missing. Then an opening keeps it only if a log has a loss. */
static enum bb_status judge_unnamed(struct verification *v, const struct bb_unnamed *list)
{
    size_t first = bb_unnamed_first_above(list, v->last_sequence);
    v->report.tables_unnamed = list->count;
    if (first == list->count || (v->manifest.is_marked && !v->has_loss))
        return BB_OK;
    v->recovery.files_set_aside = list->count - first;
    if (v->manifest.is_marked)
        return BB_OK;
    v->recovery.is_damaged = true;
    return bb_unnamed_fail(v->path, &list->tables[first], v->last_sequence, &v->manifest);
}

static enum bb_status verify_unnamed(struct verification *v)
{
    struct bb_unnamed list = {0};
    enum bb_status status =
        bb_unnamed_find(v->fs, v->path, &v->options, &v->directory, &v->state, &list);
    if (status == BB_OK)
        status = judge_unnamed(v, &list);
    bb_unnamed_deinit(&list);
    return status;
}

/* Counts logs of this store that the manifest calls obsolete. */
static enum bb_status count_obsolete_log(struct verification *v, uint64_t number)
{
    char path[BB_PATH_SIZE_MAX];
    uint8_t store_id[BB_STORE_ID_SIZE];
    bool is_told = false;
    bb_filename_path(v->path, BB_FILE_LOG, number, path);
    enum bb_status status = bb_wal_salvage_read_claim(v->fs, path, store_id, &is_told);
    if (status == BB_OK && is_told)
        v->report.logs_unnamed +=
            memcmp(store_id, v->state.identity.store_id, sizeof(store_id)) == 0;
    return status == BB_INVALID || status == BB_NOT_FOUND ? BB_OK : status; /* not a file */
}

static enum bb_status count_obsolete_logs(struct verification *v)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < v->directory.file_count && status == BB_OK; i++) {
        const struct bb_filename *is = &v->directory.files[i].is;
        if (is->kind == BB_FILE_LOG && is->number < v->state.log_number)
            status = count_obsolete_log(v, is->number);
    }
    return status;
}

static void count_files(struct verification *v)
{
    for (size_t i = 0; i < v->directory.file_count; i++) {
        enum bb_file_verdict verdict =
            bb_directory_judge(&v->directory.files[i], &v->state, v->manifest.number);
        v->report.orphans += verdict == BB_FILE_VERDICT_ORPHAN;
        v->report.foreign += verdict == BB_FILE_VERDICT_FOREIGN;
    }
}

static enum bb_status fail_no_store(const struct verification *v)
{
    return bb_fail(BB_NOT_FOUND, "%s: not a store: there is no CURRENT", v->path);
}

static enum bb_status read_metadata(struct verification *v)
{
    enum bb_status status = bb_directory_scan(v->fs, v->path, &v->directory);
    if (status == BB_OK && !v->directory.has_current) {
        status = bb_directory_check_new(v->fs, v->path, &v->directory);
        if (status == BB_OK)
            status = fail_no_store(v);
    }
    if (status == BB_OK)
        status = bb_directory_load_manifest(v->fs, v->path, &v->directory, &v->options, &v->state,
                                            &v->manifest);
    return status;
}

static enum bb_status verify_all(struct verification *v)
{
    enum bb_status status = read_metadata(v);
    if (status == BB_OK)
        status = verify_catalog(v);
    if (status == BB_OK)
        status = verify_stored_options(v);
    if (status == BB_OK)
        status = verify_levels(v);
    if (status == BB_OK)
        status = verify_tables(v);
    if (status == BB_OK)
        status = verify_logs(v);
    if (status == BB_OK)
        status = verify_unnamed(v);
    if (status == BB_OK)
        status = count_obsolete_logs(v);
    if (status != BB_OK)
        return status;
    count_files(v);
    v->is_complete = true;
    return v->index_failure.status == BB_OK ? BB_OK : bb_error_restore(&v->index_failure);
}

static void release(struct verification *v)
{
    bb_manifest_state_deinit(&v->state);
    bb_directory_deinit(&v->directory);
}

enum bb_status bb_store_verify_locked(struct bb_file_system *fs, const char *path,
                                      const struct bb_db_options *options,
                                      struct bb_db_verify_report *ret_report)
{
    struct verification v = {.path = path, .fs = fs, .options = *options};
    v.options.on_event = NULL;
    enum bb_status status = verify_all(&v);
    release(&v);
    if (status == BB_OK)
        *ret_report = v.report;
    return status;
}

/* Without the lock only names are checked: an active writer may replace the manifest and remove
 * tables between two reads, which would look like damage. */
static enum bb_status check_is_store(struct verification *v)
{
    enum bb_status status = bb_directory_check(v->fs, v->path);
    if (status == BB_OK)
        status = bb_directory_scan(v->fs, v->path, &v->directory);
    if (status == BB_OK && !v->directory.has_current && !bb_directory_has_store_file(&v->directory))
        status = fail_no_store(v);
    bb_directory_deinit(&v->directory);
    return status;
}

static enum bb_status lock_and_verify(struct verification *v)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_file *lock = NULL;
    bb_filename_path(v->path, BB_FILE_LOCK, 0, path);
    enum bb_status status = check_is_store(v);
    if (status == BB_OK)
        status = v->fs->ops->lock_shared(v->fs, path, &lock);
    if (status == BB_OK)
        status = verify_all(v);
    if (lock == NULL)
        return status;
    struct bb_error failure = *bb_error_last();
    (void)!v->fs->ops->unlock(v->fs, lock);
    return status == BB_OK ? BB_OK : bb_error_restore(&failure);
}

enum bb_status bb_db_verify(const char *directory, const struct bb_db_options *options,
                            struct bb_db_verify_report *ret_report)
{
    struct verification v = {.path = directory};
    struct bb_file_system *own = NULL;
    struct bb_error before = *bb_error_last();
    enum bb_status status = bb_options_resolve(options, &v.options);
    if (status == BB_OK)
        status = bb_path_check_directory(directory, "the store's directory");
    if (status != BB_OK)
        return status;
    status = bb_file_system_posix_default(v.options.file_system, &own, &v.fs);
    if (status == BB_OK)
        status = lock_and_verify(&v);
    v.recovery.dropped_manifest_bytes = v.manifest.dropped_bytes;
    if (v.options.recovery_report != NULL)
        *v.options.recovery_report = v.recovery;
    release(&v);
    bb_file_system_posix_destroy(own);
    if (v.is_complete && ret_report != NULL)
        *ret_report = v.report;
    return bb_error_settle(status, &before);
}
