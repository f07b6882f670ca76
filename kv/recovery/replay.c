/* See replay.h. */
#include "kv/recovery/replay.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/status.h"
#include "compaction/merge/compaction.h"
#include "kv/background/edit_install.h"
#include "kv/background/waste_target.h"
#include "kv/batch.h"
#include "kv/indexes/index_build.h"
#include "kv/options.h"
#include "kv/recovery/log_run.h"
#include "kv/store/file_number.h"
#include "kv/wal/wal_reader.h"

/* Values of at least this size stay in the record's buffer, if the record is mostly that value. */
#define IN_PLACE_MIN ((size_t)64 * 1024)

struct bb_log_check bb_replay_check_from(const struct bb_manifest_state *state)
{
    return (struct bb_log_check){.expected_sequence = state->last_sequence + 1,
                                 .first_sequence = state->last_sequence + 1,
                                 .ends = state->log_ends,
                                 .end_count = state->log_end_count};
}

/* Walks one log and passes each new operation to `visit`. */
struct log_walk {
    const char *path;
    uint64_t number;
    struct bb_wal_reader *reader;
    enum bb_recovery recovery;
    struct bb_log_check *check;
    enum bb_status (*visit)(void *context, const struct bb_entry *entry);
    enum bb_status (*end_record)(void *context); /* may be NULL */
    void *context;
    uint64_t check_before; /* of the records of earlier logs */
    bool has_record;       /* a record of the log was used */
    size_t record_size;    /* of the current record */
};

static bool tolerates_damage(const struct log_walk *walk)
{
    return walk->recovery == BB_RECOVERY_POINT_IN_TIME;
}

static enum bb_status visit_operations(struct log_walk *walk, struct bb_batch_cursor *cursor)
{
    struct bb_entry entry;
    enum bb_status status = BB_OK;
    while (status == BB_OK) {
        status = bb_batch_cursor_next(cursor, &entry);
        if (status == BB_OK && walk->visit != NULL)
            status = walk->visit(walk->context, &entry);
    }
    return status == BB_NOT_FOUND ? BB_OK : status;
}

/* In strict mode: fails where other modes drop records. */
static enum bb_status fail_strict(const struct log_walk *walk, uint64_t offset, const char *reason)
{
    const struct bb_log_check *check = walk->check;
    return bb_corrupt((struct bb_place){.file = walk->path}, offset,
                      "%s; before that the logs have %" PRIu64 " records, up to sequence %" PRIu64
                      ", that can be read. Recovery is strict: another mode opens with these",
                      reason, check->record_count, check->expected_sequence - 1);
}

/* Handles a gap before the record that begins at `sequence`: an end of the state, or damage. Within
 * a log it is always damage, since everything before this record was readable. */
static enum bb_status meet_gap(struct log_walk *walk, uint64_t sequence)
{
    uint64_t durable = 0;
    enum bb_status status = bb_wal_reader_durable(walk->reader, &durable);
    if (status != BB_OK)
        return status;
    bool is_damage = walk->has_record || durable > BB_WAL_HEADER_SIZE;
    if (is_damage && !tolerates_damage(walk))
        return bb_corrupt(
            (struct bb_place){.file = walk->path}, bb_wal_reader_offset(walk->reader),
            "the record has sequence %" PRIu64 ", expected %" PRIu64 ": operations %s are missing",
            sequence, walk->check->expected_sequence,
            walk->has_record ? "before it" : "that were durable, of the logs before,");
    if (walk->recovery == BB_RECOVERY_STRICT)
        return fail_strict(walk, bb_wal_reader_offset(walk->reader),
                           "the log before has lost its end");
    walk->check->is_gap = true;
    walk->check->is_damaged |= is_damage;
    return BB_OK;
}

static void note_record(const struct log_walk *walk, uint64_t sequence)
{
    struct bb_log_check *check = walk->check;
    uint64_t of_log = bb_wal_reader_check(walk->reader);
    check->last = (struct bb_log_mark){.sequence = sequence,
                                       .check = bb_hash_mix(walk->check_before ^ of_log)};
    if (sequence == check->wanted.sequence)
        check->wanted = check->last;
}

static enum bb_status read_record(struct log_walk *walk, struct bb_bytes payload)
{
    struct bb_place place = {.file = walk->path, .offset = bb_wal_reader_offset(walk->reader)};
    struct bb_batch_cursor cursor;
    enum bb_status status = bb_batch_cursor_init(&cursor, payload, place);
    if (status != BB_OK)
        return status;
    struct bb_log_check *check = walk->check;
    if (check->expected_sequence != 0 && cursor.sequence > check->expected_sequence)
        return meet_gap(walk, cursor.sequence);
    if (check->expected_sequence != 0 && cursor.sequence < check->expected_sequence)
        return bb_corrupt(place, 0,
                          "the record has sequence %" PRIu64 ", expected %" PRIu64
                          ": an operation is there twice",
                          cursor.sequence, check->expected_sequence);
    walk->record_size = payload.size;
    walk->has_record = true;
    status = visit_operations(walk, &cursor);
    if (status == BB_OK && walk->end_record != NULL)
        status = walk->end_record(walk->context);
    check->expected_sequence = cursor.sequence + cursor.count;
    check->record_count++;
    note_record(walk, check->expected_sequence - 1);
    return status;
}

static const struct bb_wal_end *find_end(const struct bb_log_check *check, uint64_t number)
{
    for (size_t i = 0; i < check->end_count; i++) {
        if (check->ends[i].log_number == number)
            return &check->ends[i];
    }
    return NULL;
}

/* Checks a log of a closed store against the end recorded at the close. */
static enum bb_status check_end(struct log_walk *walk)
{
    const struct bb_wal_end *wanted = find_end(walk->check, walk->number);
    const struct bb_wal_report *report = bb_wal_reader_report(walk->reader);
    const struct bb_wal_end *found = &report->end;
    if (wanted == NULL || (found->offset == wanted->offset && found->check == wanted->check))
        return BB_OK;
    walk->check->is_damaged = true;
    if (tolerates_damage(walk))
        return BB_OK;
    return bb_corrupt((struct bb_place){.file = walk->path}, report->end_offset,
                      "the log ends here (%s), and had records up to %" PRIu64
                      " when the store was closed: durable ones are %s",
                      report->reason[0] == 0 ? "the file does" : report->reason, wanted->offset,
                      found->offset < wanted->offset ? "missing" : "others than these");
}

static enum bb_status walk_log(struct log_walk *walk)
{
    struct bb_bytes payload;
    enum bb_status status = BB_OK;
    while (status == BB_OK && !walk->check->is_gap) {
        status = bb_wal_reader_next(walk->reader, &payload);
        if (status == BB_OK)
            status = read_record(walk, payload);
    }
    if (status != BB_NOT_FOUND)
        return status;
    const struct bb_wal_report *report = bb_wal_reader_report(walk->reader);
    walk->check->dropped_bytes += report->dropped_bytes;
    walk->check->zeroed_logs += report->reason[0] != 0 && report->dropped_bytes == 0;
    walk->check->is_damaged |= report->is_damaged;
    status = check_end(walk);
    if (status == BB_OK && walk->recovery == BB_RECOVERY_STRICT && report->reason[0] != 0)
        status = fail_strict(walk, report->end_offset, report->reason);
    return status;
}

static enum bb_status open_and_walk(struct bb_file_system *fs, const uint8_t store_id[16],
                                    struct log_walk *walk)
{
    enum bb_status status = bb_wal_reader_open(fs, walk->path, walk->number, store_id,
                                               tolerates_damage(walk), &walk->reader);
    walk->check_before = bb_hash_mix(walk->check->last.check);
    if (status == BB_OK)
        status = walk_log(walk);
    bb_wal_reader_close(walk->reader);
    return status;
}

enum bb_status bb_replay_check_log(
    struct bb_file_system *fs, const char *path, uint64_t number, const uint8_t store_id[16],
    enum bb_recovery recovery, struct bb_log_check *check,
    enum bb_status (*visit)(void *context, const struct bb_entry *entry), void *context)
{
    struct log_walk walk = {.path = path,
                            .number = number,
                            .recovery = recovery,
                            .check = check,
                            .visit = visit,
                            .context = context};
    return open_and_walk(fs, store_id, &walk);
}

/* State of writing logs to tables. */
struct replay {
    struct bb_db *db;
    struct bb_manifest_state *state;
    struct bb_levels **levels;
    struct bb_log_run *run; /* NULL: no operations are collected */
    uint64_t capacity_bytes;
    const struct log_walk *walk; /* the walk of the current log */
    bool keeps_record;           /* values of the current record stay in it */
};

static enum bb_status add_table(struct replay *replay, uint64_t number,
                                const struct bb_table_meta *meta, struct bb_index_build *indexes)
{
    struct bb_edit edit = {0};
    struct bb_levels *levels = NULL;
    edit.next_file_number = atomic_load(&replay->db->next_file_number);
    edit.last_sequence = meta->sequence_max;
    enum bb_status status = bb_edit_add_table(&edit, 0, 0, number, meta);
    if (status == BB_OK)
        bb_index_build_describe(indexes, &edit);
    if (status == BB_OK)
        status = bb_edit_install_levels(replay->db, *replay->levels, &edit, &levels);
    if (status == BB_OK)
        status =
            bb_manifest_state_apply(replay->state, &edit, (struct bb_place){.file = "recovery"});
    bb_edit_deinit(&edit);
    if (status != BB_OK) {
        bb_levels_unref(levels);
        return status;
    }
    bb_levels_unref(*replay->levels);
    *replay->levels = levels;
    return BB_OK;
}

static enum bb_status write_stream(struct replay *replay, struct bb_iter *stream,
                                   const struct bb_range_tombstones *ranges,
                                   const struct bb_table_options *options)
{
    struct bb_db *db = replay->db;
    char path[BB_PATH_SIZE_MAX];
    struct bb_table_meta meta = {0};
    struct bb_index_build indexes = {0};
    struct bb_output_hooks hooks = bb_index_build_hooks(&indexes);
    uint64_t number = 0;
    enum bb_status status = bb_file_number_new(db, &number);
    if (status != BB_OK)
        return status;
    bb_filename_path(db->directory, BB_FILE_TABLE, number, path);
    bb_index_build_init(&indexes, db, db->system);
    status = bb_compaction_to_table(stream, ranges, path, options, NULL, 0, &hooks, &meta);
    if (status == BB_OK)
        status = add_table(replay, number, &meta, &indexes);
    if (status == BB_OK)
        bb_index_build_commit(&indexes);
    bb_index_build_deinit(&indexes);
    bb_table_meta_deinit(&meta);
    return status;
}

static enum bb_status write_content(struct replay *replay)
{
    struct bb_db *db = replay->db;
    struct bb_table_options options;
    struct bb_iter *stream = NULL;
    struct bb_range_tombstones *ranges = NULL;
    enum bb_status status = bb_log_run_sort(replay->run);
    if (status == BB_OK)
        status = bb_log_run_ranges(replay->run, &ranges);
    if (status == BB_OK)
        status = bb_log_run_iter_create(replay->run, &stream);
    if (status == BB_OK) {
        bb_options_for_table(&db->options, db->system, &db->secret, NULL, &options);
        const struct bb_waste_target_tables tables = {
            .key_count = bb_log_run_key_count(replay->run),
            .hull = {.comparator = db->options.comparator}};
        bb_waste_target_run_options(db, *replay->levels, &tables, NULL, &options);
        status = write_stream(replay, stream, ranges, &options);
    }
    bb_iter_destroy(stream);
    bb_range_tombstones_destroy(ranges);
    return status;
}

/* Writes a table and destroys the run, even an empty one: empty ranges leave no operation in it. */
static enum bb_status write_table(struct replay *replay)
{
    enum bb_status status = BB_OK;
    if (replay->run != NULL && !bb_log_run_is_empty(replay->run))
        status = write_content(replay);
    bb_log_run_destroy(replay->run);
    replay->run = NULL;
    return status;
}

static enum bb_status make_space(struct replay *replay, const struct bb_entry *entry)
{
    uint64_t size = entry->key.size + entry->value.size;
    if (replay->run != NULL && bb_log_run_fits(replay->run, size))
        return BB_OK;
    enum bb_status status = write_table(replay);
    if (status != BB_OK)
        return status;
    return bb_log_run_create(replay->db->options.comparator, replay->capacity_bytes, size,
                             &replay->run);
}

static bool stays_in_record(const struct replay *replay, const struct bb_entry *entry)
{
    size_t size = entry->value.size;
    return entry->kind == BB_ENTRY_PUT && size >= IN_PLACE_MIN &&
           size >= replay->walk->record_size / 2 && bb_wal_reader_is_own(replay->walk->reader);
}

static enum bb_status replay_operation(void *context, const struct bb_entry *entry)
{
    struct replay *replay = context;
    enum bb_status status = make_space(replay, entry);
    if (status != BB_OK)
        return status;
    if (!stays_in_record(replay, entry))
        return bb_log_run_add(replay->run, entry);
    replay->keeps_record = true;
    return bb_log_run_add_in_place(replay->run, entry);
}

/* Keeps the record in the run if its values are in place, unless the run was written in between. A
 * full run is written before the next record is read, which may be just as large. */
static enum bb_status end_record(void *context)
{
    struct replay *replay = context;
    if (!replay->keeps_record)
        return BB_OK;
    struct bb_buf record = bb_wal_reader_take(replay->walk->reader);
    enum bb_status status = bb_log_run_keep(replay->run, &record);
    bb_buf_deinit(&record);
    replay->keeps_record = false;
    if (status == BB_OK && !bb_log_run_fits(replay->run, 0))
        status = write_table(replay);
    return status;
}

/* An operation without effect, an empty range, leaves only its sequence, which must not be used
 * again. */
static enum bb_status note_sequence(struct replay *replay, uint64_t last_sequence)
{
    struct bb_edit edit = {0};
    if (last_sequence <= replay->state->last_sequence)
        return BB_OK;
    edit.last_sequence = last_sequence;
    enum bb_status status =
        bb_manifest_state_apply(replay->state, &edit, (struct bb_place){.file = "recovery"});
    bb_edit_deinit(&edit);
    return status;
}

/* bytes: 0 if their number is unknown. */
static void tell_dropped(struct bb_db *db, const char *path, uint64_t bytes, const char *why)
{
    struct bb_buf text = {0};
    enum bb_status status =
        bytes == 0
            ? bb_buf_print(&text, "%s: %s%c", path, why, 0)
            : bb_buf_print(&text, "%s: %" PRIu64 " bytes were dropped: %s%c", path, bytes, why, 0);
    bb_store_tell(db, &text, status);
}

static enum bb_status replay_log(struct replay *replay, uint64_t number, struct bb_log_check *check,
                                 bool *ret_is_cut, uint64_t *ret_dropped)
{
    char path[BB_PATH_SIZE_MAX];
    bb_filename_path(replay->db->directory, BB_FILE_LOG, number, path);
    struct log_walk walk = {.path = path,
                            .number = number,
                            .recovery = replay->db->options.recovery,
                            .check = check,
                            .visit = replay_operation,
                            .end_record = end_record,
                            .context = replay};
    uint64_t dropped_before = check->dropped_bytes;
    uint64_t zeroed_before = check->zeroed_logs;
    bool was_damaged = check->is_damaged;
    replay->walk = &walk;
    replay->keeps_record = false;
    enum bb_status status = open_and_walk(replay->db->system, replay->db->store_id, &walk);
    replay->walk = NULL;
    *ret_is_cut = check->is_damaged;
    *ret_dropped = check->dropped_bytes - dropped_before;
    if (status == BB_OK && check->is_gap)
        tell_dropped(replay->db, walk.path, 0,
                     "all of this log is dropped, because the log before it has lost its end");
    if (status == BB_OK && check->dropped_bytes > dropped_before)
        tell_dropped(replay->db, walk.path, check->dropped_bytes - dropped_before,
                     check->is_damaged && !was_damaged
                         ? "the log is damaged, and some of it had been synced"
                         : "the end was not synced");
    if (status == BB_OK && check->zeroed_logs > zeroed_before)
        tell_dropped(replay->db, walk.path, 0,
                     "the file ends in zeros, and any data that they replaced is lost");
    return status;
}

/* Logs after a gap are not read. They count as cut if the gap is damage. */
static enum bb_status replay_each(struct replay *replay, const uint64_t *numbers, size_t count,
                                  struct bb_log_check *check, struct bb_replay_report *report)
{
    struct bb_db *db = replay->db;
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        bool is_cut = check->is_damaged;
        uint64_t dropped = 0;
        if (!check->is_gap)
            status = replay_log(replay, numbers[i], check, &is_cut, &dropped);
        if (is_cut)
            report->cut[report->cut_count++] = numbers[i];
        if (status == BB_OK && (dropped > 0 || check->is_gap || check->is_damaged))
            status = bb_dropped_count_log(db->system, db->directory, db->store_id, numbers[i],
                                          dropped, check->expected_sequence, &report->dropped);
    }
    return status;
}

static enum bb_status replay_all(struct replay *replay, const uint64_t *numbers, size_t count,
                                 struct bb_replay_report *report)
{
    struct bb_log_check check = bb_replay_check_from(replay->state);
    struct bb_wal_end *ends = replay->state->log_ends;
    replay->state->log_ends = NULL; /* the new tables change the state */
    replay->state->log_end_count = 0;
    enum bb_status status = replay_each(replay, numbers, count, &check, report);
    if (status == BB_OK)
        status = write_table(replay);
    if (status == BB_OK)
        status = note_sequence(replay, check.expected_sequence - 1);
    bb_free(ends);
    check.ends = NULL;
    check.end_count = 0;
    report->log_count = count;
    report->check = check;
    return status;
}

void bb_replay_describe(const struct bb_log_check *check, const struct bb_dropped *dropped,
                        uint64_t log_count, struct bb_db_recovery *report)
{
    bool is_empty = check->record_count == 0;
    report->logs = log_count;
    report->records = check->record_count;
    report->sequence_first = is_empty ? 0 : check->first_sequence;
    report->sequence_last = is_empty ? 0 : check->expected_sequence - 1;
    report->dropped_bytes += dropped->bytes;
    report->dropped_logs += dropped->logs;
    report->dropped_records += dropped->records;
    report->dropped_sequence_first = dropped->sequence_first;
    report->dropped_sequence_last = dropped->sequence_last;
    report->zeroed_logs = check->zeroed_logs;
    report->is_damaged |= check->is_damaged;
}

void bb_replay_report_deinit(struct bb_replay_report *report)
{
    bb_free(report->cut);
    *report = (struct bb_replay_report){0};
}

enum bb_status bb_replay_logs(struct bb_db *db, const struct bb_directory *directory,
                              struct bb_manifest_state *state, struct bb_levels **levels,
                              struct bb_replay_report *ret_report)
{
    struct replay replay = {.db = db,
                            .state = state,
                            .levels = levels,
                            .capacity_bytes = db->options.write_buffer_bytes};
    struct bb_replay_report report = {0};
    uint64_t *numbers = NULL;
    size_t count = 0;
    enum bb_status status = bb_directory_logs(directory, state, &numbers, &count);
    if (status == BB_OK) {
        report.cut = bb_alloc_zeroed(count + 1, sizeof(*report.cut));
        status = report.cut == NULL
                     ? bb_fail(BB_NO_MEMORY, "no memory for the list of %zu logs", count)
                     : replay_all(&replay, numbers, count, &report);
    }
    bb_log_run_destroy(replay.run);
    bb_free(numbers);
    *ret_report = report;
    return status;
}

static enum bb_status keep_file(struct bb_db *db, enum bb_file_kind kind, uint64_t number)
{
    char from[BB_PATH_SIZE_MAX];
    char to[BB_PATH_SIZE_MAX + 16];
    bb_filename_path(db->directory, kind, number, from);
    (void)snprintf(to, sizeof(to), "%s.damaged", from);
    /* A file with this name is a copy of the same log by an earlier attempt, perhaps incomplete. */
    enum bb_status status = db->system->ops->remove(db->system, to);
    if (status == BB_OK || status == BB_NOT_FOUND)
        status = bb_file_copy_synced(db->system, from, to); /* sync S13 */
    return status;
}

static enum bb_status keep_log(struct bb_db *db, uint64_t number)
{
    enum bb_status status = keep_file(db, BB_FILE_LOG, number);
    if (status != BB_OK)
        return status;
    struct bb_error before;
    bb_error_save(&before);
    status = keep_file(db, BB_FILE_WINDOW, number);
    return bb_error_settle(status == BB_NOT_FOUND ? BB_OK : status, &before);
}

enum bb_status bb_replay_keep_cut_logs(struct bb_db *db, const struct bb_replay_report *report)
{
    enum bb_status status = BB_OK;
    if (db->options.recovery != BB_RECOVERY_POINT_IN_TIME)
        return BB_OK;
    for (size_t i = 0; i < report->cut_count && status == BB_OK; i++)
        status = keep_log(db, report->cut[i]);
    return status;
}
