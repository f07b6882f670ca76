/* Goal: a mapped table gives what a table read by calls gives; damage is reported as there; a map
 * that loses its bytes at any moment never gives a wrong result, and later reads use the file.
 * Method: both tables side by side in memory, where the n-th question for the soundness of a map is
 * the last before its bytes are lost; and a file on disk that is truncated. */
#include "tests/unit/sstable/table_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "sstable/table/table.h"
#include "sstable/table/table_iter.h"
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
    *world = (struct world){.memory = bb_file_memory_create(7)};
    bb_hash_secret_from_seed(7, &world->secret);
    world->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(world->memory),
        .secret = &world->secret,
        .index_page_size_bytes = 1024,
        .compression = compression,
        .read_mode = BB_READ_MAPPED,
    };
    entry_list_add_numbers(&world->list, KEYS, 2, value_size);
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

/* ---- iterators that show values in the map ---- */

/* Moves to the n-th entry by steps of any kind. Gives the status. */
static enum bb_status move_to(struct bb_iter *iter, const struct world *world, size_t n)
{
    const struct bb_entry *entry = &world->list.entries[n];
    if (n == 0)
        bb_iter_seek_first(iter);
    else if (n == KEYS - 1)
        bb_iter_seek_last(iter);
    else
        bb_iter_seek(iter, entry->key, BB_SEQUENCE_MAX);
    return iter->is_valid ? BB_OK : iter->status;
}

static void assert_entry(const struct bb_iter *iter, const struct world *world, size_t n)
{
    assert_true(iter->is_valid);
    assert_bytes(iter->entry.key, world->list.entries[n].key);
    assert_bytes(iter->entry.value, world->list.entries[n].value);
}

static void check_shown(enum bb_compression compression, size_t value_size, bool is_shown)
{
    struct world world;
    struct bb_table_iter iter;
    world_init(&world, compression, value_size);
    struct bb_table *table = open_table(&world);
    bb_table_iter_init(&iter, table, NULL, NULL, NULL);
    for (size_t i = 0; i < KEYS; i += KEYS / 3 - 1) {
        assert_ok(move_to(&iter.base, &world, i));
        assert_entry(&iter.base, &world, i);
        assert_int_equal(bb_table_shows(table, iter.base.entry.value), is_shown);
        if (i + 1 < KEYS) {
            bb_iter_next(&iter.base);
            assert_entry(&iter.base, &world, i + 1);
            bb_iter_prev(&iter.base);
            assert_entry(&iter.base, &world, i);
        }
    }
    bb_table_iter_deinit(&iter);
    bb_table_close(table);
    world_deinit(&world);
}

static void table_map__shows_large_values(void **state)
{
    (void)state;
    check_shown(BB_COMPRESSION_NONE, 100, false);
    check_shown(BB_COMPRESSION_NONE, 8000, false);
    check_shown(BB_COMPRESSION_NONE, 9000, true);
    check_shown(BB_COMPRESSION_LZ4, 9000, false);
}

/* A value that is reported as sound after its use is right; after the use of a lost one, the next
 * step fails. Gives the number of failures. */
static uint64_t walk_shown(const struct world *world, struct bb_table *table, bool is_backward)
{
    struct bb_table_iter iter;
    uint64_t failures = 0;
    size_t n = 30;
    bb_table_iter_init(&iter, table, NULL, NULL, NULL);
    assert_true(move_to(&iter.base, world, n) == BB_OK || iter.base.status == BB_IO);
    for (int steps = 0; steps < 20; steps++) {
        if (!iter.base.is_valid) {
            assert_status(iter.base.status, BB_IO);
            assert_message("lost while it was read");
            failures++;
            assert_ok(move_to(&iter.base, world, n));
        }
        struct bb_bytes value = iter.base.entry.value;
        bool is_right = value.size == world->list.entries[n].value.size &&
                        memcmp(value.data, world->list.entries[n].value.data, value.size) == 0;
        assert_bytes(iter.base.entry.key, world->list.entries[n].key);
        bool is_sound =
            !bb_table_shows(table, value) || bb_table_check_shown(table, value) == BB_OK;
        assert_true(is_right || !is_sound);
        n = is_backward ? n - 1 : n + 1;
        (is_backward ? bb_iter_prev : bb_iter_next)(&iter.base);
        assert_true(is_sound || !iter.base.is_valid);
    }
    bb_table_iter_deinit(&iter);
    return failures;
}

static void table_map__lost_while_values_are_shown(void **state)
{
    (void)state;
    struct world world;
    uint64_t failures = 0;
    world_init(&world, BB_COMPRESSION_NONE, 9000);
    for (uint64_t nth = 1; nth <= 90; nth++) {
        struct bb_table *table = open_table(&world);
        bb_file_memory_lose_map(world.memory, nth);
        uint64_t failed = walk_shown(&world, table, nth % 2 == 0);
        assert_true(failed <= 1);
        failures += failed;
        bb_file_memory_lose_map(world.memory, 0);
        bb_table_close(table);
    }
    assert_true(failures > 10);
    world_deinit(&world);
}

/* ---- truncation ---- */

static void check_truncated_lookups(struct world *world, const char *path)
{
    struct bb_table *table = NULL;
    size_t found = 0;
    build_table(path, &world->options, &world->list, NULL);
    assert_ok(bb_table_open(path, &world->options, &table));
    assert_non_null(table->map.file);
    for (size_t i = 0; i < KEYS; i += 10)
        assert_true(get_entry(world, table, i));
    assert_int_equal(truncate(path, 10000), 0);
    for (size_t i = 0; i < KEYS; i += 10)
        found += get_entry(world, table, i);
    assert_true(found > 0 && found < KEYS / 10);
    assert_status(walk(world, table), BB_CORRUPT);
    assert_message("file ends here");
    bb_table_close(table);
}

/* While a value in the map is shown. */
static void check_truncated_iter(const struct world *world, const char *path)
{
    struct bb_table *table = NULL;
    struct bb_table_iter iter;
    build_table(path, &world->options, &world->list, NULL);
    assert_ok(bb_table_open(path, &world->options, &table));
    bb_table_iter_init(&iter, table, NULL, NULL, NULL);
    assert_ok(move_to(&iter.base, world, 100));
    assert_entry(&iter.base, world, 100);
    assert_int_equal(truncate(path, 4096), 0);
    struct bb_bytes value = iter.base.entry.value;
    assert_int_equal(value.data[value.size / 2], 0); /* SIGBUS, and a page of zeros */
    assert_status(bb_table_check_shown(table, value), BB_IO);
    bb_iter_next(&iter.base);
    assert_false(iter.base.is_valid);
    assert_status(iter.base.status, BB_IO);
    assert_status(move_to(&iter.base, world, 100), BB_CORRUPT);
    assert_message("file ends here");
    bb_table_iter_deinit(&iter);
    bb_table_close(table);
}

/* One test: cmocka replaces the handler of SIGBUS at the start of each. */
static void table_map__of_a_truncated_file(void **state)
{
    (void)state;
    static const size_t sizes[] = {100, 20000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct world world;
        struct bb_temp_dir directory;
        char path[PATH_MAX];
        world_init(&world, BB_COMPRESSION_NONE, sizes[i]);
        bb_temp_dir_init(&directory, "table_map");
        bb_temp_dir_path(&directory, "table", path);
        world.options.file_system = NULL;
        if (sizes[i] == 100)
            check_truncated_lookups(&world, path);
        else
            check_truncated_iter(&world, path);
        bb_temp_dir_deinit(&directory);
        world_deinit(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_map__gives_what_calls_give),
        cmocka_unit_test(table_map__keeps_pinned_values),
        cmocka_unit_test(table_map__reports_damage_as_calls_do),
        cmocka_unit_test(table_map__lost_at_any_moment),
        cmocka_unit_test(table_map__of_a_truncated_file),
        cmocka_unit_test(table_map__shows_large_values),
        cmocka_unit_test(table_map__lost_while_values_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
