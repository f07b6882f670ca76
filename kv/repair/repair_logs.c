/* The logs in a repair. See repair.h.
 *
 * Logs that an opening can replay are kept. Otherwise every complete batch is written to tables of
 * level 0, and the logs are set aside. Batches after a hole are written too, unless the caller only
 * wants the data before the first hole.
 */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/status.h"
#include "kv/batch.h"
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_ranges.h"
#include "kv/recovery/replay.h"
#include "kv/repair/repair.h"
#include "kv/wal/wal_salvage.h"

struct reading {
    struct bb_repair *repair;
    const char *name;
    struct bb_memtable *memtable;
    uint64_t expected_sequence; /* 0: any */
    uint64_t tables_sequence;   /* operations up to here may be in tables */
    bool is_ended;              /* by a hole, if later data is not requested */
};

/* ---- checking for replay ---- */

static enum bb_status check_logs(struct bb_repair *repair, const uint64_t *numbers, size_t count,
                                 struct bb_log_check *check)
{
    char path[BB_PATH_SIZE_MAX];
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK && !check->is_gap; i++) {
        bb_filename_path(repair->path, BB_FILE_LOG, numbers[i], path);
        status = bb_replay_check_log(repair->fs, path, numbers[i], repair->state.identity.store_id,
                                     repair->options.recovery, check, NULL, NULL);
    }
    return status;
}

/* *ret_is_replayable: an opening can replay the logs after the tables. An outdated state may end
 * before the first log that exists: that is not a gap in the logs. */
static enum bb_status find_replayable(struct bb_repair *repair, const uint64_t *numbers,
                                      size_t count, bool *ret_is_replayable)
{
    struct bb_log_check check = bb_replay_check_from(&repair->state);
    *ret_is_replayable = false;
    if (bb_repair_lacks_first_log(repair) && !repair->is_outdated) {
        bb_repair_tell(repair, "%06" PRIu64 ".wal is missing", repair->state.log_number);
        repair->report.logs_lost++;
        repair->report.deletions_may_return = true;
        return BB_OK;
    }
    if (repair->are_levels_unknown)
        return BB_OK;
    enum bb_status status = check_logs(repair, numbers, count, &check);
    if (status == BB_CORRUPT) {
        bb_repair_tell(repair, "%s", bb_error_last()->message);
        return BB_OK;
    }
    /* Tables with operations after those in the logs would make a replay wrong. */
    if (status == BB_OK && bb_repair_has_newer(repair, check.expected_sequence - 1))
        return BB_OK;
    *ret_is_replayable = status == BB_OK && (repair->is_current || !check.is_gap);
    repair->kept_sequence = *ret_is_replayable ? check.expected_sequence - 1 : 0;
    return status;
}

/* ---- reading complete batches ---- */

static enum bb_status write_ranges(const struct bb_memtable *memtable,
                                   struct bb_repair_table *table)
{
    struct bb_range_tombstone_array array = {0};
    enum bb_status status = bb_memtable_ranges_list(memtable, &array);
    if (status == BB_OK)
        status = bb_repair_table_add_ranges(table, array.tombstones, array.count);
    bb_range_tombstone_array_deinit(&array);
    return status;
}

static enum bb_status write_content(struct reading *reading)
{
    struct bb_repair *repair = reading->repair;
    struct bb_repair_table table = {.repair = repair};
    struct bb_iter *iter = NULL;
    enum bb_status status = bb_memtable_iter_create(reading->memtable, &iter);
    if (status == BB_OK)
        bb_iter_seek_first(iter);
    while (status == BB_OK && iter->is_valid) {
        status = bb_repair_table_add(&table, &iter->entry);
        if (status == BB_OK)
            bb_iter_next(iter);
    }
    if (status == BB_OK)
        status = iter->status;
    if (status == BB_OK)
        status = write_ranges(reading->memtable, &table);
    if (status == BB_OK)
        status = bb_repair_table_finish(&table);
    bb_repair_table_abandon(&table);
    bb_iter_destroy(iter);
    return status;
}

/* Writes the memtable to a table and destroys it. An empty memtable is only destroyed: it exists
 * when all of its operations delete empty ranges. */
static enum bb_status write_table(struct reading *reading)
{
    enum bb_status status = BB_OK;
    if (reading->memtable != NULL && !bb_memtable_is_empty(reading->memtable))
        status = write_content(reading);
    bb_memtable_destroy(reading->memtable);
    reading->memtable = NULL;
    return status;
}

static enum bb_status make_space(struct reading *reading, const struct bb_entry *entry)
{
    size_t size = entry->key.size + entry->value.size;
    uint64_t capacity = bb_memtable_capacity_for(1, size);
    if (reading->memtable != NULL && bb_memtable_fits(reading->memtable, 1, size))
        return BB_OK;
    enum bb_status status = write_table(reading);
    if (capacity < reading->repair->options.write_buffer_bytes)
        capacity = reading->repair->options.write_buffer_bytes;
    return status == BB_OK ? bb_memtable_create(reading->repair->options.comparator,
                                                (size_t)capacity, &reading->memtable)
                           : status;
}

static enum bb_status add_operation(struct reading *reading, const struct bb_entry *entry)
{
    struct bb_repair *repair = reading->repair;
    enum bb_status status = make_space(reading, entry);
    return status == BB_OK
               ? bb_memtable_add(reading->memtable, entry,
                                 bb_hash_key(&repair->state.identity.secret, entry->key))
               : status;
}

/* Checks all operations before any is added. Errors: BB_CORRUPT for invalid bytes. The checksum of
 * the record is correct, so the batch was written with these bytes. */
static enum bb_status check_batch(struct bb_batch_cursor cursor)
{
    struct bb_entry entry;
    enum bb_status status = BB_OK;
    while (status == BB_OK)
        status = bb_batch_cursor_next(&cursor, &entry);
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status add_batch(struct reading *reading, struct bb_batch_cursor *cursor)
{
    struct bb_entry entry;
    enum bb_status status = BB_OK;
    while (status == BB_OK) {
        status = bb_batch_cursor_next(cursor, &entry);
        if (status == BB_OK)
            status = add_operation(reading, &entry);
    }
    return status == BB_NOT_FOUND ? BB_OK : status;
}

/* True when the batch is to be added. A batch that begins before the expected sequence was read
 * already. A later begin is a hole, unless tables may have the operations in between: their log was
 * removed after a flush, or an ingest skipped their sequences. */
static bool follows(struct reading *reading, const struct bb_batch_cursor *cursor)
{
    struct bb_repair *repair = reading->repair;
    uint64_t expected = reading->expected_sequence;
    if (expected != 0 && cursor->sequence < expected)
        return false;
    if (expected == 0 || cursor->sequence == expected ||
        cursor->sequence <= reading->tables_sequence + 1)
        return true;
    bb_repair_tell(repair, "%s: %" PRIu64 " operations are missing, from sequence %" PRIu64 " on",
                   reading->name, cursor->sequence - expected, expected);
    repair->report.log_holes++;
    repair->report.deletions_may_return = true;
    reading->is_ended = repair->options.recovery == BB_RECOVERY_POINT_IN_TIME;
    return !reading->is_ended;
}

static enum bb_status on_record(void *context, struct bb_bytes payload, uint64_t offset)
{
    struct reading *reading = context;
    struct bb_place place = {.file = reading->name, .offset = offset};
    struct bb_batch_cursor cursor;
    if (reading->is_ended)
        return BB_OK;
    enum bb_status status = bb_batch_cursor_init(&cursor, payload, place);
    if (status == BB_OK)
        status = check_batch(cursor);
    if (status == BB_CORRUPT) {
        bb_repair_tell(reading->repair, "%s", bb_error_last()->message);
        reading->repair->report.log_bytes_lost += payload.size;
        return BB_OK;
    }
    if (status != BB_OK || !follows(reading, &cursor))
        return status;
    reading->expected_sequence = cursor.sequence + cursor.count;
    reading->repair->report.log_records++;
    return add_batch(reading, &cursor);
}

static void count_log(struct bb_repair *repair, const char *name,
                      const struct bb_wal_salvage_report *report)
{
    repair->report.logs_read++;
    repair->report.log_bytes_lost += report->bytes_lost;
    if (report->bytes_lost == 0)
        return;
    bb_repair_tell(repair, "%s: %" PRIu64 " bytes in no whole batch", name, report->bytes_lost);
    repair->report.deletions_may_return = true;
}

/* Counts bytes that are missing in the log according to the manifest of a closed store. */
static void count_cut(struct bb_repair *repair, const struct bb_directory_file *file,
                      const struct bb_wal_salvage_report *report)
{
    const struct bb_manifest_state *state = &repair->state;
    for (size_t i = 0; i < state->log_end_count; i++) {
        const struct bb_wal_end *end = &state->log_ends[i];
        if (end->log_number != file->is.number || report->end_offset >= end->offset)
            continue;
        bb_repair_tell(repair, "%s: its last %" PRIu64 " bytes are missing", file->name,
                       end->offset - report->end_offset);
        repair->report.log_bytes_lost += end->offset - report->end_offset;
        repair->report.deletions_may_return = true;
    }
}

static void set_aside(struct bb_repair *repair, const struct bb_directory_file *log)
{
    const struct bb_directory_file *window = bb_repair_find(repair, BB_FILE_WINDOW, log->is.number);
    bb_repair_set_aside(repair, log);
    if (window != NULL)
        bb_repair_set_aside(repair, window);
}

static enum bb_status read_log(struct reading *reading, const struct bb_directory_file *file)
{
    struct bb_repair *repair = reading->repair;
    struct bb_wal_salvage_report report = {0};
    char path[BB_PATH_SIZE_MAX];
    reading->name = file->name;
    set_aside(repair, file);
    bb_filename_path(repair->path, BB_FILE_LOG, file->is.number, path);
    enum bb_status status =
        bb_wal_salvage(repair->fs, path, file->is.number, repair->state.identity.store_id,
                       on_record, reading, &report);
    if (status == BB_OK) {
        count_log(repair, file->name, &report);
        count_cut(repair, file, &report);
    }
    if (status != BB_CORRUPT)
        return status;
    bb_repair_tell(repair, "%s", bb_error_last()->message);
    repair->report.logs_lost++;
    repair->report.deletions_may_return = true;
    return BB_OK;
}

static enum bb_status read_logs(struct bb_repair *repair, const uint64_t *numbers, size_t count)
{
    struct reading reading = {.repair = repair};
    enum bb_status status = BB_OK;
    /* Without a manifest, or with an old one, data before the logs may be in tables. */
    if (repair->has_manifest && !repair->is_outdated)
        reading.expected_sequence = repair->state.last_sequence + 1;
    else
        reading.tables_sequence = repair->edit.last_sequence;
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = read_log(&reading, bb_repair_find(repair, BB_FILE_LOG, numbers[i]));
    if (status == BB_OK)
        status = write_table(&reading);
    bb_memtable_destroy(reading.memtable);
    return status;
}

/* True if find_replayable counted this log. */
static bool is_first_log(const struct bb_repair *repair, const struct bb_directory_file *window)
{
    return window->is.number == repair->state.log_number && !repair->is_outdated;
}

/* The records of a window cannot be used without the earlier ones, which were in the log. */
static void set_lone_windows_aside(struct bb_repair *repair)
{
    for (size_t i = 0; i < repair->directory.file_count; i++) {
        const struct bb_directory_file *file = &repair->directory.files[i];
        if (!bb_directory_is_lone_window(&repair->directory, &repair->state, file))
            continue;
        bb_repair_set_aside(repair, file);
        if (is_first_log(repair, file))
            continue;
        bb_repair_tell(repair, "%06" PRIu64 ".wal is missing, but its window %s exists",
                       file->is.number, file->name);
        repair->report.logs_lost++;
        repair->report.deletions_may_return = true;
    }
}

enum bb_status bb_repair_logs(struct bb_repair *repair)
{
    /* An outdated state may never have been current: an opening may have written it, and then
     * crashed and lost the tables that it had made from the logs. All logs are therefore read. */
    static const struct bb_manifest_state nothing;
    const struct bb_manifest_state *state = repair->is_outdated ? &nothing : &repair->state;
    uint64_t *numbers = NULL;
    size_t count = 0;
    enum bb_status status = bb_directory_logs(&repair->directory, state, &numbers, &count);
    if (status == BB_OK)
        status = find_replayable(repair, numbers, count, &repair->keeps_logs);
    set_lone_windows_aside(repair);
    if (status == BB_OK && repair->keeps_logs)
        repair->report.logs_kept = count;
    else if (status == BB_OK)
        status = read_logs(repair, numbers, count);
    bb_free(numbers);
    return status;
}
