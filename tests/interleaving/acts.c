/* The calls that are stopped, and where. */
#include "tests/interleaving/acts.h"

static void put_synced(struct stage *stage)
{
    struct bb_write_options options = {.sync = true};
    require_done_or_closed(
        stage, bb_db_put(stage->store.db, &options, bb_bytes_of_text("a1"), bb_bytes_of_text("1")));
}

static void check_put(struct bb_db *db)
{
    require_value(db, "a1", "1");
}

static void get(struct stage *stage)
{
    require_ok(bb_db_get(stage->store.db, NULL, bb_bytes_of_text("k05"), NULL));
}

static void get_many(struct stage *stage)
{
    struct bb_bytes keys[] = {bb_bytes_of_text("k01"), bb_bytes_of_text("k05"),
                              bb_bytes_of_text("k12")};
    struct bb_buf values[3] = {{0}};
    enum bb_status found[3];
    require_ok(bb_db_get_many(stage->store.db, NULL, keys, 3, values, found));
    for (unsigned i = 0; i < 3; i++) {
        require(found[i] == BB_OK);
        bb_buf_deinit(&values[i]);
    }
}

static void scan(struct stage *stage)
{
    struct bb_db_iter *iter = NULL;
    unsigned count = 0;
    require_ok(bb_db_iter_create_prefix(stage->store.db, NULL, bb_bytes_of_text("k"), &iter));
    for (bb_db_iter_seek_last(iter); bb_db_iter_valid(iter); bb_db_iter_prev(iter))
        count++;
    require_ok(bb_db_iter_status(iter));
    require(count == STAGE_ROWS);
    bb_db_iter_destroy(iter);
}

static void make_checkpoint(struct stage *stage)
{
    run_checkpoint(stage, "/data/first");
}

static void ingest(struct stage *stage)
{
    run_ingest(stage, "i1");
}

static void check_ingested(struct bb_db *db)
{
    require_value(db, "i1", "1");
}

static void create_index(struct stage *stage)
{
    require_done_or_closed(stage, bb_db_index_create(stage->store.db, "bounds", "min_max(status)"));
}

static void list_indexes(struct stage *stage)
{
    struct bb_db_index_list list = {0};
    require_ok(bb_db_index_list(stage->store.db, &list));
    require(list.count >= 1);
    bb_db_index_list_deinit(&list);
}

/* In the order of steps: put, synced put, range | memtables full | gets, iterator, snapshot |
 * flush, compaction | statistics, sizes | checkpoint, ingest, scrub | index, rebuild, refresh |
 * cache, opening. Steps that need the stopped work wait, or the table that a thread opens. Index
 * files are opened one at a time: reads wait for a thread that opens one. */
const struct act acts[] = {
    {"a synced put stops before its append to the log",
     put_synced,
     {BB_FILE_CALL_APPEND, ".wal"},
     check_put,
     STAGE_WARM,
     false,
     "wwwwrrrwwrrwwrrrrrr"},
    {"a synced put stops before the sync of the log",
     put_synced,
     {BB_FILE_CALL_SYNC, ".wal"},
     check_put,
     STAGE_WARM,
     false,
     "wwwwrrrwwrrwwrrrrrr"},
    {"a flush stops before it creates the next log",
     run_flush,
     {BB_FILE_CALL_CREATE, ".wal"},
     NULL,
     STAGE_WARM,
     false,
     "wwwwrrrwwrrwwrrrrrr"},
    {"a flush stops before it creates its table",
     run_flush,
     {BB_FILE_CALL_CREATE, ".bbt"},
     NULL,
     STAGE_WARM,
     false,
     "rrrwrrrwwrrwwrrrrrr"},
    {"a flush stops before the sync of its table",
     run_flush,
     {BB_FILE_CALL_SYNC, ".bbt"},
     NULL,
     STAGE_WARM,
     false,
     "rrrwrrrwwrrwwrrrrrr"},
    {"a flush stops before its record in the manifest",
     run_flush,
     {BB_FILE_CALL_APPEND, "MANIFEST"},
     NULL,
     STAGE_WARM,
     false,
     "rrrwrrrwwrrwwrwwrrr"},
    {"a flush stops before the sync of the manifest",
     run_flush,
     {BB_FILE_CALL_SYNC, "MANIFEST"},
     NULL,
     STAGE_WARM,
     false,
     "rrrwrrrwwrrwwrwwrrr"},
    {"a flush stops before it removes the old log",
     run_flush,
     {BB_FILE_CALL_REMOVE, ".wal"},
     NULL,
     STAGE_WARM,
     false,
     "rrrwrrrrrrrrrrrrrrr"},
    {"a compaction stops before it opens a table",
     run_compact,
     {BB_FILE_CALL_READ_AT, ".bbt"},
     NULL,
     STAGE_COLD,
     false,
     "rrrrwrrrwrwrrrrwrwr"},
    {"a compaction stops before it reads a block",
     run_compact,
     {BB_FILE_CALL_READ_AT, ".bbt"},
     NULL,
     STAGE_FLUSHED,
     false,
     "rrrrrrrrwrrrrrrrrrr"},
    {"a flush stops before it creates its index file",
     run_compact,
     {BB_FILE_CALL_CREATE, ".bbi"},
     NULL,
     STAGE_WARM,
     false,
     "rrrwrrrwwrrwwrrrrrr"},
    {"a compaction stops before it creates its index file",
     run_compact,
     {BB_FILE_CALL_CREATE, ".bbi"},
     NULL,
     STAGE_FLUSHED,
     false,
     "rrrrrrrrwrrrrrrrrrr"},
    {"a compaction stops before it removes a table",
     run_compact,
     {BB_FILE_CALL_REMOVE, ".bbt"},
     NULL,
     STAGE_WARM,
     false,
     "rrrrrrrrwrrrrrrrrrr"},
    {"a compaction stops before it removes an index file",
     run_compact,
     {BB_FILE_CALL_REMOVE, ".bbi"},
     NULL,
     STAGE_WARM,
     false,
     "rrrrrrrrwrrrrrrrrrr"},
    {"a get stops before it reads a table filter",
     get,
     {BB_FILE_CALL_READ_AT, ".bbt"},
     NULL,
     STAGE_COLD,
     true,
     "rrrrrrrrrrrrrrrrrrr"},
    {"a get stops before it reads",
     get,
     {BB_FILE_CALL_READ_AT, ".bbt"},
     NULL,
     STAGE_WARM,
     true,
     "rrrrrrrrrrrrrrrrrrr"},
    {"a get of many keys stops before it reads",
     get_many,
     {BB_FILE_CALL_READ_AT, ".bbt"},
     NULL,
     STAGE_WARM,
     true,
     "rrrrrrrrrrrrrrrrrrr"},
    {"a backward scan stops before it reads",
     scan,
     {BB_FILE_CALL_READ_AT, ".bbt"},
     NULL,
     STAGE_WARM,
     true,
     "rrrrrrrrrrrrrrrrrrr"},
    {"a list of indexes stops before it opens an index file",
     list_indexes,
     {BB_FILE_CALL_READ_AT, ".bbi"},
     NULL,
     STAGE_COLD,
     true,
     "rrrrwrrrrwrrrrrrrwr"},
    {"a selection stops before it reads an index file",
     run_select,
     {BB_FILE_CALL_READ_AT, ".bbi"},
     NULL,
     STAGE_WARM,
     true,
     "rrrrrrrrrrrrrrrrrrr"},
    {"a selection stops before it reads a block",
     run_select,
     {BB_FILE_CALL_READ_AT, ".bbt"},
     NULL,
     STAGE_WARM,
     true,
     "rrrrrrrrrrrrrrrrrrr"},
    {"a checkpoint stops before it links a table",
     make_checkpoint,
     {BB_FILE_CALL_LINK, ".bbt"},
     NULL,
     STAGE_WARM,
     false,
     "rrrrrrrrrrrrrrrrrrr"},
    {"a checkpoint stops before it names its manifest",
     make_checkpoint,
     {BB_FILE_CALL_RENAME, "/first/"},
     NULL,
     STAGE_WARM,
     false,
     "rrrrrrrrrrrrrrrrrrr"},
    {"an ingest stops before it reads its input",
     ingest,
     {BB_FILE_CALL_READ_AT, "input-i1"},
     check_ingested,
     STAGE_WARM,
     false,
     "rrrrrrrrrrrrrrrrrrr"},
    {"an ingest stops before the sync of its table",
     ingest,
     {BB_FILE_CALL_SYNC, ".bbt"},
     check_ingested,
     STAGE_WARM,
     false,
     "rrrrrrrrrrrrrrrrrrr"},
    {"an ingest stops before the sync of the manifest",
     ingest,
     {BB_FILE_CALL_SYNC, "MANIFEST"},
     check_ingested,
     STAGE_WARM,
     false,
     "rrrwrrrwwrrwwrwwrrr"},
    {"a scrub stops before it reads",
     run_scrub,
     {BB_FILE_CALL_READ_AT, ".bbt"},
     NULL,
     STAGE_WARM,
     false,
     "rrrrrrrrrrrrrrrrrrr"},
    {"a scrub stops before it reads an index file",
     run_scrub,
     {BB_FILE_CALL_READ_AT, ".bbi"},
     NULL,
     STAGE_WARM,
     false,
     "rrrrrrrrrrrrrrrrrrr"},
    {"the creation of an index stops before the sync of the manifest",
     create_index,
     {BB_FILE_CALL_SYNC, "MANIFEST"},
     NULL,
     STAGE_WARM,
     false,
     "rrrwrrrwwrrwwrwwrrr"},
    {"a rebuild of indexes stops before it creates a file",
     run_materialize,
     {BB_FILE_CALL_CREATE, ".bbi"},
     NULL,
     STAGE_WARM,
     false,
     "rrrrrrrrrrrrrrrrrrr"},
    {"a rebuild of indexes stops before it reads a block",
     run_materialize,
     {BB_FILE_CALL_READ_AT, ".bbt"},
     NULL,
     STAGE_WARM,
     false,
     "rrrrrrrrrrrrrrrrrrr"},
    {"a refresh stops before it reads the manifest",
     run_refresh,
     {BB_FILE_CALL_READ_AT, "MANIFEST"},
     NULL,
     STAGE_WARM,
     true,
     "rrrrrrrrrrrrrrrrwrr"},
};
const size_t act_count = sizeof(acts) / sizeof(acts[0]);
