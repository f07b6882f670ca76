/* See scrub_logs.h. */
#include "kv/background/scrub_logs.h"

#include <inttypes.h>

#include "base/status.h"
#include "kv/background/page_cache.h"
#include "kv/manifest/current.h"
#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_writer.h"

/* ---- the manifest ---- */

/* Number 0: no manifest can be checked. */
static enum bb_status find_manifest(struct bb_db *db, struct bb_scrub_log *ret_manifest)
{
    *ret_manifest = (struct bb_scrub_log){0};
    if (db->options.read_only)
        return bb_current_read(db->system, db->directory, &ret_manifest->number);
    bb_mutex_lock(&db->mutex);
    ret_manifest->number = db->manifest_number;
    ret_manifest->durable = db->manifest_durable;
    bb_mutex_unlock(&db->mutex);
    return BB_OK;
}

/* A rotation removes the old manifest before db->manifest_number names the new one. It holds
 * `installing` until then, so this waits for a rotation in progress. */
static enum bb_status find_manifest_after_rotation(struct bb_db *db,
                                                   struct bb_scrub_log *ret_manifest)
{
    if (db->options.read_only)
        return find_manifest(db, ret_manifest);
    bb_mutex_lock(&db->installing);
    enum bb_status status = find_manifest(db, ret_manifest);
    bb_mutex_unlock(&db->installing);
    return status;
}

/* An adopted manifest was whole when the store was opened, and has not been written since. */
static bool is_cut(const struct bb_db *db, const struct bb_scrub_log *manifest,
                   const struct bb_manifest_report *report)
{
    bool is_adopted = manifest->durable == 0 && !db->options.read_only;
    return is_adopted ? !report->is_whole : report->end_offset < manifest->durable;
}

static enum bb_status read_manifest(struct bb_scrub_logs *logs, const struct bb_scrub_log *manifest)
{
    struct bb_db *db = logs->db;
    char path[BB_PATH_SIZE_MAX];
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    bb_page_cache_forget(db, BB_FILE_MANIFEST, manifest->number);
    bb_filename_path(db->directory, BB_FILE_MANIFEST, manifest->number, path);
    enum bb_status status = bb_manifest_read(bb_file_meter_system(logs->meter), path,
                                             manifest->number, NULL, NULL, &state, &report);
    if (status == BB_OK && is_cut(db, manifest, &report))
        status = bb_corrupt((struct bb_place){.file = path}, report.end_offset,
                            "the manifest ends here, but more of it was written: %s",
                            report.dropped[0] == 0 ? "the file ends" : report.dropped);
    logs->first = status == BB_OK ? state.log_number : logs->first;
    bb_manifest_state_deinit(&state);
    return status;
}

static void mark_manifest(struct bb_db *db, uint64_t number, bool is_damaged)
{
    bb_mutex_lock(&db->mutex);
    if (db->options.read_only || db->manifest_number == number)
        atomic_store(&db->is_manifest_damaged, is_damaged);
    bb_mutex_unlock(&db->mutex);
}

/* The manifest was not found: BB_OK when another one has replaced it. */
static enum bb_status check_replaced(struct bb_db *db, uint64_t number)
{
    struct bb_scrub_log now = {0};
    enum bb_status status = find_manifest_after_rotation(db, &now);
    if (status != BB_OK || now.number != number)
        return status;
    return bb_fail(BB_CORRUPT, "%s/MANIFEST-%06" PRIu64 ": missing, and the store uses it",
                   db->directory, number);
}

enum bb_status bb_scrub_logs_check_manifest(struct bb_scrub_logs *logs)
{
    struct bb_scrub_log manifest = {0};
    struct bb_error before; /* a rotation during the check is no failure */
    enum bb_status status = BB_OK;
    bb_error_save(&before);
    for (bool is_read = false; status == BB_OK && !is_read;) {
        status = find_manifest(logs->db, &manifest);
        if (status != BB_OK || manifest.number == 0)
            return status;
        status = read_manifest(logs, &manifest);
        is_read = status != BB_NOT_FOUND;
        if (!is_read)
            status = check_replaced(logs->db, manifest.number);
    }
    if (status == BB_OK || bb_scrub_logs_is_damage(status)) {
        logs->report->manifests++;
        mark_manifest(logs->db, manifest.number, status != BB_OK);
    }
    return bb_error_settle(status, &before);
}

/* ---- logs ---- */

/* Considers one log for *best, the log with the lowest number that is not below `first`, and for
 * *end, which is above the numbers of all logs. */
static void consider(const struct bb_scrub_log *log, uint64_t first, struct bb_scrub_log *best,
                     uint64_t *end)
{
    if (log->number != 0 && log->number >= first &&
        (best->number == 0 || log->number < best->number))
        *best = *log;
    if (log->number >= *end)
        *end = log->number + 1;
}

static struct bb_scrub_log log_of(const struct bb_write_buffer *buffer)
{
    struct bb_scrub_log log = {0};
    if (buffer->log != NULL) {
        log.number = buffer->log_number;
        log.durable = bb_wal_writer_durable(buffer->log);
    }
    return log;
}

static void find_own_log(struct bb_db *db, uint64_t first, struct bb_scrub_log *best, uint64_t *end)
{
    bb_mutex_lock(&db->mutex);
    for (size_t i = 0; i < db->view->buffer_count; i++) {
        struct bb_scrub_log log = log_of(db->view->buffers[i]);
        consider(&log, first, best, end);
    }
    bb_mutex_unlock(&db->mutex);
}

/* For a read-only store, whose logs another process writes: the logs that an opening would read. */
static enum bb_status find_other_log(const struct bb_scrub_logs *logs, uint64_t first,
                                     struct bb_scrub_log *best, uint64_t *end)
{
    struct bb_db *db = logs->db;
    struct bb_file_names names = {0};
    enum bb_status status = db->system->ops->list(db->system, db->directory, &names);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < names.count; i++) {
        struct bb_filename name = bb_filename_decode(bb_bytes_of_text(names.names[i]));
        struct bb_scrub_log log = {.number = name.number};
        if (name.kind == BB_FILE_LOG && name.number >= logs->first)
            consider(&log, first, best, end);
    }
    bb_file_names_deinit(&names);
    return BB_OK;
}

enum bb_status bb_scrub_logs_find(struct bb_scrub_logs *logs, uint64_t first,
                                  struct bb_scrub_log *ret_log, uint64_t *ret_end)
{
    struct bb_scrub_log best = {0};
    uint64_t end = 0;
    enum bb_status status = BB_OK;
    if (logs->db->options.read_only)
        status = find_other_log(logs, first, &best, &end);
    else
        find_own_log(logs->db, first, &best, &end);
    if (status == BB_OK) {
        *ret_log = best;
        *ret_end = end;
    }
    return status;
}

static enum bb_status read_all(struct bb_wal_reader *reader, const char *path,
                               const struct bb_scrub_log *log)
{
    struct bb_bytes record;
    enum bb_status status = BB_OK;
    while (status == BB_OK)
        status = bb_wal_reader_next(reader, &record);
    if (status != BB_NOT_FOUND)
        return status;
    const struct bb_wal_report *report = bb_wal_reader_report(reader);
    if (report->end_offset >= log->durable)
        return BB_OK;
    return bb_corrupt((struct bb_place){.file = path}, report->end_offset,
                      "the log ends here, but it was synced up to %" PRIu64 ": %s", log->durable,
                      report->reason[0] == 0 ? "the file ends" : report->reason);
}

static enum bb_status read_log(struct bb_scrub_logs *logs, const char *path,
                               const struct bb_scrub_log *log)
{
    struct bb_wal_reader *reader = NULL;
    enum bb_status status = bb_wal_reader_open(bb_file_meter_system(logs->meter), path, log->number,
                                               logs->db->store_id, false, &reader);
    if (status != BB_OK)
        return status;
    status = read_all(reader, path, log);
    logs->report->log_records += bb_wal_reader_report(reader)->record_count;
    bb_wal_reader_close(reader);
    return status;
}

/* Sets the damage flag of the log's buffer. False when the log is no longer part of the store; a
 * read-only store has no such flag, and the result is true. */
static bool mark_log(struct bb_db *db, uint64_t number, enum bb_status status)
{
    bool is_there = db->options.read_only;
    bb_mutex_lock(&db->mutex);
    for (size_t i = 0; i < db->view->buffer_count && !db->options.read_only; i++) {
        struct bb_write_buffer *buffer = db->view->buffers[i];
        if (buffer->log == NULL || buffer->log_number != number)
            continue;
        is_there = true;
        if (status == BB_OK || bb_scrub_logs_is_damage(status) || status == BB_NOT_FOUND)
            atomic_store(&buffer->is_log_damaged, status != BB_OK);
    }
    bb_mutex_unlock(&db->mutex);
    return is_there;
}

enum bb_status bb_scrub_logs_check(struct bb_scrub_logs *logs, const struct bb_scrub_log *log)
{
    struct bb_db *db = logs->db;
    char path[BB_PATH_SIZE_MAX];
    struct bb_error before; /* the removal of the log is no failure */
    bb_error_save(&before);
    bb_page_cache_forget(db, BB_FILE_LOG, log->number);
    bb_filename_path(db->directory, BB_FILE_LOG, log->number, path);
    enum bb_status status = read_log(logs, path, log);
    bool is_there = mark_log(db, log->number, status);
    bool is_gone = status == BB_NOT_FOUND && (!is_there || db->options.read_only);
    if (status == BB_NOT_FOUND && !is_gone)
        status = bb_corrupt((struct bb_place){.file = path}, 0,
                            "the store writes this log, and there is no such file");
    logs->report->logs += !is_gone && (status == BB_OK || bb_scrub_logs_is_damage(status));
    return bb_error_settle(is_gone ? BB_OK : status, &before);
}

uint64_t bb_scrub_logs_work(struct bb_db *db, uint64_t first)
{
    uint64_t work = 0;
    bb_mutex_lock(&db->mutex);
    for (size_t i = 0; i < db->view->buffer_count; i++) {
        struct bb_scrub_log log = log_of(db->view->buffers[i]);
        work += log.number >= first ? log.durable : 0;
    }
    bb_mutex_unlock(&db->mutex);
    return work;
}
