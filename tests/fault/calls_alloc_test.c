/* Goal: if one allocation or one file call of any call to a store fails, the call reports that
 * failure or succeeds, the store has its contents from before or after the call, the same call then
 * succeeds, and no memory leaks. Method: small stores with tables in several levels, range
 * tombstones, a snapshot and a log; every allocation and every file call of each call fails once,
 * without a stride. The workloads of file_fault_test and allocation_alloc_test are longer, so quick
 * runs of these skip most of their failures. */
#include "tests/support/store.h"

#include <inttypes.h>

#include "bb/db_explain.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_fault.h"
#include "tests/support/step.h"

#define KEYS 60
/* Long enough for several tables. */
#define DEEP_VALUE                                                                                 \
    "a value in the deepest level, which is long enough for several tables of 4 KiB with sixty "   \
    "keys, and for several blocks in each of these tables, as a value of this length shows: "      \
    ".....x"
#define FIRST     "/data/first"
#define SECOND    "/data/second"
#define COPY_PATH "/data/copy"

struct world {
    struct store store; /* its file system is the faulty one */
    struct bb_file_fault *fault;
};

struct scene {
    const char *name;
    enum bb_status (*call)(struct world *world);
    void (*damage)(struct bb_file_memory *memory); /* of a closed store, first; may be NULL */
    bool is_closed;                                /* the store is not open during the call */
    bool wal_off;
    bool may_lose; /* a failed call may lose contents */
};

/* ---- the store ---- */

static struct bb_bytes key_of(char text[16], int number)
{
    snprintf(text, 16, "key%04d", number);
    return bb_bytes_of_text(text);
}

static void put_every(struct bb_db *db, int step, const char *value)
{
    char key[16];
    for (int i = 0; i < KEYS; i += step)
        assert_ok(bb_db_put(db, NULL, key_of(key, i), bb_bytes_of_text(value)));
}

static void delete_keys(struct bb_db *db, int low, int high)
{
    char from[16];
    char to[16];
    assert_ok(bb_db_delete_range(db, NULL, key_of(from, low), key_of(to, high)));
}

static void build_table(struct bb_file_system *fs, const char *path, int first, int count)
{
    struct bb_table_options options = {.file_system = fs};
    struct bb_table_builder *builder = NULL;
    char key[16];
    char high[16];
    assert_ok(bb_table_builder_create(path, &options, &builder));
    for (int i = first; i < first + count; i++) {
        struct bb_entry entry = {
            .key = key_of(key, i), .kind = BB_ENTRY_PUT, .value = bb_bytes_of_text("ingested")};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_add_range_tombstone(builder, key_of(key, first + count),
                                                   key_of(high, first + count + 4), 0));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

static struct bb_db_options options_of(struct bb_file_memory *memory, bool wal_off)
{
    struct bb_db_options options = store_options(memory);
    options.wal_off = wal_off;
    options.table_size_bytes = 4096;
    options.level1_size_bytes = 16 * 1024;
    options.level0_run_count_compact = options.level0_run_count_busy = 6;
    options.compression = BB_COMPRESSION_NONE;
    options.cache_bytes = 64 * 1024;
    return options;
}

/* Tables in two levels, runs in level 0, range tombstones in tables and in memory. */
static struct bb_file_memory *make_image(const struct scene *scene)
{
    struct store store = {.memory = store_memory(1)};
    store.options = options_of(store.memory, scene->wal_off);
    build_table(store.options.file_system, FIRST, 10, 5);
    build_table(store.options.file_system, SECOND, 12, 30);
    store_open(&store);
    put_every(store.db, 1, DEEP_VALUE);
    assert_ok(bb_db_compact(store.db));
    delete_keys(store.db, 20, 24);
    put_every(store.db, 7, "a newer value");
    assert_ok(bb_db_flush(store.db));
    delete_keys(store.db, 30, 40);
    put_every(store.db, 9, "the newest value in a table");
    assert_ok(bb_db_flush(store.db));
    put_every(store.db, 11, "a value in memory");
    delete_keys(store.db, 50, 52);
    struct bb_file_memory *image = bb_file_memory_clone(store.memory);
    store_deinit(&store);
    if (scene->damage != NULL)
        scene->damage(image);
    return image;
}

static void begin(struct world *world, const struct scene *scene, struct bb_file_memory *image)
{
    world->store.memory = bb_file_memory_clone(image);
    world->store.db = NULL;
    world->store.options = options_of(world->store.memory, scene->wal_off);
    world->fault = bb_file_fault_create(bb_file_memory_system(world->store.memory));
    world->store.options.file_system = bb_file_fault_system(world->fault);
    if (scene->is_closed)
        return;
    store_open(&world->store);
    /* Without a log the opened store has only tables. */
    put_every(world->store.db, 13, "a value of this process");
}

/* A number for the contents; 0 if there is no store. */
static uint64_t digest(struct world *world)
{
    struct bb_db_iter *iter = NULL;
    uint64_t sum = 14695981039346656037U;
    bool is_open = world->store.db != NULL;
    if (!is_open && bb_db_open(STORE_PATH, &world->store.options, &world->store.db) != BB_OK) {
        assert_status(bb_error_last()->status, BB_NOT_FOUND);
        return 0;
    }
    assert_ok(bb_db_iter_create(world->store.db, NULL, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter)) {
        struct bb_bytes parts[] = {bb_db_iter_key(iter), bb_db_iter_value(iter)};
        for (size_t i = 0; i < 2; i++) {
            for (size_t j = 0; j < parts[i].size; j++)
                sum = (sum ^ parts[i].data[j]) * 1099511628211U;
        }
    }
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    if (!is_open)
        store_close(&world->store);
    return sum;
}

static void end(struct world *world, bool verifies)
{
    if (world->store.db != NULL)
        store_close(&world->store);
    if (verifies)
        (void)store_verify(&world->store);
    bb_file_fault_destroy(world->fault);
    bb_file_memory_destroy(world->store.memory);
}

/* ---- the sweep ---- */

struct sweep {
    const struct scene *scene;
    struct bb_file_memory *image;
    uint64_t before;
    uint64_t after;
    bool is_gone; /* the call removes the store */
};

static void arm(struct world *world, bool is_allocation, uint64_t nth)
{
    if (is_allocation)
        bb_alloc_fault_arm(nth, false);
    else
        bb_file_fault_arm(world->fault,
                          &(struct bb_file_fault_plan){.call = BB_FILE_CALL_ANY, .nth = nth});
}

static uint64_t disarm(struct world *world, bool is_allocation)
{
    if (!is_allocation) {
        uint64_t hits = bb_file_fault_hits(world->fault);
        bb_file_fault_disarm(world->fault);
        return hits;
    }
    bb_alloc_fault_disarm();
    return bb_alloc_fault_failures();
}

static void check_status(const struct sweep *sweep, bool is_allocation, uint64_t nth,
                         enum bb_status status, bool was_hit)
{
    enum bb_status failure = is_allocation ? BB_NO_MEMORY : BB_IO;
    if (status == BB_OK || (was_hit && status == failure && bb_error_last()->message[0] != '\0'))
        return;
    fail_msg("%s: %s %" PRIu64 " failed, and the status is %s: %s", sweep->scene->name,
             is_allocation ? "allocation" : "file call", nth, bb_status_name(status),
             bb_error_last()->message);
}

static void check_contents(const struct sweep *sweep, struct world *world, enum bb_status status,
                           uint64_t nth)
{
    uint64_t found = digest(world);
    if (found != sweep->after && (status == BB_OK || found != sweep->before))
        fail_msg("%s: after failure %" PRIu64 " the store has other contents", sweep->scene->name,
                 nth);
}

/* False if the call made fewer than nth allocations, or file calls. */
static bool run_one(const struct sweep *sweep, bool is_allocation, uint64_t nth)
{
    struct world world;
    uint64_t live = bb_alloc_fault_live();
    begin(&world, sweep->scene, sweep->image);
    arm(&world, is_allocation, nth);
    enum bb_status status = sweep->scene->call(&world);
    bool was_hit = disarm(&world, is_allocation) > 0;
    check_status(sweep, is_allocation, nth, status, was_hit);
    if (status == BB_OK || (sweep->scene->damage == NULL && !sweep->scene->may_lose))
        check_contents(sweep, &world, status, nth);
    if (status != BB_OK) {
        assert_ok(sweep->scene->call(&world));
        if (!sweep->scene->may_lose || sweep->is_gone)
            check_contents(sweep, &world, BB_OK, nth);
    }
    end(&world, !sweep->is_gone && nth % 16 == 0);
    if (bb_alloc_fault_live() != live)
        fail_msg("%s: %" PRIu64 " blocks leak after failure %" PRIu64, sweep->scene->name,
                 bb_alloc_fault_live() - live, nth);
    return was_hit;
}

static void sweep_scene(const struct scene *scene)
{
    struct sweep sweep = {.scene = scene, .image = make_image(scene)};
    struct world world;
    uint64_t counts[2] = {0};
    begin(&world, scene, sweep.image);
    sweep.before = scene->damage == NULL ? digest(&world) : 0;
    assert_ok(scene->call(&world));
    sweep.after = digest(&world);
    sweep.is_gone = sweep.after == 0;
    end(&world, !sweep.is_gone);
    for (int i = 0; i < 2; i++) {
        bool was_hit = true;
        for (uint64_t nth = 1; was_hit; nth += bb_test_step()) {
            was_hit = run_one(&sweep, i == 0, nth);
            counts[i] += was_hit;
        }
    }
    print_message("%s: %" PRIu64 " allocations, %" PRIu64 " file calls\n", scene->name, counts[0],
                  counts[1]);
    bb_file_memory_destroy(sweep.image);
}

/* ---- calls that write ---- */

static enum bb_status put(struct world *world)
{
    return bb_db_put(world->store.db, &(struct bb_write_options){.sync = true},
                     bb_bytes_of_text("key0003"), bb_bytes_of_text("of the call"));
}

static enum bb_status write_batch(struct world *world)
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

static enum bb_status flush(struct world *world)
{
    return bb_db_flush(world->store.db);
}

static enum bb_status compact(struct world *world)
{
    return bb_db_compact(world->store.db);
}

/* Versions and range tombstones that a snapshot needs are kept. */
static enum bb_status compact_under_snapshot(struct world *world)
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

static enum bb_status compact_range(struct world *world)
{
    struct bb_bytes low = bb_bytes_of_text("key0010");
    struct bb_bytes high = bb_bytes_of_text("key0030");
    return bb_db_compact_range(world->store.db, &low, &high);
}

/* All tables of the range are covered by the tombstone. */
static enum bb_status delete_and_compact(struct world *world)
{
    enum bb_status status = bb_db_delete_range(world->store.db, NULL, bb_bytes_of_text("key0000"),
                                               bb_bytes_of_text("key0055"));
    return status == BB_OK ? bb_db_compact(world->store.db) : status;
}

static enum bb_status ingest(struct world *world)
{
    static const char *const paths[] = {FIRST, SECOND};
    return bb_db_ingest(world->store.db, paths, 2, &(struct bb_ingest_options){.verify = true});
}

/* A failed checkpoint leaves no directory, or a rest that a removal takes. */
static void remove_copy(struct world *world)
{
    (void)!bb_db_destroy(COPY_PATH, &world->store.options, NULL);
}

static enum bb_status checkpoint(struct world *world)
{
    remove_copy(world);
    return bb_db_checkpoint(world->store.db, COPY_PATH);
}

static enum bb_status checkpoint_in_two_calls(struct world *world)
{
    struct bb_checkpoint *state = NULL;
    remove_copy(world);
    enum bb_status status = bb_checkpoint_create(world->store.db, &state);
    if (status == BB_OK)
        status = bb_checkpoint_write(state, COPY_PATH);
    bb_checkpoint_destroy(state);
    return status;
}

static enum bb_status close_store(struct world *world)
{
    enum bb_status status = world->store.db == NULL ? BB_OK : bb_db_close(world->store.db);
    world->store.db = NULL;
    return status;
}

/* ---- calls that read ---- */

static enum bb_status get(struct world *world)
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

static enum bb_status get_many(struct world *world)
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

static enum bb_status explain(struct world *world)
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

static enum bb_status scan(struct world *world)
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

static enum bb_status describe(struct world *world)
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

static enum bb_status scrub(struct world *world)
{
    return bb_db_scrub(world->store.db, NULL, &(struct bb_db_scrub_report){0});
}

/* ---- calls of closed stores ---- */

static enum bb_status open_and_close(struct world *world)
{
    struct bb_db *db = NULL;
    enum bb_status status = bb_db_open(STORE_PATH, &world->store.options, &db);
    return status == BB_OK ? bb_db_close(db) : status;
}

static enum bb_status open_read_only(struct world *world)
{
    struct bb_db_options options = world->store.options;
    struct bb_db *db = NULL;
    options.read_only = true;
    options.create_if_missing = false;
    options.deterministic = false;
    enum bb_status status = bb_db_open(STORE_PATH, &options, &db);
    if (status == BB_OK)
        status = bb_db_refresh(db);
    if (db != NULL)
        assert_ok(bb_db_close(db));
    return status;
}

static enum bb_status verify(struct world *world)
{
    struct bb_db_verify_report report;
    return bb_db_verify(STORE_PATH, &world->store.options, &report);
}

static enum bb_status destroy(struct world *world)
{
    struct bb_db_destroy_report report;
    world->store.options.create_if_missing = false;
    enum bb_status status = bb_db_destroy(STORE_PATH, &world->store.options, &report);
    return status == BB_NOT_FOUND ? BB_OK : status; /* an earlier attempt completed it */
}

static enum bb_status repair(struct world *world)
{
    struct bb_db_repair_report report;
    return bb_db_repair(STORE_PATH, &world->store.options, NULL, &report);
}

static void flip_bit(struct bb_file_memory *memory, const char *path)
{
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(memory, path, &size);
    bytes[size / 3] ^= 1;
}

/* Removes files with this part in their names, up to a number, or flips a bit in each. */
static void damage_files(struct bb_file_memory *memory, const char *part, size_t count,
                         bool is_removal)
{
    struct bb_file_names names = {0};
    struct bb_file_system *fs = bb_file_memory_system(memory);
    char path[64];
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count && count > 0; i++) {
        snprintf(path, sizeof(path), STORE_PATH "/%s", names.names[i]);
        if (strstr(path, part) == NULL)
            continue;
        if (is_removal)
            assert_ok(fs->ops->remove(fs, path));
        else
            flip_bit(memory, path);
        count--;
    }
    bb_file_names_deinit(&names);
}

static void damage_tables(struct bb_file_memory *memory)
{
    damage_files(memory, ".bbt", 3, false);
}

static void damage_manifest(struct bb_file_memory *memory)
{
    damage_files(memory, "CURRENT", 1, true);
    damage_files(memory, "MANIFEST", 1, false);
}

static void lose_manifest(struct bb_file_memory *memory)
{
    damage_files(memory, "CURRENT", 1, true);
    damage_files(memory, "MANIFEST", SIZE_MAX, true);
}

static const struct scene writing[] = {
    {.name = "put", .call = put},
    {.name = "batch", .call = write_batch},
    {.name = "flush", .call = flush},
    {.name = "flush without a log", .call = flush, .wal_off = true},
    {.name = "close", .call = close_store},
    {.name = "close without a log", .call = close_store, .wal_off = true, .may_lose = true},
    {.name = "checkpoint", .call = checkpoint},
    {.name = "checkpoint in two calls", .call = checkpoint_in_two_calls},
};
static const struct scene compacting[] = {
    {.name = "compact", .call = compact},
    {.name = "compact under a snapshot", .call = compact_under_snapshot},
    {.name = "compact a range", .call = compact_range},
    {.name = "compact covered tables", .call = delete_and_compact},
    {.name = "ingest", .call = ingest},
};
static const struct scene reading[] = {
    {.name = "get", .call = get},           {.name = "get many", .call = get_many},
    {.name = "explain", .call = explain},   {.name = "scan", .call = scan},
    {.name = "describe", .call = describe}, {.name = "scrub", .call = scrub},
};
static const struct scene closed[] = {
    {.name = "open and close", .call = open_and_close, .is_closed = true},
    {.name = "open read-only", .call = open_read_only, .is_closed = true},
    {.name = "verify", .call = verify, .is_closed = true},
    {.name = "destroy", .call = destroy, .is_closed = true, .may_lose = true},
    {.name = "repair tables", .call = repair, .damage = damage_tables, .is_closed = true},
    {.name = "repair a manifest", .call = repair, .damage = damage_manifest, .is_closed = true},
    {.name = "repair without one", .call = repair, .damage = lose_manifest, .is_closed = true},
};

static void sweep_all(const struct scene *scenes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sweep_scene(&scenes[i]);
}

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

static void calls__of_closed_stores(void **state)
{
    (void)state;
    sweep_all(closed, sizeof(closed) / sizeof(closed[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls__that_write),
        cmocka_unit_test(calls__that_compact),
        cmocka_unit_test(calls__that_read),
        cmocka_unit_test(calls__of_closed_stores),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
