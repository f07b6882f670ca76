/* Goal: a run returns the table filter of the table that it finds, once it is ready, and no other
 * one. Method: runs of real tables in memory; every result is compared with the table's, also by
 * several threads, while tables are opened and table filters read. (The search itself:
 * levels_test.c.) */
#include "tests/unit/compaction/shelf.h"

#include "base/sync.h"
#include "sstable/filter/table_filter.h"
#include "sstable/table/table_lookup.h"

#define KEYS    3000
#define TABLES  7
#define THREADS 3

struct run_world {
    struct shelf shelf;
    struct bb_table_file *files[TABLES];
    struct bb_run run;
};

static struct bb_bytes key_of(uint64_t number, char key[24])
{
    snprintf(key, 24, "key%012" PRIu64, number * UINT64_C(7919));
    return bb_bytes_of_text(key);
}

static void world_open(struct run_world *world, bool table_filter_off)
{
    struct bb_entry_array array = {0};
    char key[24];
    shelf_init(&world->shelf, NULL);
    world->shelf.env.options.table_filter_bits = 5;
    world->shelf.env.options.filter_rate = 0.01;
    world->shelf.env.options.table_filter_off = table_filter_off;
    assert_ok(bb_block_cache_create(1 << 20, &world->shelf.env.options.cache));
    for (uint64_t i = 0; i < KEYS; i++) {
        struct bb_entry entry = {.key = key_of(2 * i, key), .sequence = 1, .kind = BB_ENTRY_PUT};
        bb_entry_array_add(&array, &entry);
    }
    size_t count = shelf_put_run(&world->shelf, &array, KEYS / TABLES + 1, world->files);
    assert_int_equal(count, TABLES);
    world->run = (struct bb_run){.files = world->files, .count = count};
    assert_ok(bb_run_index(&world->run, NULL, 1));
    bb_entry_array_deinit(&array);
}

static void world_close(struct run_world *world)
{
    bb_run_deinit(&world->run);
    for (size_t i = 0; i < TABLES; i++)
        bb_table_file_unref(world->files[i]);
    struct bb_block_cache *cache = world->shelf.env.options.cache;
    shelf_deinit(&world->shelf);
    bb_block_cache_destroy(cache);
}

static enum bb_visit get(struct run_world *world, size_t index, struct bb_bytes key, uint64_t hash)
{
    struct bb_table *table = NULL;
    struct bb_buf value = {0};
    uint64_t sequence = 0;
    enum bb_visit visit = BB_VISIT_COUNT;
    assert_ok(bb_table_file_open(world->files[index], &table));
    assert_ok(
        bb_table_get(table, NULL, key, hash, BB_SEQUENCE_MAX, NULL, &value, &sequence, &visit));
    bb_buf_deinit(&value);
    return visit;
}

/* Gives whether there was a table filter. */
static bool ask(struct run_world *world, uint64_t number)
{
    char text[24];
    struct bb_bytes key = key_of(number, text);
    uint64_t hash = bb_hash_key(&world->shelf.secret, key);
    size_t index = 0;
    bool is_let_through = false;
    if (!bb_run_find_at_once(&world->run, key, &index) || index == TABLES)
        return false;
    const struct bb_table_filter *table_filter = bb_run_table_filter(&world->run, index);
    bool is_denied =
        table_filter != NULL && bb_table_filter_denies(table_filter, hash, &is_let_through);
    enum bb_visit visit = get(world, index, key, hash);
    if (table_filter == NULL)
        return false;
    struct bb_table *table = atomic_load(&world->files[index]->table);
    assert_ptr_equal(table_filter, bb_table_lookup_ready_filter(table));
    assert_int_equal(is_denied, visit == BB_VISIT_TABLE_FILTER_NEGATIVE);
    assert_int_equal(is_let_through, !is_denied);
    return true;
}

static void run__table_filters_once_they_are_ready(void **state)
{
    (void)state;
    struct run_world world;
    size_t asked = 0;
    world_open(&world, false);
    for (size_t i = 0; i < TABLES; i++)
        assert_null(bb_run_table_filter(&world.run, i));
    for (uint64_t i = 0; i < 2 * KEYS; i++)
        asked += ask(&world, i);
    /* The fast path does not find bounds, a key between two tables is in none, and the first lookup
     * of each table is too early. */
    assert_true(asked > 2 * KEYS - 5 * TABLES);
    for (size_t i = 0; i < TABLES; i++)
        assert_ptr_equal(bb_run_table_filter(&world.run, i),
                         atomic_load(&world.run.places[i].table_filter));
    world_close(&world);
}

/* Table filters that are off are never used in the fast path, after any number of lookups. */
static void run__no_table_filters_that_are_off(void **state)
{
    (void)state;
    struct run_world world;
    world_open(&world, true);
    for (uint64_t i = 0; i < 2 * KEYS; i++)
        assert_false(ask(&world, i));
    world_close(&world);
}

static void ask_all(void *context)
{
    size_t asked = 0;
    for (uint64_t i = 0; i < 2 * KEYS; i += 3)
        asked += ask(context, i);
    assert_true(asked > 2 * KEYS / 3 - 5 * TABLES);
}

static void run__threads_come_to_the_same_table_filters(void **state)
{
    (void)state;
    struct run_world world;
    struct bb_thread threads[THREADS];
    world_open(&world, false);
    for (size_t i = 0; i < THREADS; i++)
        assert_ok(bb_thread_create(&threads[i], ask_all, &world));
    for (size_t i = 0; i < THREADS; i++)
        bb_thread_join(&threads[i]);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run__table_filters_once_they_are_ready),
        cmocka_unit_test(run__no_table_filters_that_are_off),
        cmocka_unit_test(run__threads_come_to_the_same_table_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
