/* Goal: the table filter never rules out a key of its table, its rate and the block filters' rate
 * multiply, and results do not depend on whether it is pinned, cached or unused. Method: tables of
 * all sizes, of one part and of many, every key probed; absent keys counted. */
#include "tests/unit/sstable/table_filter_fixture.h"

#include "base/assert.h"
#include "tests/support/step.h"

static void check_verified(struct table_filter_world *world)
{
    struct bb_table_verify_report report = {0};
    assert_ok(bb_table_verify(FIXTURE_PATH, &world->options, &report));
    assert_true(report.table_filter_chunks > 0);
    assert_true(report.table_filter_chunks_compared == report.table_filter_chunks);
}

static void check_size(double bits, size_t key_count, size_t part_keys)
{
    struct table_filter_world world;
    world_init(&world, key_count, bits);
    world.options.block_size_bytes = 512;
    world.part_keys = part_keys;
    world_build(&world, key_count);
    world_open(&world);
    assert_members(&world);
    assert_true(visits(&world, BB_VISIT_PRESENT) == key_count);
    assert_true(world.stats.damaged_filters == 0);
    if (key_count > 0 && part_keys > 0)
        assert_int_equal(world.table->table_filter->part_count,
                         (key_count + part_keys - 1) / part_keys);
    check_verified(&world);
    world_deinit(&world);
}

static void table_filter__every_member_of_every_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 8, 63, 64, 65, 500, 2000, 2001, 5000, 30000};
    static const double bits[] = {1, 4, 24, BB_TABLE_FILTER_ALL};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(sizes); i++)
        for (size_t j = 0; j < BB_ARRAY_LENGTH(bits); j++)
            check_size(bits[j], sizes[i], 0);
}

/* Parts as builders with little memory make them. */
static void table_filter__every_member_of_many_parts(void **state)
{
    (void)state;
    static const size_t parts[] = {1, 7, 100, 999, 2500};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(parts); i++) {
        check_size(4, 1000, parts[i]);
        check_size(BB_TABLE_FILTER_ALL, 5000, parts[i]);
    }
}

static void check_rates(double bits, double rate, double table_filter_rate, uint32_t granularity)
{
    struct table_filter_world world;
    world_init(&world, 40, bits);
    world.options.filter_rate = rate;
    world.options.filter_granularity = granularity;
    world_build(&world, 150000 / bb_test_step());
    world_open(&world);
    size_t asked = ask_absent(&world, NULL);
    uint64_t passed = asked - visits(&world, BB_VISIT_TABLE_FILTER_NEGATIVE);
    assert_share(passed, asked, table_filter_rate, "pass the table filter");
    assert_share(visits(&world, BB_VISIT_FALSE_POSITIVE), asked, rate, "pass both");
    assert_true(world.stats.avoided_requests + world.stats.block_requests == asked);
    world_deinit(&world);
}

/* With the same constants in both stages, a key that passes one would pass the other. */
static void table_filter__rates_multiply(void **state)
{
    (void)state;
    check_rates(BB_TABLE_FILTER_NONE, 0.01, 1, 1);
    check_rates(4, 0.01, 0.08, 1);
    check_rates(3, 0.01, 0.16, 1);
    check_rates(5, 0.01, 0.04, 1);
    check_rates(2, 0.01, 0.32, 1);
    check_rates(BB_TABLE_FILTER_ALL, 0.01, 0.01, 1);
    check_rates(4, 0.1, 0.1, 1); /* too few bits to be split */
    check_rates(4, 0.01, 0.08, BB_GRANULARITY_PAGE);
}

static void table_filter__block_filters_keep_their_own_bits(void **state)
{
    (void)state;
    struct table_filter_world world;
    world_init(&world, 3, 4);
    world_build(&world, 3000);
    world_open(&world);
    assert_int_equal(world.table->properties.filter_bits_per_probe, 3);
    assert_true(world.table->filter_format.target_rate == 0.125);
    assert_true(world.table->properties.table_filter_rate == 0.08);
    assert_int_equal(world.table->properties.table_filter_fingerprint_bits, 3);
    const struct bb_table_meta *meta = bb_table_meta(world.table);
    assert_true(meta->filter_rate == 0.01);
    assert_true(meta->table_filter_bytes == world.table->properties.table_filter_size);
    assert_true(meta->filter_bytes ==
                world.table->properties.filter_size + meta->table_filter_bytes);
    world_deinit(&world);
}

/* ---- memory ---- */

static void check_memory(bool is_off)
{
    struct table_filter_world world;
    world_init(&world, 7, 4);
    world.part_keys = 30000 / bb_test_step();
    world_build(&world, 70000 / bb_test_step());
    assert_ok(bb_block_cache_create(UINT64_C(1) << 26, &world.options.cache));
    world.options.table_filter_off = is_off;
    world_open(&world);
    uint64_t before = bb_table_memory(world.table);
    assert_members(&world);
    world.stats = (struct bb_read_stats){0};
    size_t asked = ask_absent(&world, NULL);
    enum bb_visit negative = is_off ? BB_VISIT_FILTER_NEGATIVE : BB_VISIT_TABLE_FILTER_NEGATIVE;
    assert_true(visits(&world, negative) > asked * 3 / 4);
    assert_int_equal(visits(&world, BB_VISIT_TABLE_FILTER_NEGATIVE) == 0, is_off);
    assert_true(world.stats.table_filter_reads == 0); /* all in memory by now */
    uint64_t size = bb_table_meta(world.table)->table_filter_bytes;
    uint64_t grown = bb_table_memory(world.table) - before;
    uint64_t pages = bb_table_meta(world.table)->block_count * 200;
    if (is_off)
        assert_true(grown < pages + 2000);
    else
        assert_true(grown > size);
    world_deinit(&world);
}

static void table_filter__is_in_memory_unless_it_is_off(void **state)
{
    (void)state;
    check_memory(false);
    check_memory(true);
}

static void table_filter__ignored_with_the_filters(void **state)
{
    (void)state;
    struct bb_read_options options = {.ignore_filters = true};
    struct table_filter_world world;
    world_init(&world, 9, 4);
    world_build(&world, 3000);
    world_open(&world);
    size_t asked = ask_absent(&world, &options);
    assert_true(visits(&world, BB_VISIT_FALSE_POSITIVE) == asked);
    assert_true(world.stats.table_filter_reads == 0);
    assert_true(world.stats.block_requests == asked && world.stats.avoided_requests == 0);
    world_deinit(&world);
}

/* A table of another secret than the one whose hashes lookups are given. */
static void table_filter__another_secret(void **state)
{
    (void)state;
    struct table_filter_world world;
    world_init(&world, 18, 4);
    world_build(&world, 3000);
    bb_hash_secret_from_seed(19, &world.secret);
    world_open(&world);
    assert_members(&world);
    size_t asked = ask_absent(&world, NULL);
    assert_true(visits(&world, BB_VISIT_TABLE_FILTER_NEGATIVE) > asked * 3 / 4);
    world_deinit(&world);
}

/* ---- accounts ---- */

/* Avoided plus actual requests equal the requests without filters: exactly, and for reads where the
 * cache treats both runs the same. */
static void check_account(uint64_t cache_bytes, bool is_warm)
{
    struct bb_read_options with = {.account_avoided = true};
    struct bb_read_options without = {.ignore_filters = true};
    struct table_filter_world world;
    world_init(&world, 10, 4);
    world_build(&world, 20000);
    if (cache_bytes > 0)
        assert_ok(bb_block_cache_create(cache_bytes, &world.options.cache));
    world_open(&world);
    if (is_warm)
        (void)ask_absent(&world, &without);
    world.stats = (struct bb_read_stats){0};
    (void)ask_absent(&world, &with);
    struct bb_read_stats made = world.stats;
    world.stats = (struct bb_read_stats){0};
    (void)ask_absent(&world, &without);
    assert_true(made.avoided_requests + made.block_requests == world.stats.block_requests);
    if (cache_bytes == 0 || is_warm)
        assert_true(made.avoided_reads + made.block_reads == world.stats.block_reads);
    assert_true(is_warm || made.avoided_reads > 0);
    world_deinit(&world);
}

static void table_filter__accounts(void **state)
{
    (void)state;
    check_account(0, false);
    check_account(UINT64_C(1) << 26, false);
    check_account(UINT64_C(1) << 26, true);
}

/* ---- orders and versions ---- */

static void table_filter__another_order(void **state)
{
    (void)state;
    struct table_filter_world world;
    world_init(&world, 11, 4);
    world.options.comparator = &backwards;
    world.part_keys = 700;
    world_build(&world, 5000);
    world_open(&world);
    assert_members(&world);
    size_t asked = ask_absent(&world, NULL);
    assert_true(visits(&world, BB_VISIT_TABLE_FILTER_NEGATIVE) > asked * 3 / 4);
    check_verified(&world);
    world_deinit(&world);
}

/* Many versions of a key, across borders of blocks, pages and parts: counted once, and every
 * snapshot sees the versions of the list. */
static void table_filter__versions(void **state)
{
    (void)state;
    struct table_filter_world world;
    struct entry_list list = {0};
    struct bb_table_builder *builder = NULL;
    world_init(&world, 12, 4);
    world.options.block_size_bytes = 64;
    world.options.index_page_size_bytes = 256;
    for (size_t i = 0; i < 60; i++) {
        char text[24];
        for (uint64_t version = 0; version < (i % 3 == 0 ? 1 : 30); version++)
            entry_list_add(&list, numbered_key(2 * i, text), 100 - 2 * version,
                           version % 4 == 1 ? BB_ENTRY_DELETE : BB_ENTRY_PUT, (struct bb_bytes){0});
    }
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world.options, &builder));
    bb_table_builder_set_filter_part(builder, 8);
    for (size_t i = 0; i < list.count; i++)
        assert_ok(bb_table_builder_add(builder, &list.entries[i]));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    world_open(&world);
    for (size_t i = 0; i < 119; i++) {
        for (uint64_t snapshot = 0; snapshot < 104; snapshot++) {
            char text[24];
            struct bb_bytes key = numbered_key(i, text);
            const struct bb_entry *expected = NULL;
            enum bb_visit visit = BB_VISIT_COUNT;
            uint64_t sequence = 0;
            enum bb_visit wanted = entry_list_get(&list, key, snapshot, NULL, &expected);
            assert_ok(bb_table_get(world.table, NULL, key, bb_hash_key(&world.secret, key),
                                   snapshot, NULL, &world.value, &sequence, &visit));
            if (i % 2 == 0)
                assert_int_equal(visit, wanted);
            else
                assert_true(visit == BB_VISIT_TABLE_FILTER_NEGATIVE ||
                            visit == BB_VISIT_FILTER_NEGATIVE || visit == BB_VISIT_FALSE_POSITIVE);
        }
    }
    assert_int_equal(world.table->table_filter->part_count, 8);
    check_verified(&world);
    entry_list_deinit(&list);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_filter__every_member_of_every_size),
        cmocka_unit_test(table_filter__every_member_of_many_parts),
        cmocka_unit_test(table_filter__rates_multiply),
        cmocka_unit_test(table_filter__block_filters_keep_their_own_bits),
        cmocka_unit_test(table_filter__is_in_memory_unless_it_is_off),
        cmocka_unit_test(table_filter__ignored_with_the_filters),
        cmocka_unit_test(table_filter__another_secret),
        cmocka_unit_test(table_filter__accounts),
        cmocka_unit_test(table_filter__another_order),
        cmocka_unit_test(table_filter__versions),
    };
    return cmocka_run_group_tests_name("table filter", tests, NULL, NULL);
}
