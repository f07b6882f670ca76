/* Goal: if one allocation or one file call of a call to an open store fails, the call reports that
 * or succeeds, and the store continues. Method: call_sweep.h, on stores with tables in several
 * levels, range tombstones, a snapshot and a log. */
#include "tests/fault/call_sweep.h"

#include "bb/db_explain.h"

/* ---- calls that write ---- */

static enum bb_status put(struct called_world *world)
{
    return bb_db_put(world->store.db, &(struct bb_write_options){.sync = true},
                     bb_bytes_of_text("key0003"), bb_bytes_of_text("of the call"));
}

static enum bb_status write_batch(struct called_world *world)
{
    struct bb_batch *batch = NULL;
    enum bb_status status = bb_batch_create(&batch);
    if (status == BB_OK)
        status =
            bb_batch_delete_range(batch, bb_bytes_of_text("key0005"), bb_bytes_of_text("key0008"));
    if (status == BB_OK)
        status = bb_batch_put(batch, bb_bytes_of_text("key0006"), bb_bytes_of_text("of a batch"));
    if (status == BB_OK)
        status = bb_db_write(world->store.db, NULL, batch);
    bb_batch_destroy(batch);
    return status;
}

static enum bb_status flush(struct called_world *world)
{
    return bb_db_flush(world->store.db);
}

static enum bb_status compact(struct called_world *world)
{
    return bb_db_compact(world->store.db);
}

/* Versions and range tombstones that a snapshot needs are kept. */
static enum bb_status compact_under_snapshot(struct called_world *world)
{
    struct bb_snapshot *snapshot = NULL;
    enum bb_status status = bb_snapshot_create(world->store.db, &snapshot);
    if (status == BB_OK)
        status = bb_db_delete_range(world->store.db, NULL, bb_bytes_of_text("key0001"),
                                    bb_bytes_of_text("key0009"));
    if (status == BB_OK)
        status = bb_db_compact(world->store.db);
    if (snapshot != NULL)
        bb_snapshot_release(world->store.db, snapshot);
    return status;
}

static enum bb_status compact_range(struct called_world *world)
{
    struct bb_bytes low = bb_bytes_of_text("key0010");
    struct bb_bytes high = bb_bytes_of_text("key0030");
    return bb_db_compact_range(world->store.db, &low, &high);
}

/* All tables of the range are covered by the tombstone. */
static enum bb_status delete_and_compact(struct called_world *world)
{
    enum bb_status status = bb_db_delete_range(world->store.db, NULL, bb_bytes_of_text("key0000"),
                                               bb_bytes_of_text("key0055"));
    return status == BB_OK ? bb_db_compact(world->store.db) : status;
}

static enum bb_status ingest(struct called_world *world)
{
    static const char *const paths[] = {FIRST, SECOND};
    return bb_db_ingest(world->store.db, paths, 2, &(struct bb_ingest_options){.verify = true});
}

/* A failed checkpoint leaves no directory, or a rest that a removal takes. */
static void remove_copy(struct called_world *world)
{
    (void)!bb_db_destroy(COPY_PATH, &world->store.options, NULL);
}

static enum bb_status checkpoint(struct called_world *world)
{
    remove_copy(world);
    return bb_db_checkpoint(world->store.db, COPY_PATH);
}

static enum bb_status checkpoint_in_two_calls(struct called_world *world)
{
    struct bb_checkpoint *state = NULL;
    remove_copy(world);
    enum bb_status status = bb_checkpoint_create(world->store.db, &state);
    if (status == BB_OK)
        status = bb_checkpoint_write(state, COPY_PATH);
    bb_checkpoint_destroy(state);
    return status;
}

static enum bb_status close_store(struct called_world *world)
{
    enum bb_status status = world->store.db == NULL ? BB_OK : bb_db_close(world->store.db);
    world->store.db = NULL;
    return status;
}

/* ---- calls that read ---- */

static enum bb_status get(struct called_world *world)
{
    static const char *const keys[] = {"key0001", "key0007", "key0009", "key0011",
                                       "key0021", "key0051", "absent"};
    struct bb_buf value = {0};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && status == BB_OK; i++) {
        status = bb_db_get(world->store.db, NULL, bb_bytes_of_text(keys[i]), &value);
        if (status == BB_NOT_FOUND)
            status = BB_OK;
    }
    bb_buf_deinit(&value);
    return status;
}

static enum bb_status get_many(struct called_world *world)
{
    struct bb_bytes keys[] = {bb_bytes_of_text("key0001"), bb_bytes_of_text("key0009"),
                              bb_bytes_of_text("key0021"), bb_bytes_of_text("key0055")};
    struct bb_buf values[4] = {{0}};
    enum bb_status statuses[4];
    enum bb_status status = bb_db_get_many(world->store.db, NULL, keys, 4, values, statuses);
    for (size_t i = 0; i < 4; i++)
        bb_buf_deinit(&values[i]);
    return status;
}

static enum bb_status explain(struct called_world *world)
{
    struct bb_explain explain;
    struct bb_buf value = {0};
    enum bb_status status =
        bb_db_explain(world->store.db, NULL, bb_bytes_of_text("key0001"), &value, &explain);
    if (status == BB_OK)
        bb_explain_deinit(&explain);
    bb_buf_deinit(&value);
    return status;
}

static enum bb_status scan(struct called_world *world)
{
    struct bb_db_iter *iter = NULL;
    enum bb_status status = bb_db_iter_create(world->store.db, NULL, &iter);
    if (status != BB_OK)
        return status;
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter);)
        bb_db_iter_next(iter);
    status = bb_db_iter_status(iter);
    for (bb_db_iter_seek_last(iter); status == BB_OK && bb_db_iter_valid(iter);)
        bb_db_iter_prev(iter);
    if (status == BB_OK)
        status = bb_db_iter_status(iter);
    bb_db_iter_destroy(iter);
    return status;
}

/* Bounds of 200 bytes are copied in two steps. */
static enum bb_status scan_range(struct called_world *world)
{
    struct bb_db_iter *iter = NULL;
    char bounds[2][200];
    memset(bounds, 'k', sizeof(bounds));
    memcpy(bounds[0], "key0010", 7);
    memcpy(bounds[1], "key0055", 7);
    struct bb_bytes low = bb_bytes_of(bounds[0], 200);
    struct bb_bytes high = bb_bytes_of(bounds[1], 200);
    struct bb_key_range range = {.low = &low, .high = &high};
    enum bb_status status = bb_db_iter_create_range(world->store.db, NULL, &range, &iter);
    if (status != BB_OK)
        return status;
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter);)
        bb_db_iter_next(iter);
    status = bb_db_iter_status(iter);
    bb_db_iter_destroy(iter);
    return status;
}

static enum bb_status describe(struct called_world *world)
{
    struct bb_db_table_list tables = {0};
    struct bb_bytes low = bb_bytes_of_text("key0005");
    struct bb_bytes high = bb_bytes_of_text("key0045");
    struct bb_key_range range = {.low = &low, .high = &high};
    struct bb_range_size size;
    enum bb_status status = bb_db_tables(world->store.db, &tables);
    if (status == BB_OK)
        status = bb_db_approximate_sizes(world->store.db, &range, 1, &size);
    bb_db_table_list_deinit(&tables);
    return status;
}

static enum bb_status scrub(struct called_world *world)
{
    return bb_db_scrub(world->store.db, NULL, &(struct bb_db_scrub_report){0});
}

static const struct called_scene writing[] = {
    {.name = "put", .call = put},
    {.name = "batch", .call = write_batch},
    {.name = "flush", .call = flush},
    {.name = "flush without a log", .call = flush, .wal_off = true},
    {.name = "close", .call = close_store},
    {.name = "close without a log", .call = close_store, .wal_off = true, .may_lose = true},
    {.name = "checkpoint", .call = checkpoint},
    {.name = "checkpoint in two calls", .call = checkpoint_in_two_calls},
};
static const struct called_scene compacting[] = {
    {.name = "compact", .call = compact},
    {.name = "compact under a snapshot", .call = compact_under_snapshot},
    {.name = "compact a range", .call = compact_range},
    {.name = "compact covered tables", .call = delete_and_compact},
    {.name = "ingest", .call = ingest},
};
static const struct called_scene reading[] = {
    {.name = "get", .call = get},
    {.name = "get many", .call = get_many},
    {.name = "explain", .call = explain},
    {.name = "scan", .call = scan},
    {.name = "scan a range", .call = scan_range},
    {.name = "describe", .call = describe},
    {.name = "scrub", .call = scrub},
};

static void calls__that_write(void **state)
{
    (void)state;
    sweep_all(writing, sizeof(writing) / sizeof(writing[0]));
}

static void calls__that_compact(void **state)
{
    (void)state;
    sweep_all(compacting, sizeof(compacting) / sizeof(compacting[0]));
}

static void calls__that_read(void **state)
{
    (void)state;
    sweep_all(reading, sizeof(reading) / sizeof(reading[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls__that_write),
        cmocka_unit_test(calls__that_compact),
        cmocka_unit_test(calls__that_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
