/* Goal: blocks that a call has read are copied from the table's map, with the results of calls:
 * damage of the copy, a map that loses its bytes at any moment and a truncated file give right
 * values or the status that a call gives. After a copy that waited, calls read for a while.
 * Method: tables in memory, whose map is a copy of the file that a test can damage, and whose calls
 * are counted; a clock that is too fast; a file on disk that is truncated. */
#include "tests/unit/sstable/table_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "base/sync.h"
#include "sstable/table/table.h"
#include "tests/support/fast_clock.h"
#include "tests/support/step.h"
#include "tests/support/temp_dir.h"

#define KEYS 600

struct world {
    struct bb_file_memory *memory;
    struct bb_hash_secret secret;
    struct bb_table_options options;
    struct entry_list list;
    struct bb_table *table;
    struct bb_read_stats stats;
    struct bb_buf value;
};

static void world_init(struct world *world, enum bb_compression compression, size_t value_size)
{
    *world = (struct world){.memory = bb_file_memory_create(7)};
    bb_hash_secret_from_seed(7, &world->secret);
    world->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(world->memory),
        .secret = &world->secret,
        .index_page_size_bytes = 1024,
        .compression = compression,
    };
    entry_list_add_numbers(&world->list, KEYS, 1, value_size);
}

static void open_table(struct world *world, const char *path)
{
    build_table(path, &world->options, &world->list, NULL);
    assert_ok(bb_table_open(path, &world->options, &world->table));
    assert_non_null(world->table->copies.file);
}

static void world_deinit(struct world *world)
{
    bb_table_close(world->table);
    bb_buf_deinit(&world->value);
    entry_list_deinit(&world->list);
    bb_file_memory_destroy(world->memory);
}

static enum bb_status get(struct world *world, size_t i)
{
    enum bb_visit visit = BB_VISIT_COUNT;
    uint64_t sequence = 0;
    const struct bb_entry *entry = &world->list.entries[i];
    enum bb_status status =
        bb_table_get(world->table, NULL, entry->key, bb_hash_key(&world->secret, entry->key),
                     BB_SEQUENCE_MAX, &world->stats, &world->value, &sequence, &visit);
    if (status == BB_OK) {
        assert_int_equal(visit, BB_VISIT_PRESENT);
        assert_int_equal(world->value.size, entry->value.size);
        assert_memory_equal(world->value.data, entry->value.data, entry->value.size);
    }
    return status;
}

static uint64_t calls_of(const struct world *world)
{
    struct bb_file_counters counters;
    world->options.file_system->ops->counters(world->options.file_system, &counters);
    return counters.reads;
}

/* Gets all keys; gives the calls that read. */
static uint64_t get_all(struct world *world)
{
    uint64_t before = calls_of(world);
    for (size_t i = 0; i < KEYS; i++)
        assert_ok(get(world, i));
    return calls_of(world) - before;
}

static uint64_t blocks_of(const struct world *world)
{
    return world->table->root.block_count;
}

/* ---- which reads are copies ---- */

static void check_reads(enum bb_compression compression, size_t value_size, bool are_copied)
{
    struct world world;
    world_init(&world, compression, value_size);
    open_table(&world, FIXTURE_PATH);
    assert_true(get_all(&world) >= blocks_of(&world));
    world.stats = (struct bb_read_stats){0};
    assert_int_equal(get_all(&world), are_copied ? 0 : KEYS);
    assert_int_equal(world.stats.block_reads, KEYS);
    assert_int_equal(world.stats.blocks_mapped, are_copied ? KEYS : 0);
    world_deinit(&world);
}

static void table_copies__of_blocks_that_were_read(void **state)
{
    (void)state;
    for (int compression = BB_COMPRESSION_NONE; compression <= BB_COMPRESSION_LZ4; compression++) {
        check_reads((enum bb_compression)compression, 20, true);
        check_reads((enum bb_compression)compression, 3000, true);
        check_reads((enum bb_compression)compression, 100000, false);
    }
}

/* Entries that a scan of `count` blocks passes; gives its calls. */
static uint64_t scan_calls(struct world *world, size_t count)
{
    struct bb_iter *iter = NULL;
    uint64_t before = calls_of(world);
    size_t entries = (size_t)(count * KEYS / blocks_of(world));
    assert_ok(bb_table_iter_create(world->table, NULL, &world->stats, &iter));
    bb_iter_seek_first(iter);
    for (size_t i = 0; i < entries; i++, bb_iter_next(iter))
        assert_true(bb_bytes_equal(iter->entry.value, world->list.entries[i].value));
    bb_iter_destroy(iter);
    return calls_of(world) - before;
}

/* A short range needs no call, and a long one reads ahead. */
static void table_copies__of_short_ranges(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_COMPRESSION_LZ4, 1000);
    open_table(&world, FIXTURE_PATH);
    (void)get_all(&world);
    assert_int_equal(scan_calls(&world, 5), 0);
    uint64_t calls = scan_calls(&world, (size_t)blocks_of(&world) - 1);
    assert_in_range(calls, 1, blocks_of(&world) / 2);
    world_deinit(&world);
}

static void table_copies__not_without_a_map(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_COMPRESSION_LZ4, 100);
    world.options.read_mode = BB_READ_CALLS;
    build_table(FIXTURE_PATH, &world.options, &world.list, NULL);
    assert_ok(bb_table_open(FIXTURE_PATH, &world.options, &world.table));
    assert_null(world.table->copies.file);
    (void)get_all(&world);
    assert_int_equal(get_all(&world), KEYS);
    world_deinit(&world);
}

/* ---- damage and loss ---- */

/* The copy is damaged, the file is not: the file is read, without a word. */
static void table_copies__are_verified(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_COMPRESSION_LZ4, 100);
    open_table(&world, FIXTURE_PATH);
    (void)get_all(&world);
    uint8_t *copy = (uint8_t *)(uintptr_t)world.table->copies.file->bytes;
    (void)bb_fail(BB_BUSY, "an earlier message");
    copy[50] ^= 1;
    uint64_t before = calls_of(&world);
    assert_ok(get(&world, 0));
    assert_int_equal(calls_of(&world) - before, 1);
    assert_message("an earlier message");
    world_deinit(&world);
}

static void table_copies__of_a_damaged_file(void **state)
{
    (void)state;
    struct world world;
    size_t size = 0;
    world_init(&world, BB_COMPRESSION_LZ4, 100);
    open_table(&world, FIXTURE_PATH);
    (void)get_all(&world);
    uint8_t *copy = (uint8_t *)(uintptr_t)world.table->copies.file->bytes;
    copy[50] ^= 1;
    bb_file_memory_bytes(world.memory, FIXTURE_PATH, &size)[50] ^= 1;
    assert_status(get(&world, 0), BB_CORRUPT);
    assert_message("checksum");
    assert_ok(get(&world, KEYS - 1));
    world_deinit(&world);
}

/* The map loses its bytes at the n-th question: no lookup fails, and later ones use calls. */
static void table_copies__lost_at_any_moment(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_COMPRESSION_LZ4, 100);
    for (uint64_t nth = 1; nth <= KEYS; nth += 31 * bb_test_step()) {
        open_table(&world, FIXTURE_PATH);
        (void)get_all(&world);
        bb_file_memory_lose_map(world.memory, nth);
        /* The answer to the n-th question is still true, as its bytes were the file's. */
        assert_int_equal(get_all(&world), KEYS - nth);
        assert_int_equal(get_all(&world), KEYS);
        bb_file_memory_lose_map(world.memory, 0);
        bb_table_close(world.table);
        world.table = NULL;
        assert_ok(world.options.file_system->ops->remove(world.options.file_system, FIXTURE_PATH));
    }
    world_deinit(&world);
}

static void table_copies__of_a_truncated_file(void **state)
{
    (void)state;
    struct world world;
    struct bb_temp_dir directory;
    char path[PATH_MAX];
    size_t found = 0;
    world_init(&world, BB_COMPRESSION_LZ4, 100);
    world.options.file_system = NULL;
    bb_temp_dir_init(&directory, "table_copies");
    bb_temp_dir_path(&directory, "table", path);
    open_table(&world, path);
    for (size_t i = 0; i < KEYS; i++)
        assert_ok(get(&world, i));
    assert_int_equal(truncate(path, 10000), 0);
    for (size_t i = 0; i < KEYS; i++) {
        enum bb_status status = get(&world, i);
        assert_true(status == BB_OK || status == BB_CORRUPT);
        found += status == BB_OK;
    }
    assert_message("file ends here");
    assert_true(found > 0 && found < KEYS);
    bb_temp_dir_deinit(&directory);
    world_deinit(&world);
}

/* ---- waiting ---- */

static void table_copies__stop_after_one_that_waited(void **state)
{
    (void)state;
    struct world world;
    struct fast_clock clock;
    world_init(&world, BB_COMPRESSION_LZ4, 1000);
    open_table(&world, FIXTURE_PATH);
    fast_clock_init(&clock);
    (void)get_all(&world);
    world.table->copies.files = &clock.base;
    assert_ok(get(&world, 0)); /* a copy from page 0, which is timed */
    uint64_t calls = 0;
    uint64_t pages = world.table->copies.page_count;
    for (uint64_t i = 0; i < pages; i++) {
        uint64_t before = calls_of(&world);
        assert_ok(get(&world, KEYS - 1));
        calls += calls_of(&world) - before;
    }
    assert_int_equal(calls, pages);
    world.table->copies.files = world.options.file_system;
    assert_true(get_all(&world) > pages / 2);
    assert_int_equal(get_all(&world), 0);
    world_deinit(&world);
}

/* Blocks are copied, forgotten and noted again by several threads. */
static void get_many(void *context)
{
    struct world own = *(struct world *)context;
    own.value = (struct bb_buf){0};
    for (int round = 0; round < 5; round++)
        for (size_t i = 0; i < KEYS; i++)
            assert_ok(get(&own, i));
    bb_buf_deinit(&own.value);
}

static void table_copies__of_several_threads(void **state)
{
    (void)state;
    struct world world;
    struct fast_clock clock;
    struct bb_thread threads[3];
    world_init(&world, BB_COMPRESSION_LZ4, 100);
    open_table(&world, FIXTURE_PATH);
    fast_clock_init(&clock);
    world.table->copies.files = &clock.base;
    for (size_t i = 0; i < 3; i++)
        assert_ok(bb_thread_create(&threads[i], get_many, &world));
    for (size_t i = 0; i < 3; i++)
        bb_thread_join(&threads[i]);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_copies__of_blocks_that_were_read),
        cmocka_unit_test(table_copies__of_short_ranges),
        cmocka_unit_test(table_copies__not_without_a_map),
        cmocka_unit_test(table_copies__are_verified),
        cmocka_unit_test(table_copies__of_a_damaged_file),
        cmocka_unit_test(table_copies__lost_at_any_moment),
        cmocka_unit_test(table_copies__of_a_truncated_file),
        cmocka_unit_test(table_copies__stop_after_one_that_waited),
        cmocka_unit_test(table_copies__of_several_threads),
    };
    if (BB_PAGE_MAPS_MAX == 0)
        return 0; /* there are no maps */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
