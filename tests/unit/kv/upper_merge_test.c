/* Goal: a merge whose upper part has a thread gives the same store as one without, and survives
 * failures and closing. Method: a store with threads and small tables; every key is compared with
 * its last write; merges are requested, so that the thread starts immediately. */
#include "tests/support/store.h"

#include <stdlib.h>
#include <time.h>

#include "base/sync.h"
#include "bb/db_iter.h"
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

/* Not in deterministic mode, and not with range tombstones, which both parts would cut. */
static void upper_merge__is_not_always_made(void **state)
{
    (void)state;
    struct world world;
    char low[16];
    char high[16];
    world_init(&world, true);
    load(&world);
    assert_ok(bb_db_compact(world.store.db));
    assert_int_equal(divided_count(&world), 0);
    check(&world);
    world_deinit(&world);

    world_init(&world, false);
    load(&world);
    assert_ok(bb_db_wait_idle(world.store.db));
    uint64_t earlier = divided_count(&world);
    assert_ok(bb_db_delete_range(world.store.db, NULL, key_of(10, low), key_of(KEYS - 10, high)));
    memset(&world.versions[10], 0, (KEYS - 20) * sizeof(world.versions[0]));
    assert_ok(bb_db_compact(world.store.db));
    assert_int_equal(divided_count(&world), earlier);
    check(&world);
    world_deinit(&world);
}

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
        cmocka_unit_test(upper_merge__failure_of_either_part),
        cmocka_unit_test(upper_merge__ends_when_the_store_is_closed),
    };
    return cmocka_run_group_tests_name("upper merge", tests, NULL, NULL);
}
