/* See kv/readonly/read_only_snapshot.h. */
#include "kv/readonly/read_only_snapshot.h"

#include "base/alloc.h"
#include "base/status.h"
#include "kv/background/edit_install.h"
#include "kv/directory/directory.h"
#include "kv/indexes/index_file.h"
#include "kv/indexes/store_catalog.h"
#include "kv/manifest/current.h"
#include "kv/manifest/manifest.h"
#include "kv/memtable/memtable.h"
#include "kv/recovery/replay.h"
#include "kv/store/store_options.h"

/* Gives up if the writer changes the store during this many attempts. Each attempt has less to open
 * than the previous one. */
#define ATTEMPTS_MAX 100

/* The current manifest and its size: while both are unchanged, no file that the manifest names was
 * removed. */
struct mark {
    uint64_t number;
    uint64_t size; /* 0: the manifest was removed, so CURRENT names another one */
};

/* One attempt. */
struct attempt {
    struct bb_db *db;
    struct bb_directory directory;
    struct bb_manifest_state state;
    struct bb_manifest_report manifest;
    uint64_t *logs;
    size_t log_count;
    struct bb_log_check check; /* where the logs end */
    bool is_gap;               /* a log, or its end, is missing */
    /* The operations of the logs: they are counted first, then added. */
    struct bb_memtable *memtable;    /* NULL while counting */
    struct bb_log_mark last_before;  /* the last record of the earlier snapshot */
    struct bb_log_mark last_counted; /* the last record that was counted */
    /* Operations up to here are in the memtable already. */
    uint64_t sequence_begin;
    /* Later ones were written after the counting. */
    uint64_t sequence_end;
    uint64_t entry_count;
    uint64_t raw_bytes;
};

static void deinit_attempt(struct attempt *attempt)
{
    bb_directory_deinit(&attempt->directory);
    bb_manifest_state_deinit(&attempt->state);
    bb_free(attempt->logs);
}

void bb_read_only_snapshot_deinit(struct bb_read_only_snapshot *snapshot)
{
    bb_levels_unref(snapshot->levels);
    bb_write_buffer_unref(snapshot->buffer);
    *snapshot = (struct bb_read_only_snapshot){0};
}

/* ---- manifest ---- */

static enum bb_status take_mark(struct bb_db *db, struct mark *ret_mark)
{
    char path[BB_PATH_SIZE_MAX];
    struct mark mark = {0};
    bool is_directory = false;
    enum bb_status status = bb_current_read(db->system, db->directory, &mark.number);
    if (status != BB_OK)
        return status;
    bb_filename_path(db->directory, BB_FILE_MANIFEST, mark.number, path);
    status = db->system->ops->status(db->system, path, &is_directory, &mark.size);
    if (status != BB_OK && status != BB_NOT_FOUND)
        return status;
    *ret_mark = mark;
    return BB_OK;
}

/* Fails because there is no CURRENT. */
static enum bb_status fail_no_store(struct attempt *attempt)
{
    struct bb_db *db = attempt->db;
    enum bb_status status = bb_directory_scan(db->system, db->directory, &attempt->directory);
    if (status == BB_OK)
        status = bb_directory_check_new(db->system, db->directory, &attempt->directory);
    if (status != BB_OK)
        return status;
    return bb_fail(BB_NOT_FOUND, "%s: not a store: there is no CURRENT", db->directory);
}

static enum bb_status read_manifest(struct attempt *attempt)
{
    struct bb_db *db = attempt->db;
    const struct bb_store_identity *identity = &attempt->state.identity;
    static const uint8_t nobody[sizeof(db->store_id)];
    enum bb_status status =
        bb_manifest_load(db->system, db->directory, &attempt->state, &attempt->manifest);
    if (status == BB_NOT_FOUND)
        return fail_no_store(attempt);
    if (status == BB_OK)
        status = bb_manifest_check_comparator(db->directory, identity, db->options.comparator);
    if (status != BB_OK)
        return status;
    if (memcmp(db->store_id, nobody, sizeof(nobody)) == 0) {
        status = bb_store_options_take(db, &attempt->state.options);
        if (status != BB_OK)
            return status;
        memcpy(db->store_id, identity->store_id, sizeof(db->store_id));
        db->secret = identity->secret;
    }
    if (memcmp(db->store_id, identity->store_id, sizeof(db->store_id)) != 0)
        return bb_fail(BB_NOT_FOUND,
                       "%s: another store has replaced the opened one: close it, and open again",
                       db->directory);
    return bb_store_catalog_load(db, &attempt->state.catalog);
}

static enum bb_status list_files(struct attempt *attempt)
{
    struct bb_db *db = attempt->db;
    enum bb_status status = bb_directory_scan(db->system, db->directory, &attempt->directory);
    if (status == BB_OK)
        status = bb_manifest_report_context(
            bb_directory_check_complete(db->directory, &attempt->directory, &attempt->state),
            &attempt->manifest);
    if (status == BB_OK)
        status = bb_directory_logs(&attempt->directory, &attempt->state, &attempt->logs,
                                   &attempt->log_count);
    return status;
}

/* ---- tables ---- */

/* table: of the new state, with the number of the open file; NULL: there is none. */
static bool is_kept(const struct bb_edit_table *table, const struct bb_table_file *file, int level,
                    uint64_t run)
{
    return table != NULL && bb_edit_table_is_same(table, &file->meta) && table->level == level &&
           (level == 0 || table->run == run);
}

static enum bb_status remove_old_run(const struct bb_run *run, int level,
                                     const struct bb_manifest_state *state, struct bb_edit *edit)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < run->count && status == BB_OK; i++) {
        const struct bb_table_file *file = run->files[i];
        if (!is_kept(bb_manifest_state_find(state, file->number), file, level, run->number))
            status = bb_edit_remove_table(edit, file->number);
    }
    return status;
}

static enum bb_status remove_old(const struct bb_levels *levels,
                                 const struct bb_manifest_state *state, struct bb_edit *edit)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < levels->turn_count && status == BB_OK; i++)
        status = remove_old_run(levels->turns[i].run, levels->turns[i].level, state, edit);
    return status;
}

static bool is_in_levels(const struct bb_levels *levels, const struct bb_edit_table *table)
{
    uint64_t number = table->level == 0 ? table->number : table->run;
    const struct bb_run *run = bb_levels_find_run(levels, table->level, number);
    for (size_t i = 0; run != NULL && i < run->count; i++) {
        if (run->files[i]->number == table->number)
            return bb_edit_table_is_same(table, &run->files[i]->meta);
    }
    return false;
}

static enum bb_status add_new(const struct bb_levels *levels, const struct bb_manifest_state *state,
                              struct bb_edit *edit)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < state->table_count && status == BB_OK; i++) {
        if (!is_in_levels(levels, state->tables[i]))
            status = bb_edit_copy_table(edit, state->tables[i]);
    }
    return status;
}

/* Makes the levels of the state; *levels (replaced) provides the files that are open already. */
static enum bb_status update_levels(struct attempt *attempt, struct bb_levels **levels)
{
    struct bb_edit edit = {0};
    struct bb_levels *made = NULL;
    enum bb_status status = remove_old(*levels, &attempt->state, &edit);
    if (status == BB_OK)
        status = add_new(*levels, &attempt->state, &edit);
    if (status == BB_OK)
        status = bb_edit_install_levels(attempt->db, *levels, &edit, &made);
    bb_edit_deinit(&edit);
    if (status != BB_OK)
        return status;
    bb_levels_unref(*levels);
    *levels = made;
    return BB_OK;
}

/* Known tables may have a new index file. */
static enum bb_status update_index(struct attempt *attempt, struct bb_table_file *file,
                                   const struct bb_edit_table *table)
{
    struct bb_companion *index = NULL;
    enum bb_status status = BB_OK;
    if (bb_table_file_companion_number(file) == table->index_number)
        return BB_OK;
    if (table->index_number != 0)
        status =
            bb_index_file_create(attempt->db, table->index_number, table->meta.table_id, &index);
    if (status == BB_OK)
        bb_table_file_replace_companion(file, index);
    return status;
}

static enum bb_status update_indexes(struct attempt *attempt, const struct bb_levels *levels)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < attempt->state.table_count && status == BB_OK; i++) {
        const struct bb_edit_table *table = attempt->state.tables[i];
        struct bb_table_file *file = bb_levels_find_number(levels, table->number);
        if (file != NULL)
            status = update_index(attempt, file, table);
    }
    return status;
}

/* An index that cannot be opened costs reads; selections count it as missing. */
static void open_index(struct bb_table_file *table)
{
    struct bb_skip_file *file = NULL;
    struct bb_companion *index = bb_table_file_companion(table);
    if (index != NULL)
        (void)!bb_index_file_open(index, &file);
    bb_companion_unref(index);
}

/* Opens all tables immediately, because the writer may remove their names at any time. */
static enum bb_status open_tables(const struct bb_levels *levels)
{
    enum bb_status status = BB_OK;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level) && status == BB_OK; i++) {
            struct bb_table *table = NULL;
            status = bb_table_file_open(bb_levels_table(levels, level, i), &table);
            if (status == BB_OK)
                open_index(bb_levels_table(levels, level, i));
        }
    }
    return status;
}

/* ---- logs ---- */

static enum bb_status visit_operation(void *context, const struct bb_entry *entry)
{
    struct attempt *attempt = context;
    if (entry->sequence <= attempt->sequence_begin || entry->sequence > attempt->sequence_end)
        return BB_OK;
    if (attempt->memtable != NULL)
        return bb_memtable_add(attempt->memtable, entry,
                               bb_hash_key(&attempt->db->secret, entry->key));
    attempt->entry_count++;
    attempt->raw_bytes += entry->key.size + entry->value.size;
    return BB_OK;
}

/* This store repairs nothing, and a record being written is no damage. */
static enum bb_recovery recovery_of(const struct bb_db *db)
{
    return db->options.recovery == BB_RECOVERY_POINT_IN_TIME ? BB_RECOVERY_POINT_IN_TIME
                                                             : BB_RECOVERY_SYNCED;
}

/* An incomplete record at the end of the newest log is being written. */
static enum bb_status walk_log(struct attempt *attempt, uint64_t number)
{
    struct bb_db *db = attempt->db;
    char path[BB_PATH_SIZE_MAX];
    bb_filename_path(db->directory, BB_FILE_LOG, number, path);
    enum bb_status status =
        bb_replay_check_log(db->system, path, number, db->store_id, recovery_of(db),
                            &attempt->check, visit_operation, attempt);
    if (status == BB_NOT_FOUND)
        status =
            bb_corrupt((struct bb_place){.file = path}, 0, "the log was there, and is missing");
    return status;
}

static enum bb_status walk_logs(struct attempt *attempt)
{
    enum bb_status status = BB_OK;
    attempt->check = bb_replay_check_from(&attempt->state);
    attempt->check.wanted.sequence = attempt->last_before.sequence;
    for (size_t i = 0; i < attempt->log_count && status == BB_OK && !attempt->check.is_gap; i++)
        status = walk_log(attempt, attempt->logs[i]);
    attempt->is_gap |= attempt->check.is_gap;
    return status;
}

/* Creates a buffer for the counted operations. A second one is larger than necessary, because a
 * third is likely. */
static enum bb_status create_buffer(struct attempt *attempt, bool is_first,
                                    struct bb_write_buffer **ret_buffer)
{
    struct bb_memtable *memtable = NULL;
    uint64_t factor = is_first ? 1 : 2;
    uint64_t capacity =
        bb_memtable_capacity_for(factor * (attempt->entry_count + 1), factor * attempt->raw_bytes);
    enum bb_status status =
        bb_memtable_create(attempt->db->options.comparator, capacity, &memtable);
    if (status == BB_OK)
        status = bb_write_buffer_create(memtable, NULL, attempt->state.log_number,
                                        &attempt->db->spare, ret_buffer);
    if (status != BB_OK)
        bb_memtable_destroy(memtable);
    return status;
}

/* True when the earlier buffer has a prefix of the logs, and space for the rest. WHY the last
 * record is compared: a backup that replaced the directory has logs with the same numbers. */
static bool may_continue(const struct attempt *attempt, const struct bb_write_buffer *before)
{
    return attempt->check.wanted.check == before->last_record.check &&
           bb_memtable_fits(before->memtable, attempt->entry_count, attempt->raw_bytes);
}

static enum bb_status count_logs(struct attempt *attempt, uint64_t sequence_begin)
{
    attempt->memtable = NULL;
    attempt->sequence_begin = sequence_begin;
    attempt->sequence_end = UINT64_MAX;
    attempt->entry_count = 0;
    attempt->raw_bytes = 0;
    enum bb_status status = walk_logs(attempt);
    attempt->sequence_end = attempt->check.expected_sequence - 1;
    attempt->last_counted = attempt->check.last;
    return status;
}

/* Reads the logs twice, so that the memtable gets exactly the required size. */
static enum bb_status read_logs(struct attempt *attempt, const struct bb_read_only_snapshot *before,
                                struct bb_read_only_snapshot *snapshot)
{
    bool is_same = before->buffer != NULL &&
                   before->buffer->log_number == attempt->state.log_number &&
                   !attempt->state.log_is_absent;
    attempt->last_before = is_same ? before->buffer->last_record : (struct bb_log_mark){0};
    enum bb_status status =
        count_logs(attempt, is_same ? bb_memtable_sequence_max(before->buffer->memtable) : 0);
    bool is_continued = status == BB_OK && is_same && may_continue(attempt, before->buffer);
    if (status == BB_OK && is_same && !is_continued)
        status = count_logs(attempt, 0);
    if (status == BB_OK && is_continued)
        snapshot->buffer = bb_write_buffer_ref(before->buffer);
    else if (status == BB_OK)
        status = create_buffer(attempt, before->buffer == NULL, &snapshot->buffer);
    if (status != BB_OK)
        return status;
    attempt->memtable = snapshot->buffer->memtable;
    snapshot->last_sequence = attempt->sequence_end;
    if (attempt->entry_count == 0)
        return BB_OK;
    /* If the walk fails in the middle, the next refresh does not continue this buffer. */
    snapshot->buffer->last_record = (struct bb_log_mark){.check = UINT64_MAX};
    status = walk_logs(attempt);
    if (status == BB_OK)
        snapshot->buffer->last_record = attempt->last_counted;
    return status;
}

/* ---- attempts ---- */

static enum bb_status try_once(struct attempt *attempt, const struct bb_read_only_snapshot *before,
                               struct bb_levels **levels,
                               struct bb_read_only_snapshot *ret_snapshot)
{
    struct bb_read_only_snapshot snapshot = {0};
    enum bb_status status = read_manifest(attempt);
    if (status == BB_OK)
        status = list_files(attempt);
    if (status == BB_OK)
        status = update_levels(attempt, levels);
    if (status == BB_OK)
        status = update_indexes(attempt, *levels);
    if (status == BB_OK)
        status = open_tables(*levels);
    if (status == BB_OK)
        status = read_logs(attempt, before, &snapshot);
    if (status != BB_OK) {
        bb_read_only_snapshot_deinit(&snapshot);
        return status;
    }
    snapshot.levels = bb_levels_ref(*levels);
    *ret_snapshot = snapshot;
    return BB_OK;
}

/* True when the writer has changed the store since the mark was taken, or created it (mark NULL).
 * If that is unknown, the earlier failure remains the result. */
static bool has_changed(struct bb_db *db, const struct mark *mark)
{
    struct mark now = {0};
    struct bb_error failure = *bb_error_last();
    bool is_known = take_mark(db, &now) == BB_OK;
    (void)bb_error_restore(&failure);
    if (mark == NULL)
        return is_known;
    return is_known && (now.number != mark->number || now.size != mark->size || now.size == 0);
}

/* Failures that a change of the store may explain. */
static bool is_explained_by_change(enum bb_status status)
{
    return status == BB_CORRUPT || status == BB_BUSY || status == BB_IO || status == BB_EXISTS;
}

static enum bb_status attempt_one(struct bb_db *db, const struct bb_read_only_snapshot *before,
                                  struct bb_levels **levels,
                                  struct bb_read_only_snapshot *ret_snapshot, bool *ret_is_final)
{
    struct attempt attempt = {.db = db};
    struct mark mark = {0};
    /* Without CURRENT there is no mark. read_manifest then reports the failure, and another attempt
     * follows if a CURRENT has appeared. If CURRENT names a missing manifest, the mark has size
     * 0. */
    bool is_marked = take_mark(db, &mark) == BB_OK;
    enum bb_status status = try_once(&attempt, before, levels, ret_snapshot);
    bool is_doubtful = is_explained_by_change(status) || (status == BB_OK && attempt.is_gap);
    *ret_is_final = !is_doubtful || !has_changed(db, is_marked ? &mark : NULL);
    if (status == BB_OK && !*ret_is_final)
        bb_read_only_snapshot_deinit(ret_snapshot);
    deinit_attempt(&attempt);
    return status;
}

enum bb_status bb_read_only_snapshot_take(struct bb_db *db,
                                          const struct bb_read_only_snapshot *before,
                                          struct bb_read_only_snapshot *ret_snapshot)
{
    struct bb_levels *levels = NULL;
    bool is_final = false;
    enum bb_status status = BB_OK;
    if (before->levels != NULL)
        levels = bb_levels_ref(before->levels);
    else
        status = bb_levels_create_empty(db->options.comparator, &levels);
    if (status != BB_OK)
        return status;
    for (int i = 0; i < ATTEMPTS_MAX && !is_final; i++)
        status = attempt_one(db, before, &levels, ret_snapshot, &is_final);
    bb_levels_unref(levels);
    if (is_final)
        return status;
    return bb_fail(BB_BUSY, "%s: the store changed under each of %d attempts to read it",
                   db->directory, ATTEMPTS_MAX);
}
