/* Opens a store: makes its parts, and then an opening, or a repair and an opening. */
#include "base/alloc.h"
#include "base/file_limit.h"
#include "base/file_pool.h"
#include "base/path.h"
#include "base/process.h"
#include "base/status.h"
#include "bb/db_files.h"
#include "kv/background/worker.h"
#include "kv/indexes/index_file.h"
#include "kv/open/close.h"
#include "kv/open/opening.h"
#include "kv/open/resume.h"
#include "kv/options.h"
#include "kv/readonly/read_only.h"

static void remove_table_file(void *context, uint64_t number)
{
    struct bb_db *db = context;
    bb_filename_remove(db->system, db->directory, BB_FILE_TABLE, number);
}

static void remove_index_file(void *context, uint64_t number)
{
    struct bb_db *db = context;
    bb_filename_remove(db->system, db->directory, BB_FILE_INDEX, number);
}

static void table_path(void *context, uint64_t number, char ret_path[BB_PATH_SIZE_MAX])
{
    struct bb_db *db = context;
    bb_filename_path(db->directory, BB_FILE_TABLE, number, ret_path);
}

static enum bb_status init_parts(struct bb_db *db)
{
    struct bb_file_pool *pool = NULL;
    enum bb_status status =
        bb_file_system_posix_default(db->options.file_system, &db->own_system, &db->system);
    if (status == BB_OK)
        status = bb_catalog_create_empty(&db->catalog);
    if (status == BB_OK)
        status = bb_file_pool_create(db->system, bb_options_open_tables(&db->options, db->system),
                                     &pool);
    if (status == BB_OK) {
        db->pool = pool;
        if (db->options.read_only)
            bb_file_pool_share(pool);
        db->files = bb_file_pool_system(pool);
        status = bb_readers_init(&db->readers);
    }
    if (status == BB_OK && !db->options.cache_off)
        status = bb_block_cache_create(db->options.cache_bytes, &db->cache);
    if (status == BB_OK && db->options.background_bytes_per_second > 0)
        status =
            bb_file_limit_create(db->system, db->options.background_bytes_per_second, &db->limit);
    return status;
}

static struct bb_db *create_db(const char *directory, const struct bb_db_options *given,
                               const struct bb_db_options *options)
{
    struct bb_db *db = bb_alloc_zeroed(1, sizeof(*db));
    if (db == NULL)
        return NULL;
    db->given = *given;
    db->options = *options;
    db->process = bb_process_number();
    db->process_id = bb_process_id();
    db->directory = bb_strdup(directory);
    if (db->directory == NULL) {
        bb_free(db);
        return NULL;
    }
    bb_mutex_init(&db->mutex);
    bb_mutex_init(&db->installing);
    bb_condvar_init(&db->work_is_done);
    bb_workers_init(db);
    bb_commit_queue_init(&db->commits);
    bb_snapshots_init(&db->snapshots);
    bb_spare_memtable_init(&db->spare, options->write_buffer_bytes);
    bb_table_file_env_init(&db->table_env);
    db->table_env.path = table_path;
    db->table_env.remove = remove_table_file;
    db->table_env.remove_companion = remove_index_file;
    db->table_env.context = db;
    return db;
}

/* Fills in the recovery report, without overwriting an earlier repair's report. */
static void report_recovery(const struct bb_opening *opening)
{
    struct bb_db_recovery *report = opening->db->options.recovery_report;
    const struct bb_replay_report *replay = &opening->replay;
    if (report == NULL)
        return;
    bb_replay_describe(&replay->check, &replay->dropped, replay->log_count, report);
    report->dropped_manifest_bytes = opening->manifest.dropped_bytes;
    report->files_set_aside += opening->tables_set_aside;
    if (opening->db->options.recovery == BB_RECOVERY_POINT_IN_TIME)
        report->files_set_aside += replay->cut_count;
    report->is_damaged |= opening->tables_set_aside > 0 && !opening->manifest.is_marked;
}

static enum bb_status open_to_write(struct bb_db *db)
{
    struct bb_opening opening = {.db = db};
    enum bb_status status = bb_opening_prepare(&opening);
    if (status == BB_OK)
        status = bb_opening_recover(&opening);
    bool waits = status == BB_NO_SPACE && bb_opening_undo(&opening);
    if (waits)
        status = bb_resume_wait_for_space(db);
    if (status == BB_OK && !waits)
        status = bb_workers_start(db);
    if (status != BB_OK)
        bb_opening_leave(&opening);
    struct bb_error failure = *bb_error_last();
    report_recovery(&opening);
    bb_opening_deinit(&opening);
    return status == BB_OK ? BB_OK : bb_error_restore(&failure);
}

static enum bb_status open_db(struct bb_db *db)
{
    enum bb_status status = init_parts(db);
    if (status != BB_OK)
        return status;
    return db->options.read_only ? bb_read_only_start(db) : open_to_write(db);
}

static enum bb_status open_resolved(const char *directory, const struct bb_db_options *given,
                                    const struct bb_db_options *resolved, struct bb_db **ret_db)
{
    struct bb_db *db = create_db(directory, given, resolved);
    if (db == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a store");
    enum bb_status status = open_db(db);
    if (status != BB_OK) {
        struct bb_error failure = *bb_error_last();
        (void)!bb_close_release(db);
        return bb_error_restore(&failure);
    }
    /* Belongs to the caller, for this call only. */
    db->options.recovery_report = NULL;
    db->given.recovery_report = NULL;
    *ret_db = db;
    return BB_OK;
}

/* Converts a repair's report to an opening's. */
static void report_repair(const struct bb_db_repair_report *repair, struct bb_db_recovery *report)
{
    if (report == NULL)
        return;
    *report = (struct bb_db_recovery){.dropped_bytes = repair->log_bytes_lost + repair->bytes_lost,
                                      .dropped_logs = repair->logs_lost,
                                      .files_set_aside = repair->files_set_aside,
                                      .is_damaged = true,
                                      .is_repaired = true,
                                      .deletions_may_return = repair->deletions_may_return};
}

static enum bb_status repair_and_open(const char *directory, const struct bb_db_options *options,
                                      const struct bb_db_options *resolved, struct bb_db **ret_db)
{
    struct bb_db_repair_report repair = {0};
    enum bb_status status = bb_db_repair(directory, options, NULL, &repair);
    if (status != BB_OK)
        return status;
    report_repair(&repair, resolved->recovery_report);
    return open_resolved(directory, options, resolved, ret_db);
}

static enum bb_status open_or_repair(const char *directory, const struct bb_db_options *options,
                                     struct bb_db **ret_db)
{
    const struct bb_db_options defaults = {0};
    struct bb_db_options resolved;
    if (options == NULL)
        options = &defaults;
    enum bb_status status = bb_options_resolve(options, &resolved);
    if (status == BB_OK)
        status = bb_path_check_directory(directory, "the store's directory");
    if (status != BB_OK)
        return status;
    if (resolved.recovery_report != NULL)
        *resolved.recovery_report = (struct bb_db_recovery){0};
    status = open_resolved(directory, options, &resolved, ret_db);
    bool is_repairable = resolved.recovery == BB_RECOVERY_SALVAGE && !resolved.read_only;
    return status == BB_CORRUPT && is_repairable
               ? repair_and_open(directory, options, &resolved, ret_db)
               : status;
}

enum bb_status bb_db_open(const char *directory, const struct bb_db_options *options,
                          struct bb_db **ret_db)
{
    struct bb_error before = *bb_error_last();
    return bb_error_settle(open_or_repair(directory, options, ret_db), &before);
}
