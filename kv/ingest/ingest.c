/* Adds tables built elsewhere to the store, all tables of a call together.
 *
 *     any thread  rewrites the inputs as tables of the store, while writers continue; all entries
 *                 have one sequence that the writers have not reached yet
 *     leader      flushes the memory to tables, then installs the new ones with one edit; the
 *                 store's sequence continues after theirs
 *
 * docs/decisions/0008-ingest.md explains why the sequence is reserved first, and why files are not
 * linked.
 */
#include "bb/db_files.h"

#include <inttypes.h>

#include "base/status.h"
#include "kv/background/edit_install.h"
#include "kv/background/waste_target.h"
#include "kv/background/worker.h"
#include "kv/ingest/intake.h"
#include "kv/manifest/manifest.h"
#include "kv/memtable/memtable.h"
#include "kv/store/call.h"
#include "kv/store/file_number.h"
#include "kv/store/new_table.h"
#include "kv/wal/wal_format.h"
#include "kv/wal/wal_writer.h"
#include "kv/write/commit.h"
#include "kv/write/freeze.h"

/* Sequences reserved for the writers: a number per entry of the inputs, and a minimum. A writer
 * overtakes the ingest only if it writes an entry to log and memtable while less than a sixteenth
 * of an entry is copied here. Then the ingest starts again with more. */
#define WRITES_PER_ENTRY 16
#define WRITES_MIN       (UINT64_C(1) << 20)
#define ATTEMPTS_MAX     4

struct ingest {
    struct bb_intake intake;
    bool is_handed_over; /* the manifest, or the orphans, own the tables */
    bool is_overtaken;
    /* The tables would exceed the target, or the limit of level 0. */
    bool is_beyond;
    /* An index was created after the tables were begun: they lack it. */
    bool is_outdated;
};

static enum bb_status read_sequence(struct bb_db *db, uint64_t *ret_sequence)
{
    struct bb_commit commit;
    enum bb_status status = bb_commit_become_leader(db, &commit);
    if (status != BB_OK)
        return status;
    *ret_sequence = db->sequence_allocated;
    bb_commit_release_leader(db, &commit);
    return BB_OK;
}

static enum bb_status set_sequence(struct ingest *ingest, int attempt)
{
    struct bb_intake *intake = &ingest->intake;
    uint64_t last = 0;
    enum bb_status status = read_sequence(intake->db, &last);
    if (status != BB_OK)
        return status;
    uint64_t distance = WRITES_PER_ENTRY * bb_intake_entry_count(intake) + WRITES_MIN;
    distance <<= 4 * attempt;
    if (distance > BB_SEQUENCE_MAX - last)
        return bb_fail(BB_TOO_LARGE, "%s: too few sequences remain, %" PRIu64 " of %" PRIu64,
                       intake->db->directory, BB_SEQUENCE_MAX - last, (uint64_t)BB_SEQUENCE_MAX);
    intake->sequence = last + distance;
    return BB_OK;
}

/* In level 0 the number determines the newest run, so it is allocated now, after the numbers of all
 * flushes. */
static enum bb_status name_table(struct bb_db *db, int level, struct bb_intake_table *table)
{
    uint64_t number = table->number;
    enum bb_status status = level == 0 ? bb_file_number_new(db, &number) : BB_OK;
    if (status == BB_OK)
        status = bb_new_table_rename(db, table->number, number);
    if (status == BB_OK) {
        table->number = number;
        table->is_renamed = true;
    }
    return status;
}

static enum bb_status describe(struct bb_intake *intake, const struct bb_levels *levels,
                               struct bb_edit *edit)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < intake->table_count && status == BB_OK; i++) {
        struct bb_intake_table *table = &intake->tables[i];
        int level = bb_intake_level(intake, levels, &table->meta);
        status = name_table(intake->db, level, table);
        if (status == BB_OK)
            status = bb_edit_add_table(edit, level, bb_intake_run(levels, level), table->number,
                                       &table->meta);
    }
    if (status == BB_OK)
        bb_index_build_describe(&intake->indexes, edit);
    edit->last_sequence = intake->sequence;
    return status;
}

/* The levels may have changed since the filters were planned. At the tables' final places the same
 * rates may add more waste. */
static enum bb_status check_target(struct ingest *ingest, struct bb_levels *levels,
                                   const struct bb_edit *edit)
{
    struct bb_db *db = ingest->intake.db;
    struct bb_levels *after = NULL;
    enum bb_status status = bb_edit_install_levels(db, levels, edit, &after);
    if (status != BB_OK)
        return status;
    struct bb_hull hull = {.comparator = db->options.comparator};
    for (size_t i = 0; i < edit->added_count; i++)
        bb_hull_widen(&hull, bb_buf_bytes(&edit->added[i].meta.smallest),
                      bb_buf_bytes(&edit->added[i].meta.largest));
    ingest->is_beyond = !bb_waste_target_allows(db, levels, after, &hull, &ingest->intake.share);
    bb_levels_unref(after);
    return ingest->is_beyond
               ? bb_fail(BB_BUSY, "%s: the filters were planned for other levels", db->directory)
               : BB_OK;
}

/* Each table in level 0 is a run. Tables cut for a deeper level that has since become occupied
 * would be more runs than flushes ever make, and writes would wait until all are merged. In that
 * case the ingest makes one table instead. */
static enum bb_status check_level0(struct ingest *ingest, const struct bb_levels *levels)
{
    const struct bb_db *db = ingest->intake.db;
    size_t count = 0;
    for (size_t i = 0; i < ingest->intake.table_count; i++)
        count += bb_intake_level(&ingest->intake, levels, &ingest->intake.tables[i].meta) == 0;
    ingest->is_beyond =
        count > 1 && bb_levels_table_count(levels, 0) + count > db->options.level0_run_count_busy;
    return ingest->is_beyond
               ? bb_fail(BB_BUSY, "%s: %zu tables would come to level 0", db->directory, count)
               : BB_OK;
}

/* Installing is held: these are the levels that the tables join, and no index is created until they
 * have. */
static enum bb_status place(void *context, struct bb_levels *levels, struct bb_edit *edit)
{
    struct ingest *ingest = context;
    enum bb_status status = BB_OK;
    ingest->is_outdated = bb_index_build_is_outdated(&ingest->intake.indexes);
    if (ingest->is_outdated)
        status = bb_fail(BB_BUSY, "an index was created during an ingest");
    if (status == BB_OK && !ingest->intake.is_level0_only)
        status = check_level0(ingest, levels);
    if (status == BB_OK)
        status = describe(&ingest->intake, levels, edit);
    /* In level 0 they add exactly the planned waste. */
    if (status == BB_OK && !ingest->intake.is_level0_only)
        status = check_target(ingest, levels, edit);
    ingest->is_handed_over = status == BB_OK;
    return status;
}

/* Called by the leader. The failed record may still be durable. In that case the next log must not
 * begin before its sequence, and otherwise not after it. The next log therefore begins after the
 * manifest is repaired, as after a failed log. */
static void leave_in_doubt(struct ingest *ingest)
{
    struct bb_db *db = ingest->intake.db;
    bb_mutex_lock(&db->installing);
    bool is_in_doubt = bb_manifest_is_poisoned(db->manifest);
    bb_mutex_unlock(&db->installing);
    if (!is_in_doubt)
        return;
    db->sequence_allocated = ingest->intake.sequence;
    db->is_log_failed = true;
}

static enum bb_status install(struct ingest *ingest)
{
    struct bb_db *db = ingest->intake.db;
    struct bb_edit edit = {0};
    struct bb_placing placing = {.place = place,
                                 .context = ingest,
                                 .sequence = ingest->intake.sequence,
                                 .share = &ingest->intake.share};
    enum bb_status status = bb_edit_install_placed(db, &edit, &placing);
    bb_intake_end_share(&ingest->intake);
    if (status == BB_OK) {
        db->sequence_allocated = ingest->intake.sequence;
    } else {
        struct bb_error failure = *bb_error_last();
        leave_in_doubt(ingest);
        status = bb_error_restore(&failure);
    }
    bb_edit_deinit(&edit);
    return status;
}

/* True also for a log without entries in memory: deleting an empty range leaves only a record in
 * the log, with a sequence below the tables' sequence. */
static bool has_content(const struct bb_write_buffer *active)
{
    return !bb_memtable_is_empty(active->memtable) ||
           (active->log != NULL && bb_wal_writer_size(active->log) > BB_WAL_HEADER_SIZE);
}

/* Called by the leader. Afterwards the current log is empty, and the manifest begins with it. */
static enum bb_status empty_memory(struct bb_db *db)
{
    enum bb_status status = bb_freeze_make_space(db, &(struct bb_write_space){0});
    if (status == BB_OK && has_content(db->active))
        status = bb_freeze_memtable(db, (size_t)db->options.write_buffer_bytes);
    return status == BB_OK ? bb_freeze_drain(db) : status;
}

static enum bb_status lead(struct ingest *ingest)
{
    struct bb_db *db = ingest->intake.db;
    enum bb_status status = empty_memory(db);
    ingest->is_overtaken = status == BB_OK && db->sequence_allocated >= ingest->intake.sequence;
    /* Doubt about an earlier edit does not prevent this one. */
    if (status == BB_OK && !ingest->is_overtaken)
        status = bb_edit_install_replace_manifest(db);
    if (status == BB_OK && !ingest->is_overtaken)
        status = install(ingest);
    /* The store records a failure of this work; the tables do not depend on it. */
    if (status == BB_OK && db->options.deterministic)
        (void)!bb_workers_do_all(db, BB_WORK_COMPACTION);
    return status;
}

/* Flushes most of the memory first, while others write. */
static enum bb_status try_once(struct ingest *ingest, int attempt)
{
    struct bb_db *db = ingest->intake.db;
    struct bb_commit commit;
    enum bb_status status = set_sequence(ingest, attempt);
    if (status == BB_OK)
        status = bb_intake_write(&ingest->intake);
    if (status == BB_OK)
        status = bb_db_flush(db);
    if (status == BB_OK)
        status = bb_commit_become_leader(db, &commit);
    if (status != BB_OK)
        return status;
    status = lead(ingest);
    bb_commit_release_leader(db, &commit);
    return status;
}

/* Rewrites the tables if other threads interfered: now for level 0, which is independent of other
 * changes of the levels, and under a sequence farther ahead; or with an index that was created
 * since, which bb_db_index_materialize may have built already for all other tables. */
static enum bb_status run(struct ingest *ingest)
{
    for (int attempt = 0; attempt < ATTEMPTS_MAX;) {
        enum bb_status status = try_once(ingest, attempt);
        bool is_beyond = ingest->is_beyond;
        bool is_outdated = ingest->is_outdated;
        if (!is_beyond && !is_outdated && (status != BB_OK || !ingest->is_overtaken))
            return status;
        ingest->is_beyond = false;
        ingest->is_outdated = false;
        ingest->intake.is_level0_only |= is_beyond;
        attempt += !is_beyond && !is_outdated;
    }
    return bb_fail(BB_BUSY, "%s: writers were quicker than each of %d attempts",
                   ingest->intake.db->directory, ATTEMPTS_MAX);
}

static enum bb_status verify_inputs(struct bb_db *db, const char *const *paths, size_t count)
{
    struct bb_table_options options = {.file_system = db->files,
                                       .comparator = db->options.comparator};
    struct bb_table_verify_report report;
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        status = bb_call_check_open(db);
        if (status == BB_OK)
            status = bb_table_verify(paths[i], &options, &report);
    }
    return status;
}

static enum bb_status verify_and_run(struct ingest *ingest, const char *const *paths, size_t count,
                                     bool verify)
{
    enum bb_status status = BB_OK;
    if (verify)
        status = verify_inputs(ingest->intake.db, paths, count);
    if (status == BB_OK)
        status = bb_intake_open(&ingest->intake, paths, count);
    if (status == BB_OK)
        status = run(ingest);
    if (!ingest->is_handed_over)
        bb_intake_remove(&ingest->intake);
    bb_intake_deinit(&ingest->intake);
    return status;
}

enum bb_status bb_db_ingest(struct bb_db *db, const char *const *paths, size_t count,
                            const struct bb_ingest_options *options)
{
    struct ingest ingest = {.intake = {.db = db}};
    struct bb_error before; /* a repeated attempt has failed as expected */
    bool verify = options != NULL && options->verify;
    bb_error_save(&before);
    enum bb_status status = bb_call_check_change(db, "an ingest");
    if (status != BB_OK || count == 0)
        return status;
    status = bb_call_begin(db);
    if (status != BB_OK)
        return status;
    status = verify_and_run(&ingest, paths, count, verify);
    bb_call_end(db);
    return bb_error_settle(status, &before);
}
