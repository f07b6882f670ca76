/* Goal: a process that may open few files can write, read, scan and compact a store of many more
 * tables, for any open_tables_max. Method: the operating system's files under RLIMIT_NOFILE = 64,
 * an 8 MiB cache, several hundred tables; BB_TEST_STORE_BYTES makes it larger (2000000000: the
 * store of the issue, some minutes). */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bb/db_files.h"
#include "tests/support/rng.h"
#include "tests/support/store.h"
#include "tests/support/temp_dir.h"

#define DESCRIPTORS 64
#define VALUE_SIZE  1000
#define BYTES       ((uint64_t)8 * 1000 * 1000)

struct world {
    struct bb_temp_dir directory;
    struct bb_db_options options;
    uint64_t keys;
    struct rlimit before;
};

static uint64_t store_bytes(void)
{
    const char *text = getenv("BB_TEST_STORE_BYTES");
    return text == NULL ? BYTES : strtoull(text, NULL, 10);
}

static void world_init(struct world *world, uint64_t descriptors)
{
    *world = (struct world){.keys = store_bytes() / VALUE_SIZE};
    bb_temp_dir_init(&world->directory, "descriptors");
    world->options = (struct bb_db_options){
        .create_if_missing = true,
        .cache_bytes = (uint64_t)8 << 20,
        .compression = BB_COMPRESSION_NONE,
        .write_buffer_bytes = store_bytes() > BYTES ? 64 << 20 : 1 << 20,
        .table_size_bytes = store_bytes() > BYTES ? 4 << 20 : 16 << 10,
        .deterministic = true,
    };
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &world->before), 0);
    struct rlimit limit = {.rlim_cur = descriptors, .rlim_max = world->before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void world_deinit(struct world *world)
{
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &world->before), 0);
    bb_temp_dir_deinit(&world->directory);
}

/* Keys in an order that spreads every write buffer over all of them. */
static void key_at(const struct world *world, uint64_t i, char key[32])
{
    snprintf(key, 32, "key%012llu", (unsigned long long)(i * 7919 % world->keys));
}

static void load(struct world *world)
{
    struct bb_db *db = NULL;
    static uint8_t value[VALUE_SIZE];
    struct bb_rng rng;
    bb_rng_init(&rng, 5);
    assert_true(world->keys % 7919 != 0);
    assert_ok(bb_db_open(world->directory.path, &world->options, &db));
    for (uint64_t i = 0; i < world->keys; i++) {
        char key[32];
        key_at(world, i, key);
        bb_rng_bytes(&rng, value, sizeof(value));
        assert_ok(bb_db_put(db, NULL, bb_bytes_of_text(key), bb_bytes_of(value, sizeof(value))));
    }
    assert_ok(bb_db_flush(db));
    assert_ok(bb_db_wait_idle(db)); /* all of it in the small tables of level 1 and below */
    assert_ok(bb_db_close(db));
}

static void read_all(struct world *world, struct bb_db *db)
{
    struct bb_buf value = {0};
    for (uint64_t i = 0; i < world->keys; i++) {
        char key[32];
        key_at(world, i, key);
        assert_ok(bb_db_get(db, NULL, bb_bytes_of_text(key), &value));
        assert_int_equal(value.size, VALUE_SIZE);
    }
    bb_buf_deinit(&value);
}

static void scan_all(struct world *world, struct bb_db *db)
{
    struct bb_db_iter *iter = NULL;
    uint64_t count = 0;
    assert_ok(bb_db_iter_create(db, NULL, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        count++;
    assert_ok(bb_db_iter_status(iter));
    assert_int_equal(count, world->keys);
    bb_db_iter_destroy(iter);
}

static uint64_t table_count(struct bb_db *db)
{
    struct bb_db_stats stats;
    uint64_t count = 0;
    bb_db_stats(db, &stats);
    for (int i = 0; i < BB_LEVEL_COUNT; i++)
        count += stats.levels[i].table_count;
    return count;
}

/* The number of unused descriptors of this process. */
static size_t free_descriptors(void)
{
    int taken[DESCRIPTORS];
    size_t count = 0;
    while (count < DESCRIPTORS && (taken[count] = dup(0)) >= 0)
        count++;
    for (size_t i = 0; i < count; i++)
        close(taken[i]);
    return count;
}

/* Reading has opened the permitted number; the store and the program must still be able to create
 * files. */
static void descriptors__are_left_for_writing(void **state)
{
    (void)state;
    struct world world;
    struct bb_db *db = NULL;
    world_init(&world, DESCRIPTORS);
    load(&world);
    assert_ok(bb_db_open(world.directory.path, &world.options, &db));
    assert_true(table_count(db) > 4 * DESCRIPTORS);
    read_all(&world, db);
    scan_all(&world, db);
    assert_true(free_descriptors() >= DESCRIPTORS / 4);
    for (int i = 0; i < 3; i++) {
        assert_ok(
            bb_db_put(db, NULL, bb_bytes_of_text("key000000000000"), bb_bytes_of_text("another")));
        assert_ok(bb_db_flush(db));
    }
    assert_ok(bb_db_compact(db));
    assert_ok(bb_db_close(db));
    struct bb_db_verify_report report;
    assert_ok(bb_db_verify(world.directory.path, &world.options, &report));
    world_deinit(&world);
}

/* Regression: a merge kept sixteen outputs open that were not synced yet, and failed where fewer
 * descriptors were unused. */
static void descriptors__that_the_program_uses(void **state)
{
    (void)state;
    enum { LIMIT = 1024, OPEN_TABLES = 16, UNUSED = OPEN_TABLES + 8 };
    struct world world;
    struct bb_db *db = NULL;
    int taken[LIMIT];
    size_t count = 0;
    world_init(&world, LIMIT);
    world.options.open_tables_max = OPEN_TABLES;
    load(&world);
    assert_ok(bb_db_open(world.directory.path, &world.options, &db));
    while (count < LIMIT && (taken[count] = dup(0)) >= 0)
        count++;
    for (int i = 0; i < UNUSED; i++)
        close(taken[--count]);
    assert_ok(bb_db_compact(db));
    assert_true(table_count(db) > 4 * DESCRIPTORS);
    for (size_t i = 0; i < count; i++)
        close(taken[i]);
    assert_ok(bb_db_close(db));
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors__are_left_for_writing),
        cmocka_unit_test(descriptors__that_the_program_uses),
    };
    return cmocka_run_group_tests_name("descriptors", tests, NULL, NULL);
}
