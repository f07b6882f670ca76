/* Goal: a mapped table gives what a table read by calls gives; damage is reported as there; a map
 * that loses its bytes at any moment never gives a wrong result, and later reads use the file.
 * Method: both tables side by side in memory, where the n-th question for the soundness of a map is
 * the last before its bytes are lost; and a file on disk that is truncated. */
#include "tests/unit/sstable/table_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "sstable/table/table.h"
#include "tests/support/step.h"
#include "tests/support/temp_dir.h"

#define KEYS 600

struct world {
    struct bb_file_memory *memory;
    struct bb_hash_secret secret;
    struct bb_table_options options;
    struct entry_list list;
    struct bb_buf value;
};

static void world_init(struct world *world, enum bb_compression compression, size_t value_size)
{
    struct bb_rng rng;
    char *value = bb_must_alloc_zeroed(value_size + 1);
    *world = (struct world){.memory = bb_file_memory_create(7)};
    bb_rng_init(&rng, 7);
    bb_hash_secret_from_seed(7, &world->secret);
    world->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(world->memory),
        .secret = &world->secret,
        .index_page_size_bytes = 1024,
        .compression = compression,
        .read_mode = BB_READ_MAPPED,
    };
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i * 2);
        for (size_t j = 0; j < value_size; j++)
            value[j] = (char)bb_rng_between(&rng, 'a', 'd');
        entry_list_add_text(&world->list, key, 7, value);
    }
    free(value);
    build_table(FIXTURE_PATH, &world->options, &world->list, NULL);
}

static void world_deinit(struct world *world)
{
    bb_block_cache_destroy(world->options.cache);
    bb_buf_deinit(&world->value);
    entry_list_deinit(&world->list);
    bb_file_memory_destroy(world->memory);
}

static struct bb_table *open_table(const struct world *world)
{
    struct bb_table *table = NULL;
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &table));
    assert_non_null(table->map.file);
    return table;
}

static enum bb_status get(struct world *world, struct bb_table *table, struct bb_bytes key,
                          struct bb_read_stats *stats, enum bb_visit *ret_visit)
{
    uint64_t sequence = 0;
    return bb_table_get(table, NULL, key, bb_hash_key(&world->secret, key), BB_SEQUENCE_MAX, stats,
                        &world->value, &sequence, ret_visit);
}

static void assert_bytes(struct bb_bytes found, struct bb_bytes expected)
{
    assert_int_equal(found.size, expected.size);
    if (found.size > 0)
        assert_memory_equal(found.data, expected.data, found.size);
}

/* BB_OK with the right value, or a status. Gives whether it is BB_OK. */
static bool get_entry(struct world *world, struct bb_table *table, size_t i)
{
    enum bb_visit visit = BB_VISIT_COUNT;
    const struct bb_entry *entry = &world->list.entries[i];
    enum bb_status status = get(world, table, entry->key, NULL, &visit);
    if (status != BB_OK)
        return false;
    assert_int_equal(visit, BB_VISIT_PRESENT);
    assert_bytes(bb_buf_bytes(&world->value), entry->value);
    return true;
}

static enum bb_status walk(const struct world *world, struct bb_table *table)
{
    struct bb_iter *iter = NULL;
    size_t i = 0;
    assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter), i++) {
        assert_bytes(iter->entry.key, world->list.entries[i].key);
        assert_bytes(iter->entry.value, world->list.entries[i].value);
    }
    enum bb_status status = iter->status;
    assert_true(status != BB_OK || i == KEYS);
    bb_iter_destroy(iter);
    return status;
}

/* ---- results ---- */

static void check_results(enum bb_compression compression, size_t value_size, uint64_t cache_size)
{
    struct world world;
    struct bb_read_stats stats = {0};
    enum bb_visit visit = BB_VISIT_COUNT;
    world_init(&world, compression, value_size);
    if (cache_size > 0)
        assert_ok(bb_block_cache_create(cache_size, &world.options.cache));
    struct bb_table *table = open_table(&world);
    struct bb_file_counters before;
    struct bb_file_counters after;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < KEYS; i++)
            assert_true(get_entry(&world, table, i));
    assert_ok(walk(&world, table));
    world.options.file_system->ops->counters(world.options.file_system, &before);
    for (size_t i = 0; i < KEYS; i++)
        assert_ok(get(&world, table, world.list.entries[i].key, &stats, &visit));
    world.options.file_system->ops->counters(world.options.file_system, &after);
    assert_int_equal(after.reads, before.reads);
    assert_int_equal(stats.block_requests, KEYS);
    assert_true(cache_size > 0 || stats.block_reads == KEYS);
    bb_table_close(table);
    world_deinit(&world);
}

static void table_map__gives_what_calls_give(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 20, 100, 3000, 20000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        check_results(BB_COMPRESSION_NONE, sizes[i], 0);
        check_results(BB_COMPRESSION_LZ4, sizes[i], 0);
        check_results(BB_COMPRESSION_NONE, sizes[i], 1 << 16);
        check_results(BB_COMPRESSION_LZ4, sizes[i], 1 << 16);
    }
}

/* A pinned value is a copy: it is not lost with the map. */
static void table_map__keeps_pinned_values(void **state)
{
    (void)state;
    struct world world;
    struct bb_pinned pinned = {0};
    enum bb_visit visit = BB_VISIT_COUNT;
    uint64_t sequence = 0;
    world_init(&world, BB_COMPRESSION_NONE, 100);
    struct bb_table *table = open_table(&world);
    const struct bb_entry *entry = &world.list.entries[100];
    assert_ok(bb_table_get_pinned(table, NULL, entry->key, bb_hash_key(&world.secret, entry->key),
                                  BB_SEQUENCE_MAX, NULL, &pinned, &sequence, &visit));
    bb_file_memory_lose_map(world.memory, 1);
    (void)bb_file_map_is_sound(table->map.file);
    assert_bytes(pinned.bytes, entry->value);
    bb_pinned_release(&pinned);
    bb_table_close(table);
    world_deinit(&world);
}

/* ---- damage ---- */

static void table_map__reports_damage_as_calls_do(void **state)
{
    (void)state;
    for (int compression = BB_COMPRESSION_NONE; compression <= BB_COMPRESSION_LZ4; compression++) {
        struct world world;
        enum bb_visit visit = BB_VISIT_COUNT;
        size_t size = 0;
        world_init(&world, (enum bb_compression)compression, 100);
        uint8_t *bytes = bb_file_memory_bytes(world.memory, FIXTURE_PATH, &size);
        bytes[50] ^= 1;
        struct bb_table *table = open_table(&world);
        for (int round = 0; round < 2; round++) {
            assert_status(get(&world, table, world.list.entries[0].key, NULL, &visit), BB_CORRUPT);
            assert_message("checksum");
        }
        assert_status(walk(&world, table), BB_CORRUPT);
        assert_true(get_entry(&world, table, KEYS - 1));
        bb_table_close(table);
        world_deinit(&world);
    }
}

/* ---- loss ---- */

/* The map loses its bytes at its n-th question. The lookup that is then under way may fail; the
 * next ones read the file. */
static void check_loss(struct world *world, uint64_t nth, uint64_t *failures)
{
    struct bb_table *table = open_table(world);
    uint64_t failed = 0;
    bb_file_memory_lose_map(world->memory, nth);
    for (size_t i = 0; i < 20; i++)
        if (!get_entry(world, table, i * 29 % KEYS)) {
            assert_int_equal(bb_error_last()->status, BB_IO);
            assert_message("lost while it was read");
            failed++;
        }
    assert_true(failed <= 1);
    assert_ok(walk(world, table)); /* copies blocks, and takes them from the file afterwards */
    bb_file_memory_lose_map(world->memory, 0);
    *failures += failed;
    bb_table_close(table);
}

static void table_map__lost_at_any_moment(void **state)
{
    (void)state;
    for (int compression = BB_COMPRESSION_NONE; compression <= BB_COMPRESSION_LZ4; compression++) {
        struct world world;
        uint64_t failures = 0;
        world_init(&world, (enum bb_compression)compression, 100);
        for (uint64_t nth = 1; nth <= 150; nth += bb_test_step())
            check_loss(&world, nth, &failures);
        assert_true(compression == BB_COMPRESSION_NONE ? failures > 0 : failures == 0);
        world_deinit(&world);
    }
}

static void table_map__of_a_truncated_file(void **state)
{
    (void)state;
    struct world world;
    struct bb_temp_dir directory;
    char path[PATH_MAX];
    struct bb_table *table = NULL;
    size_t found = 0;
    world_init(&world, BB_COMPRESSION_NONE, 100);
    bb_temp_dir_init(&directory, "table_map");
    bb_temp_dir_path(&directory, "table", path);
    world.options.file_system = NULL;
    build_table(path, &world.options, &world.list, NULL);
    assert_ok(bb_table_open(path, &world.options, &table));
    assert_non_null(table->map.file);
    for (size_t i = 0; i < KEYS; i += 10)
        assert_true(get_entry(&world, table, i));
    assert_int_equal(truncate(path, 10000), 0);
    for (size_t i = 0; i < KEYS; i += 10)
        found += get_entry(&world, table, i);
    assert_true(found > 0 && found < KEYS / 10);
    assert_status(walk(&world, table), BB_CORRUPT);
    assert_message("file ends here");
    bb_table_close(table);
    bb_temp_dir_deinit(&directory);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_map__gives_what_calls_give),
        cmocka_unit_test(table_map__keeps_pinned_values),
        cmocka_unit_test(table_map__reports_damage_as_calls_do),
        cmocka_unit_test(table_map__lost_at_any_moment),
        cmocka_unit_test(table_map__of_a_truncated_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
