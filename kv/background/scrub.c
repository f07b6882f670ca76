/* See scrub.h. */
#include "kv/background/scrub.h"

#include <inttypes.h>

#include "base/status.h"
#include "kv/background/page_cache.h"
#include "kv/indexes/index_check.h"
#include "kv/indexes/index_file.h"
#include "kv/manifest/edit.h"
#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"
#include "kv/options.h"
#include "kv/store/call.h"
#include "kv/store/current_view.h"
#include "sstable/table/table_check.h"

/* ---- tables ---- */

static bool is_to_come(const struct bb_scrub *scrub, const struct bb_table_file *file)
{
    return (file->number >= scrub->next && file->number < scrub->end) || file->number < scrub->wrap;
}

/* Orders by number. A scrub wraps, so numbers below the cursor sort last. */
static bool comes_before(const struct bb_scrub *scrub, const struct bb_table_file *a,
                         const struct bb_table_file *b)
{
    bool is_a_wrapped = a->number < scrub->next;
    bool is_b_wrapped = b->number < scrub->next;
    return is_a_wrapped == is_b_wrapped ? a->number < b->number : is_b_wrapped;
}

static uint64_t work_of(struct bb_table_file *file)
{
    /* Checking an index file also reads the whole table, and the index file is usually no
     * larger. */
    return file->meta.file_size * (bb_table_file_companion_number(file) == 0 ? 1 : 3);
}

static uint64_t log_position(const struct bb_scrub *scrub)
{
    return scrub->is_complete ? 0 : BB_SCRUB_AT_LOGS | scrub->next_log;
}

/* The remaining tables. *ret_next: the first of them, with a reference, or NULL. Returns the number
 * of bytes to read. */
static uint64_t look_ahead(struct bb_scrub *scrub, struct bb_table_file **ret_next)
{
    struct bb_levels *levels = bb_current_view_ref_levels(scrub->db);
    struct bb_table_file *next = NULL;
    uint64_t work = 0;
    scrub->report.bytes_left = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++) {
            struct bb_table_file *file = bb_levels_table(levels, level, i);
            if (!is_to_come(scrub, file))
                continue;
            work += work_of(file);
            scrub->report.bytes_left += file->meta.file_size;
            next = next == NULL || comes_before(scrub, file, next) ? file : next;
        }
    }
    scrub->report.next_table = next == NULL ? log_position(scrub) : next->number;
    *ret_next = next == NULL ? NULL : bb_table_file_ref(next);
    bb_levels_unref(levels);
    return work;
}

uint64_t bb_scrub_work_left(struct bb_scrub *scrub)
{
    struct bb_table_file *next = NULL;
    uint64_t work = look_ahead(scrub, &next);
    bb_table_file_unref(next);
    return work + bb_scrub_logs_work(scrub->db, scrub->next_log);
}

/* Continues after this number. */
static void advance(struct bb_scrub *scrub, uint64_t number)
{
    if (number < scrub->next) { /* wrapped */
        scrub->end = scrub->wrap;
        scrub->wrap = 0;
    }
    scrub->next = number + 1;
}

void bb_scrub_skip(struct bb_scrub *scrub)
{
    if (scrub->is_at_logs)
        scrub->next_log++;
    else if (scrub->report.next_table != 0)
        advance(scrub, scrub->report.next_table);
}

/* ---- slices ---- */

/* Stops reading a table that is no longer part of the store. */
static enum bb_status check_wanted(struct bb_scrub *scrub)
{
    enum bb_status status = bb_call_check_open(scrub->db);
    if (status == BB_OK && scrub->file != NULL && atomic_load(&scrub->file->is_obsolete))
        status = bb_fail(BB_BUSY, "table %" PRIu64 " was replaced while it was checked",
                         scrub->file->number);
    return status;
}

enum bb_status bb_scrub_rest(struct bb_scrub *scrub, uint64_t nanoseconds)
{
    struct bb_file_system *system = scrub->db->system;
    enum bb_status status = check_wanted(scrub);
    while (status == BB_OK && nanoseconds > 0) {
        uint64_t begin = system->ops->now(system);
        scrub->rest(scrub->context, nanoseconds);
        uint64_t rested = bb_file_elapsed(system, begin);
        nanoseconds -= rested < nanoseconds ? rested : nanoseconds;
        status = check_wanted(scrub);
    }
    return status;
}

static void count_bytes(struct bb_scrub *scrub)
{
    struct bb_db *db = scrub->db;
    bb_mutex_lock(&db->mutex);
    db->counts.scrub_bytes += scrub->meter.read_bytes - scrub->report.read_bytes;
    bb_mutex_unlock(&db->mutex);
    scrub->report.read_bytes = scrub->meter.read_bytes;
}

static enum bb_status tell(struct bb_scrub *scrub)
{
    count_bytes(scrub);
    if (scrub->tell == NULL || scrub->tell(scrub->context, &scrub->report))
        return BB_OK;
    scrub->is_stopped = true;
    return bb_fail(BB_BUSY, "the check was stopped by its caller");
}

/* The meter's pause. */
static enum bb_status end_slice(void *context, uint64_t nanoseconds)
{
    struct bb_scrub *scrub = context;
    enum bb_status status = tell(scrub);
    return status == BB_OK ? bb_scrub_rest(scrub, nanoseconds) : status;
}

/* ---- one table ---- */

static void options_of(struct bb_scrub *scrub, struct bb_table_options *ret_options)
{
    bb_options_for_table(&scrub->db->options, bb_file_meter_system(&scrub->meter),
                         &scrub->db->secret, NULL, ret_options);
}

static enum bb_status check_table(struct bb_scrub *scrub)
{
    struct bb_db *db = scrub->db;
    struct bb_table_options options;
    struct bb_table_verify_report report = {0};
    char path[BB_PATH_SIZE_MAX];
    options_of(scrub, &options);
    bb_table_file_forget_pages(scrub->file);
    bb_page_cache_forget(db, BB_FILE_TABLE, scrub->file->number);
    bb_filename_path(db->directory, BB_FILE_TABLE, scrub->file->number, path);
    enum bb_status status = bb_table_check(path, &options, &scrub->file->meta, &report);
    if (status == BB_NOT_FOUND && !db->options.read_only)
        status = bb_corrupt((struct bb_place){.file = path}, 0,
                            "the manifest names this table, and there is no such file");
    scrub->report.entries += report.entries;
    return status;
}

static bool is_index_missing(struct bb_db *db, uint64_t index_number)
{
    char path[BB_PATH_SIZE_MAX];
    bool is_directory = false;
    uint64_t size = 0;
    bb_filename_path(db->directory, BB_FILE_INDEX, index_number, path);
    return db->system->ops->status(db->system, path, &is_directory, &size) == BB_NOT_FOUND;
}

/* True when the manifest on the device, which may be newer than this store's view, names the index
 * file for the table. False if that manifest cannot be read, which its own check reports. */
static bool is_index_named(struct bb_db *db, uint64_t table_number, uint64_t index_number)
{
    struct bb_manifest_state state = {0};
    const struct bb_edit_table *table = NULL;
    if (bb_manifest_load(db->system, db->directory, &state, NULL) == BB_OK)
        table = bb_manifest_state_find(&state, table_number);
    bool is_named = table != NULL && table->index_number == index_number;
    bb_manifest_state_deinit(&state);
    return is_named;
}

/* True when the writer has replaced the index file of a read-only store. A file that is missing and
 * still named is damage. WHY in this order: the writer removes a file only after a durable record
 * that no longer names it. */
static bool is_taken_away(struct bb_scrub *scrub, uint64_t index_number)
{
    struct bb_db *db = scrub->db;
    struct bb_error before = *bb_error_last();
    bool is_taken_away = db->options.read_only && is_index_missing(db, index_number) &&
                         !is_index_named(db, scrub->file->number, index_number);
    (void)bb_error_restore(&before);
    return is_taken_away;
}

static enum bb_status check_index(struct bb_scrub *scrub, struct bb_companion *index)
{
    struct bb_table_options options;
    const struct bb_edit_table named = {
        .number = scrub->file->number, .index_number = index->number, .meta = scrub->file->meta};
    options_of(scrub, &options);
    bb_index_file_forget_pages(index);
    bb_page_cache_forget(scrub->db, BB_FILE_INDEX, index->number);
    return bb_index_check(scrub->db->directory, &named, &options);
}

/* Counts and reports the latest failure as damage. */
static void record_damage(struct bb_scrub *scrub)
{
    struct bb_error found = *bb_error_last();
    struct bb_event event = {.kind = BB_EVENT_DAMAGE, .level = -1, .message = found.message};
    scrub->report.damaged++;
    if (scrub->damage.status == BB_OK)
        scrub->damage = found;
    bb_store_event(scrub->db, &event);
}

/* Records the result of checking a file, and reports damage, which is not a failure. */
static enum bb_status judge(struct bb_scrub *scrub, enum bb_status status, _Atomic bool *is_damaged)
{
    if (status != BB_OK && !bb_scrub_logs_is_damage(status))
        return status;
    atomic_store(is_damaged, status != BB_OK);
    if (status != BB_OK)
        record_damage(scrub);
    return BB_OK;
}

/* An index file that the writer has replaced is skipped: the newer one was just written. */
static enum bb_status judge_index(struct bb_scrub *scrub, struct bb_companion *index)
{
    enum bb_status found = check_index(scrub, index);
    if (found == BB_CORRUPT && is_taken_away(scrub, index->number))
        return BB_OK;
    enum bb_status status = judge(scrub, found, &index->is_damaged);
    scrub->report.indexes += status == BB_OK;
    scrub->report.indexes_damaged += status == BB_OK && found != BB_OK;
    return status;
}

static enum bb_status check_file(struct bb_scrub *scrub)
{
    struct bb_companion *index = bb_table_file_companion(scrub->file);
    enum bb_status status = judge(scrub, check_table(scrub), &scrub->file->is_damaged);
    scrub->report.tables += status == BB_OK;
    if (status == BB_OK && index != NULL && !atomic_load(&scrub->file->is_damaged))
        status = judge_index(scrub, index);
    bb_companion_unref(index);
    return status;
}

/* True when the check was cancelled because the table is no longer part of the store. In a
 * read-only store the writer may have removed the file. */
static bool is_passed_over(const struct bb_scrub *scrub, enum bb_status status)
{
    bool is_gone = status == BB_BUSY || status == BB_NOT_FOUND;
    return is_gone && !scrub->is_stopped &&
           (atomic_load(&scrub->file->is_obsolete) || scrub->db->options.read_only) &&
           bb_call_check_open(scrub->db) == BB_OK;
}

/* ---- the scrub ---- */

/* Above the numbers of all existing tables. */
static uint64_t end_of(struct bb_db *db)
{
    struct bb_levels *levels = bb_current_view_ref_levels(db);
    uint64_t end = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++) {
            uint64_t number = bb_levels_table(levels, level, i)->number;
            end = number >= end ? number + 1 : end;
        }
    }
    bb_levels_unref(levels);
    return end;
}

void bb_scrub_init(struct bb_scrub *scrub, struct bb_db *db, uint64_t first, bool wraps)
{
    *scrub =
        (struct bb_scrub){.db = db, .next = first, .end = end_of(db), .wrap = wraps ? first : 0};
    if ((first & BB_SCRUB_AT_LOGS) != 0) {
        scrub->end = 0;
        scrub->is_at_logs = true;
        scrub->next_log = first & ~BB_SCRUB_AT_LOGS;
    }
    bb_file_meter_init(&scrub->meter, db->files, end_slice, scrub);
    scrub->logs =
        (struct bb_scrub_logs){.db = db, .meter = &scrub->meter, .report = &scrub->report};
}

static enum bb_status check_next_table(struct bb_scrub *scrub)
{
    bb_file_meter_wrap(&scrub->meter, scrub->db->files);
    scrub->report.bytes_left -= scrub->file->meta.file_size;
    enum bb_status status = check_file(scrub);
    if (status == BB_OK || is_passed_over(scrub, status)) {
        advance(scrub, scrub->file->number);
        status = BB_OK;
    }
    bb_table_file_unref(scrub->file);
    scrub->file = NULL;
    return status;
}

/* Checks the manifest, or the next log. Logs that were created since belong to the next scrub. WHY
 * not through the store's pool of files: it closes files and opens them again, and takes one that
 * has grown in the meantime for another file. */
static enum bb_status check_next_log(struct bb_scrub *scrub)
{
    struct bb_scrub_log log = {0};
    uint64_t end = 0;
    enum bb_status status = BB_OK;
    if (scrub->next_log > 0)
        status = bb_scrub_logs_find(&scrub->logs, scrub->next_log, &log, &end);
    if (status != BB_OK)
        return status;
    if (scrub->next_log > 0 && scrub->end_log == 0)
        scrub->end_log = end;
    scrub->is_complete = scrub->next_log > 0 && (log.number == 0 || log.number >= scrub->end_log);
    if (scrub->is_complete)
        return BB_OK;
    scrub->next_log = log.number;
    bb_file_meter_wrap(&scrub->meter, scrub->db->system);
    status = log.number == 0 ? bb_scrub_logs_check_manifest(&scrub->logs)
                             : bb_scrub_logs_check(&scrub->logs, &log);
    if (bb_scrub_logs_is_damage(status)) {
        record_damage(scrub);
        status = BB_OK;
    }
    scrub->next_log += status == BB_OK;
    return status;
}

enum bb_status bb_scrub_next(struct bb_scrub *scrub, bool *ret_has_file)
{
    enum bb_status status = check_wanted(scrub);
    if (status != BB_OK)
        return status;
    if (!scrub->is_at_logs)
        (void)look_ahead(scrub, &scrub->file);
    scrub->is_at_logs = scrub->file == NULL;
    status = scrub->is_at_logs ? check_next_log(scrub) : check_next_table(scrub);
    *ret_has_file = !scrub->is_complete;
    return status == BB_OK && *ret_has_file ? bb_file_meter_end_slice(&scrub->meter) : status;
}

void bb_scrub_end(struct bb_scrub *scrub)
{
    struct bb_db *db = scrub->db;
    count_bytes(scrub);
    (void)bb_scrub_work_left(scrub);
    bb_mutex_lock(&db->mutex);
    db->counts.scrubs += scrub->report.next_table == 0;
    bb_mutex_unlock(&db->mutex);
}
