/* The steps: each calls the store as an application does, and requires the results of the manual.
 */
#include <stdlib.h>

#include "bb/db_stats.h"
#include "bb/table.h"
#include "tests/interleaving/acts.h"

static void put(struct stage *stage, const char *key, bool sync)
{
    struct bb_write_options options = {.sync = sync};
    require_ok(bb_db_put(stage->store.db, &options, bb_bytes_of_text(key), bb_bytes_of_text("1")));
}

static void put_one(struct stage *stage)
{
    put(stage, "p1", false);
}

static void check_put(struct bb_db *db)
{
    require_value(db, "p1", "1");
}

static void put_synced(struct stage *stage)
{
    put(stage, "p2", true);
}

static void check_synced(struct bb_db *db)
{
    require_value(db, "p2", "1");
}

static void delete_range(struct stage *stage)
{
    require_ok(
        bb_db_delete_range(stage->store.db, NULL, bb_bytes_of_text("d"), bb_bytes_of_text("e")));
}

static void check_deleted(struct bb_db *db)
{
    require_value(db, "d1", NULL);
    require_value(db, "d2", NULL);
}

/* More than the memtables hold, so that writes stall without a flush. */
static void put_much(struct stage *stage)
{
    static const char value[8000] = {'f'};
    char key[16];
    for (unsigned i = 0; i < 40; i++) {
        snprintf(key, sizeof(key), "f%02u", i);
        require_ok(bb_db_put(stage->store.db, NULL, bb_bytes_of_text(key),
                             bb_bytes_of(value, sizeof(value))));
    }
}

static void check_much(struct bb_db *db)
{
    require_ok(bb_db_get(db, NULL, bb_bytes_of_text("f00"), NULL));
    require_ok(bb_db_get(db, NULL, bb_bytes_of_text("f39"), NULL));
}

static void read_rows(struct stage *stage)
{
    require_rows(stage->store.db);
}

static void continue_iterator(struct stage *stage)
{
    unsigned count = 0;
    for (; bb_db_iter_valid(stage->iter); bb_db_iter_next(stage->iter))
        count++;
    require_ok(bb_db_iter_status(stage->iter));
    require(count == STAGE_ROWS + 2);
}

static void read_snapshot(struct stage *stage)
{
    struct bb_get_options options = {.snapshot = stage->snapshot};
    struct bb_snapshot *another = NULL;
    require_ok(bb_db_get(stage->store.db, &options, bb_bytes_of_text("d1"), NULL));
    require_ok(bb_snapshot_create(stage->store.db, &another));
    bb_snapshot_release(stage->store.db, another);
}

void run_flush(struct stage *stage)
{
    require_done_or_closed(stage, bb_db_flush(stage->store.db));
}

void run_compact(struct stage *stage)
{
    require_done_or_closed(stage, bb_db_compact(stage->store.db));
}

/* Properties: none of these may wait for background work. */
static void read_statistics(struct stage *stage)
{
    struct bb_db_stats stats;
    struct bb_db_table_list tables = {0};
    struct bb_db_index_list indexes = {0};
    bb_db_stats(stage->store.db, &stats);
    require_ok(bb_db_tables(stage->store.db, &tables));
    require_ok(bb_db_index_list(stage->store.db, &indexes));
    require(tables.count > 0 && indexes.count >= 1);
    bb_db_index_list_deinit(&indexes);
    bb_db_table_list_deinit(&tables);
}

void run_sizes(struct stage *stage)
{
    struct bb_bytes low = bb_bytes_of_text("k05");
    struct bb_bytes high = bb_bytes_of_text("k35");
    struct bb_key_range range = {.low = &low, .high = &high};
    struct bb_range_size size = {0};
    require_ok(bb_db_approximate_sizes(stage->store.db, &range, 1, &size));
    require(size.file_bytes > 0 || size.memtable_bytes > 0);
}

void run_checkpoint(struct stage *stage, const char *directory)
{
    struct bb_db_options options = stage->store.options;
    struct bb_db *db = NULL;
    require_done_or_closed(stage, bb_db_checkpoint(stage->store.db, directory));
    if (stage->was_refused)
        return;
    options.create_if_missing = false;
    require_ok(bb_db_open(directory, &options, &db));
    require_rows(db);
    require_ok(bb_db_close(db));
}

static void make_checkpoint(struct stage *stage)
{
    run_checkpoint(stage, "/data/second");
}

static void build_table(struct stage *stage, const char *path, const char *key)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_options options = {.file_system = bb_file_memory_system(stage->store.memory)};
    struct bb_entry entry = {.key = bb_bytes_of_text(key),
                             .sequence = 1,
                             .kind = BB_ENTRY_PUT,
                             .value = bb_bytes_of_text("1")};
    require_ok(bb_table_builder_create(path, &options, &builder));
    require_ok(bb_table_builder_add(builder, &entry));
    require_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

void run_ingest(struct stage *stage, const char *key)
{
    char path[32];
    const char *paths[] = {path};
    snprintf(path, sizeof(path), "/data/input-%s", key);
    build_table(stage, path, key);
    require_done_or_closed(stage, bb_db_ingest(stage->store.db, paths, 1, NULL));
}

static void ingest(struct stage *stage)
{
    run_ingest(stage, "i2");
}

static void check_ingested(struct bb_db *db)
{
    require_value(db, "i2", "1");
}

void run_scrub(struct stage *stage)
{
    struct bb_db_scrub_report report;
    require_done_or_closed(stage, bb_db_scrub(stage->store.db, NULL, &report));
    require(report.damaged == 0);
}

static void change_indexes(struct stage *stage)
{
    require_ok(bb_db_index_create(stage->store.db, "other", "min_max(status)"));
    require_ok(bb_db_index_drop(stage->store.db, "other"));
}

void run_materialize(struct stage *stage)
{
    struct bb_materialize_options options = {.rebuild = true};
    require_done_or_closed(stage, bb_db_index_materialize(stage->store.db, &options));
}

void run_select(struct stage *stage)
{
    struct bb_select_options options = {.where = "status = 200"};
    struct bb_select *select = NULL;
    bool has_record = true;
    unsigned count = 0;
    require_ok(bb_db_select(stage->store.db, &options, &select));
    for (; has_record; count += has_record)
        require_ok(bb_select_next(select, &has_record));
    require(count == STAGE_ROWS);
    bb_select_destroy(select);
}

void run_refresh(struct stage *stage)
{
    require_ok(bb_db_refresh(stage->reader));
    require_rows(stage->reader);
}

static void clear_cache(struct stage *stage)
{
    bb_db_clear_cache(stage->store.db);
    require_rows(stage->store.db);
}

/* Both need the lock that the open store holds. */
static void verify_and_open(struct stage *stage)
{
    struct bb_db_verify_report report = {0};
    struct bb_db_options options = stage->store.options;
    struct bb_db *db = NULL;
    require_status(bb_db_verify(STORE_PATH, &options, &report), BB_BUSY, __FILE__, __LINE__);
    require_status(bb_db_open(STORE_PATH, &options, &db), BB_BUSY, __FILE__, __LINE__);
}

const struct step steps[] = {
    {"a put", put_one, check_put},
    {"a synced put", put_synced, check_synced},
    {"a range is deleted", delete_range, check_deleted},
    {"writes fill the memtables", put_much, check_much},
    {"gets, a scan and selections", read_rows, NULL},
    {"an iterator continues", continue_iterator, NULL},
    {"a snapshot is read", read_snapshot, NULL},
    {"a flush", run_flush, NULL},
    {"a compaction of everything", run_compact, NULL},
    {"statistics, tables and indexes are listed", read_statistics, NULL},
    {"approximate sizes", run_sizes, NULL},
    {"a checkpoint", make_checkpoint, NULL},
    {"an ingest", ingest, check_ingested},
    {"a scrub", run_scrub, NULL},
    {"an index is created and dropped", change_indexes, NULL},
    {"indexes are rebuilt", run_materialize, NULL},
    {"a read-only store is refreshed", run_refresh, NULL},
    {"the cache is cleared", clear_cache, NULL},
    {"a verification and an opening find the store busy", verify_and_open, NULL},
};
const size_t step_count = sizeof(steps) / sizeof(steps[0]);
