/* Goal: a merge whose upper part has a thread gives the same store as one without, and survives
 * failures and closing. Method: a store with threads and small tables; every key is compared with
 * its last write; merges are requested, so that the thread starts immediately. */
#include "tests/support/store.h"

#include <stdlib.h>
#include <time.h>

#include "base/coding.h"
#include "base/sync.h"
#include "bb/db_iter.h"
#include "bb/select.h"
#include "kv/background/upper_merge.h"
#include "kv/store/store.h"
#include "tests/support/file_fault.h"
#include "tests/support/rng.h"

#define KEYS   6000
#define ROUNDS 4 /* of writes */

struct world {
    struct store store;
    struct bb_rng rng;
    uint32_t versions[KEYS]; /* of the last put; 0: absent */
};

static struct bb_bytes key_of(uint32_t i, char text[16])
{
    snprintf(text, 16, "key %06u", i);
    return bb_bytes_of_text(text);
}

static struct bb_bytes value_of(uint32_t i, uint32_t version, char text[64])
{
    snprintf(text, 64, "version %u of key %u, and a tail of bytes", version, i);
    return bb_bytes_of_text(text);
}

static void world_init(struct world *world, bool deterministic)
{
    *world = (struct world){0};
    bb_rng_init(&world->rng, bb_rng_seed("upper_merge", 61));
    store_init(&world->store);
    world->store.options.deterministic = deterministic;
    store_open(&world->store);
}

/* While writes continue, level 0 is merged when it has `busy` runs. */
static void world_init_busy(struct world *world, uint32_t busy)
{
    *world = (struct world){0};
    bb_rng_init(&world->rng, 7);
    store_init(&world->store);
    world->store.options.deterministic = false;
    world->store.options.level0_run_count_busy = busy;
    world->store.options.level0_run_count_stop = 32;
    store_open(&world->store);
}

static void write_some(struct world *world, uint32_t version)
{
    char key[16];
    char value[64];
    for (uint32_t n = 0; n < KEYS; n++) {
        uint32_t i = (uint32_t)bb_rng_below(&world->rng, KEYS);
        bool is_put = !bb_rng_one_in(&world->rng, 4);
        world->versions[i] = is_put ? version : 0;
        if (is_put)
            assert_ok(
                bb_db_put(world->store.db, NULL, key_of(i, key), value_of(i, version, value)));
        else
            assert_ok(bb_db_delete(world->store.db, NULL, key_of(i, key)));
    }
}

static void load(struct world *world)
{
    for (uint32_t version = 1; version <= ROUNDS; version++)
        write_some(world, version);
}

/* Compares everything that a reader sees. */
static void check_versions(struct world *world, const struct bb_snapshot *snapshot,
                           const uint32_t *versions)
{
    char key[16];
    char value[64];
    struct bb_db_iter *iter = NULL;
    const struct bb_get_options options = {.snapshot = snapshot};
    assert_ok(bb_db_iter_create(world->store.db, &options, &iter));
    bb_db_iter_seek_first(iter);
    for (uint32_t i = 0; i < KEYS; i++) {
        if (versions[i] == 0)
            continue;
        assert_true(bb_db_iter_valid(iter));
        assert_true(bb_bytes_equal(bb_db_iter_key(iter), key_of(i, key)));
        assert_true(bb_bytes_equal(bb_db_iter_value(iter), value_of(i, versions[i], value)));
        bb_db_iter_next(iter);
    }
    assert_false(bb_db_iter_valid(iter));
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
}

static void check(struct world *world)
{
    check_versions(world, NULL, world->versions);
}

static void world_deinit(struct world *world)
{
    store_deinit(&world->store);
}

static uint64_t divided_count(struct world *world)
{
    bb_mutex_lock(&world->store.db->mutex);
    uint64_t count = world->store.db->counts.divided_compactions;
    bb_mutex_unlock(&world->store.db->mutex);
    return count;
}

static void upper_merge__gives_the_same_store(void **state)
{
    (void)state;
    struct world world;
    struct bb_snapshot *snapshot = NULL;
    uint32_t before[KEYS];
    world_init(&world, false);
    load(&world);
    memcpy(before, world.versions, sizeof(before));
    assert_ok(bb_snapshot_create(world.store.db, &snapshot));
    write_some(&world, ROUNDS + 1);
    assert_ok(bb_db_compact(world.store.db));
    assert_true(divided_count(&world) > 0);
    check(&world);
    check_versions(&world, snapshot, before);
    bb_snapshot_release(world.store.db, snapshot);
    assert_ok(bb_db_compact(world.store.db));
    check(&world);
    store_close(&world.store);
    (void)store_verify(&world.store);
    store_open(&world.store);
    check(&world);
    world_deinit(&world);
}

/* Ends a world whose merges must not be divided, even though a caller waits for them. */
static void check_undivided(struct world *world)
{
    load(world);
    assert_ok(bb_db_compact(world->store.db));
    assert_int_equal(divided_count(world), 0);
    check(world);
    world_deinit(world);
}

static uint64_t merge_count(struct world *world)
{
    bb_mutex_lock(&world->store.db->mutex);
    uint64_t count = world->store.db->counts.compactions;
    bb_mutex_unlock(&world->store.db->mutex);
    return count;
}

/* Not in deterministic mode, not with range tombstones, which both parts would cut, and not while
 * writes continue. */
static void upper_merge__is_not_always_made(void **state)
{
    (void)state;
    struct world world;
    char low[16];
    char high[16];
    world_init(&world, true);
    check_undivided(&world);

    world_init(&world, false);
    load(&world);
    assert_ok(bb_db_wait_idle(world.store.db));
    uint64_t earlier = divided_count(&world);
    for (uint32_t i = 0; i < KEYS; i += 60) { /* most tables remain */
        assert_ok(bb_db_delete_range(world.store.db, NULL, key_of(i, low), key_of(i + 3, high)));
        memset(&world.versions[i], 0, 3 * sizeof(world.versions[0]));
    }
    assert_ok(bb_db_compact(world.store.db));
    assert_int_equal(divided_count(&world), earlier);
    check(&world);
    world_deinit(&world);

    world_init_busy(&world, 8);
    for (uint32_t version = 1; merge_count(&world) < 2; version++)
        write_some(&world, version);
    assert_int_equal(divided_count(&world), 0);
    check(&world);
    world_deinit(&world);
}

/* Index files are built for one table after the other, and a thread would wait for the limit. */
static void upper_merge__not_with_indexes_or_a_limit(void **state)
{
    (void)state;
    struct world world;
    world_init_busy(&world, 24);
    assert_ok(bb_db_attribute_create(world.store.db, "first bytes = csv(1)"));
    assert_ok(bb_db_index_create(world.store.db, "bounds", "min_max(first)"));
    check_undivided(&world);

    world_init_busy(&world, 24);
    store_close(&world.store);
    world.store.options.background_bytes_per_second = UINT64_C(1) << 30;
    store_open(&world.store);
    check_undivided(&world);
}

/* Level 0 collects runs during the writes. It is merged when the caller begins to wait. */
static void upper_merge__divides_for_a_caller_that_waits(void **state)
{
    (void)state;
    struct world world;
    world_init_busy(&world, 24);
    load(&world);
    assert_ok(bb_db_wait_idle(world.store.db));
    assert_true(divided_count(&world) > 0);
    check(&world);
    world_deinit(&world);
}

/* ---- keys that decide where a merge can be divided ---- */

/* Keys are numbers of eight bytes: no other key may reach the comparator. */
static int compare_numbers(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    assert_true(a.size == 8 && b.size == 8);
    uint64_t x = bb_load64(a.data);
    uint64_t y = bb_load64(b.data);
    return x < y ? -1 : x > y;
}

/* Each run is a table with one index page, in which no key divides the rest. */
static void upper_merge__no_key_divides_one_page(void **state)
{
    (void)state;
    static const struct bb_comparator numbers = {.name = "numbers", .compare = compare_numbers};
    struct store store;
    struct bb_buf found = {0};
    uint8_t bytes[100] = {0};
    struct bb_rng rng;
    bb_rng_init(&rng, 5);
    store_init(&store);
    store.options.deterministic = false;
    store.options.comparator = &numbers;
    store.options.table_size_bytes = 16384;
    store.options.block_size_bytes = 4096;
    store.options.level0_run_count_compact = 16;
    store.options.level0_run_count_busy = 16;
    store.options.level0_run_count_stop = 32;
    store_open(&store);
    for (uint64_t i = 0; i < 2400; i++) {
        uint64_t key = i % 200 * 12 + i / 200;
        bb_rng_bytes(&rng, bytes, sizeof(bytes));
        assert_ok(bb_db_put(store.db, NULL, bb_bytes_of(&key, 8), bb_bytes_of(bytes, 100)));
        if (i % 200 == 199)
            assert_ok(bb_db_flush(store.db));
    }
    assert_ok(bb_db_compact(store.db));
    for (uint64_t key = 0; key < 2400; key += 7)
        assert_ok(bb_db_get(store.db, NULL, bb_bytes_of(&key, 8), &found));
    bb_buf_deinit(&found);
    store_deinit(&store);
}

#define SNAPSHOTS 2000

/* Versions of one key fill most pages, so that fences have the key of the next entry. */
static void upper_merge__versions_of_a_key_fill_pages(void **state)
{
    (void)state;
    static const char *const keys[] = {"a", "b"};
    static struct bb_snapshot *snapshots[SNAPSHOTS];
    struct store store;
    struct bb_buf found = {0};
    store_init(&store);
    store.options.deterministic = false;
    store.options.table_size_bytes = 4096;
    store.options.block_size_bytes = 64;
    store.options.level0_run_count_compact = 16;
    store.options.level0_run_count_busy = 16;
    store.options.level0_run_count_stop = 32;
    store_open(&store);
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        char value[64] = {0};
        snprintf(value, sizeof(value), "the value of version %zu", i);
        assert_ok(bb_db_put(store.db, NULL, bb_bytes_of_text(keys[i % 8 == 0]),
                            bb_bytes_of(value, sizeof(value))));
        assert_ok(bb_snapshot_create(store.db, &snapshots[i]));
    }
    assert_ok(bb_db_compact(store.db));
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        const struct bb_get_options options = {.snapshot = snapshots[i]};
        char value[64] = {0};
        snprintf(value, sizeof(value), "the value of version %zu", i);
        assert_ok(bb_db_get(store.db, &options, bb_bytes_of_text(keys[i % 8 == 0]), &found));
        assert_true(bb_bytes_equal(bb_buf_bytes(&found), bb_bytes_of(value, sizeof(value))));
        bb_snapshot_release(store.db, snapshots[i]);
    }
    bb_buf_deinit(&found);
    store_deinit(&store);
}

/* ---- failures ---- */

/* The n-th append to a table fails, in either part. Nothing is lost, and later merges succeed. */
static void upper_merge__failure_of_either_part(void **state)
{
    (void)state;
    uint64_t failures = 0;
    for (uint64_t nth = 1; nth < 20; nth++) {
        struct world world = {0};
        const struct bb_file_fault_plan plan = {.mode = BB_FILE_FAULT_ERROR,
                                                .call = BB_FILE_CALL_APPEND,
                                                .path_part = ".bbt",
                                                .nth = nth};
        bb_rng_init(&world.rng, nth);
        store_init(&world.store);
        struct bb_file_fault *fault = bb_file_fault_create(world.store.options.file_system);
        world.store.options.file_system = bb_file_fault_system(fault);
        world.store.options.deterministic = false;
        store_open(&world.store);
        load(&world);
        assert_ok(bb_db_flush(world.store.db));
        assert_ok(bb_db_wait_idle(world.store.db));
        bb_file_fault_arm(fault, &plan);
        enum bb_status status = bb_db_compact(world.store.db);
        failures += bb_file_fault_hits(fault) > 0;
        assert_true(status == BB_OK || status == BB_IO);
        bb_file_fault_disarm(fault);
        check(&world);
        assert_ok(bb_db_compact(world.store.db));
        check(&world);
        store_close(&world.store);
        (void)store_verify(&world.store);
        bb_file_fault_destroy(fault);
        bb_file_memory_destroy(world.store.memory);
    }
    assert_true(failures >= 5);
}

struct caller {
    struct bb_db *db;
    struct bb_thread thread;
    _Atomic bool has_returned;
};

static void compact(void *argument)
{
    struct caller *caller = argument;
    enum bb_status status = bb_db_compact(caller->db);
    assert_true(status == BB_OK || status == BB_BUSY);
    caller->has_returned = true;
}

static bool is_calling(const struct caller *caller)
{
    bb_mutex_lock(&caller->db->mutex);
    bool is_calling = caller->db->call_count > 0;
    bb_mutex_unlock(&caller->db->mutex);
    return is_calling;
}

/* Returns after the call has begun: a store must not be closed before. */
static void begin_compaction(struct caller *caller, struct bb_db *db)
{
    *caller = (struct caller){.db = db};
    assert_ok(bb_thread_create(&caller->thread, compact, caller));
    while (!caller->has_returned && !is_calling(caller))
        bb_thread_yield();
}

static void rest(uint64_t microseconds)
{
    const struct timespec time = {.tv_nsec = (long)microseconds * 1000};
    (void)nanosleep(&time, NULL);
}

/* Closing does not wait for the end of a merge, and leaves no file of it. */
static void upper_merge__ends_when_the_store_is_closed(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, false);
    load(&world);
    for (int round = 0; round < 20; round++) {
        struct caller caller;
        write_some(&world, (uint32_t)(ROUNDS + 1 + round));
        begin_compaction(&caller, world.store.db);
        rest(bb_rng_below(&world.rng, 8000));
        assert_ok(bb_db_close(world.store.db));
        bb_thread_join(&caller.thread);
        world.store.db = NULL;
        (void)store_verify(&world.store);
        store_open(&world.store);
        check(&world);
    }
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upper_merge__gives_the_same_store),
        cmocka_unit_test(upper_merge__is_not_always_made),
        cmocka_unit_test(upper_merge__not_with_indexes_or_a_limit),
        cmocka_unit_test(upper_merge__divides_for_a_caller_that_waits),
        cmocka_unit_test(upper_merge__no_key_divides_one_page),
        cmocka_unit_test(upper_merge__versions_of_a_key_fill_pages),
        cmocka_unit_test(upper_merge__failure_of_either_part),
        cmocka_unit_test(upper_merge__ends_when_the_store_is_closed),
    };
    return cmocka_run_group_tests_name("upper merge", tests, NULL, NULL);
}
