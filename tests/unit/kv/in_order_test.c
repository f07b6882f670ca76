/* Goal: tables of keys in order are written once and then move through the levels, with filters
 * that fit everywhere. Their index files do not get lost on the way. Method: loads of stores on a
 * file system in memory; bytes written, rates and every key are checked. */
#include "tests/support/indexed_store.h"

#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "kv/store/store.h"
#include "tests/support/rng.h"

#define KEYS 30000

static void init(struct store *store)
{
    store_init(store);
    store->options.write_buffer_bytes = 64 * 1024;
    store->options.compression = BB_COMPRESSION_NONE;
}

static void put_number(struct store *store, uint64_t number)
{
    char key[32];
    char value[64];
    snprintf(key, sizeof(key), "event:%012" PRIu64, number);
    snprintf(value, sizeof(value), "%040" PRIu64, number);
    store_put(store, key, value);
}

static void check_numbers(struct store *store, uint64_t count)
{
    struct bb_buf found = {0};
    for (uint64_t i = 0; i < count; i++) {
        char key[32];
        char value[64];
        snprintf(key, sizeof(key), "event:%012" PRIu64, i);
        snprintf(value, sizeof(value), "%040" PRIu64, i);
        assert_ok(bb_db_get(store->db, NULL, bb_bytes_of_text(key), &found));
        assert_true(bb_bytes_equal(bb_buf_bytes(&found), bb_bytes_of_text(value)));
    }
    bb_buf_deinit(&found);
}

/* Each flush is written once. The filters waste nearly the target: they are neither too large for
 * the deepest level, nor too small. Ribbons of few keys waste three quarters of it. */
static void check_moved(struct store *store)
{
    struct bb_db_stats stats = store_stats(store);
    assert_true(stats.levels[3].table_count > 10);
    assert_true(stats.compaction_bytes_written < stats.flush_bytes_written / 10);
    assert_true(stats.expected_wasted_reads >= 0.7 * stats.target_wasted_reads);
    assert_true(stats.expected_wasted_reads <= 1.01 * stats.target_wasted_reads);
    assert_true(stats.filter_bits_per_key < 8);
}

static void in_order__tables_move(void **state)
{
    (void)state;
    struct store store;
    init(&store);
    store_open(&store);
    for (uint64_t i = 0; i < KEYS; i++)
        put_number(&store, i);
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_wait_idle(store.db));
    check_moved(&store);
    check_numbers(&store, KEYS);
    store_reopen(&store);
    check_numbers(&store, KEYS);
    store_deinit(&store);
}

static void in_order__descending_tables_move(void **state)
{
    (void)state;
    struct store store;
    init(&store);
    store_open(&store);
    for (uint64_t i = KEYS; i > 0; i--)
        put_number(&store, i - 1);
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_wait_idle(store.db));
    check_moved(&store);
    check_numbers(&store, KEYS);
    store_deinit(&store);
}

/* Updates of all keys follow a load in order. The first flushes get the rest of the target, and
 * merges restore the shares. The target is kept throughout. */
static void in_order__random_keys_follow(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("in_order__random_keys_follow", 4));
    init(&store);
    store_open(&store);
    for (uint64_t i = 0; i < KEYS; i++)
        put_number(&store, i);
    assert_ok(bb_db_flush(store.db));
    for (uint64_t round = 0; round < 20; round++) {
        for (uint64_t i = 0; i < KEYS / 20; i++)
            put_number(&store, bb_rng_below(&rng, KEYS));
        assert_ok(bb_db_flush(store.db));
        struct bb_db_stats stats = store_stats(&store);
        assert_true(stats.expected_wasted_reads <= 1.1 * stats.target_wasted_reads);
    }
    assert_ok(bb_db_wait_idle(store.db));
    check_numbers(&store, KEYS);
    store_deinit(&store);
}

/* The rows' keys ascend. Flushes defer their index files: tables without one are rewritten, which
 * makes one. */
static void in_order__tables_without_index_files_are_rewritten(void **state)
{
    (void)state;
    struct store store;
    init(&store);
    store.options.level0_run_count_busy = 4;
    store_open(&store);
    indexed_create_attributes(&store);
    indexed_create_indexes(&store);
    indexed_put_rows(&store, 0, 9000, 1);
    assert_ok(bb_db_flush(store.db));
    const struct bb_levels *levels = store.db->view->levels;
    assert_true(bb_levels_table_count(levels, 1) > 0);
    for (int level = 1; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++)
            assert_true(bb_table_file_companion_number(bb_levels_table(levels, level, i)) != 0);
    }
    assert_ok(bb_db_wait_idle(store.db));
    indexed_check_all_built(store.db);
    store_deinit(&store);
}

/* The store builds the index files of all levels, so the tables move without them. */
static void in_order__deferred_index_files_follow(void **state)
{
    (void)state;
    struct store store;
    init(&store);
    store.options.defer_index_files = true;
    store_open(&store);
    indexed_create_attributes(&store);
    indexed_create_indexes(&store);
    indexed_put_rows(&store, 0, 9000, 1);
    assert_ok(bb_db_flush(store.db));
    struct bb_db_stats stats = store_stats(&store);
    assert_true(stats.levels[1].table_count > 0);
    assert_true(stats.compaction_bytes_written < stats.flush_bytes_written / 10);
    assert_ok(bb_db_wait_idle(store.db));
    indexed_check_all_built(store.db);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order__tables_move),
        cmocka_unit_test(in_order__descending_tables_move),
        cmocka_unit_test(in_order__random_keys_follow),
        cmocka_unit_test(in_order__tables_without_index_files_are_rewritten),
        cmocka_unit_test(in_order__deferred_index_files_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
