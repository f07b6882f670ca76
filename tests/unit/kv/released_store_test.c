/* Goal: a store of version 0.1.0 opens, without the options that later versions have dropped.
 * Method: the files in tests/golden/store_0.1.0 are from that version: 300 keys in one table, and
 * the options filter_slack 0.1, which is in the manifest (option 7) and in the table (property 71,
 * and more slots in each ribbon), and block_size_bytes 2048. */
#include "tests/support/golden.h"
#include "tests/support/store.h"

#include "base/buf.h"

#define KEYS 300

static const char *const files[][2] = {
    {STORE_PATH "/CURRENT", GOLDEN_PATH("store_0.1.0/CURRENT")},
    {STORE_PATH "/MANIFEST-000003", GOLDEN_PATH("store_0.1.0/MANIFEST-000003")},
    {STORE_PATH "/000004.wal", GOLDEN_PATH("store_0.1.0/000004.wal")},
    {STORE_PATH "/000005.bbt", GOLDEN_PATH("store_0.1.0/000005.bbt")},
};

/* The store, closed. */
static void released_init(struct store *store)
{
    *store = (struct store){.memory = store_memory(1)};
    store->options.file_system = bb_file_memory_system(store->memory);
    store->options.deterministic = true;
    struct bb_file_system *fs = store->options.file_system;
    assert_ok(fs->ops->make_directory(fs, STORE_PATH));
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct bb_buf bytes = {0};
        bb_golden_read(files[i][1], &bytes);
        bb_file_memory_put(store->memory, files[i][0], bb_buf_bytes(&bytes));
        bb_buf_deinit(&bytes);
    }
}

static void assert_all(struct store *store)
{
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        char value[16];
        snprintf(key, sizeof(key), "key %03d", i);
        snprintf(value, sizeof(value), "value %d", i);
        assert_get(store, key, value);
        strcat(key, "x");
        assert_get(store, key, NULL);
    }
}

static void released_store__is_sound(void **state)
{
    (void)state;
    struct store store;
    released_init(&store);
    struct bb_db_verify_report report = store_verify(&store);
    assert_int_equal(report.entries, KEYS);
    store_deinit(&store);
}

static void released_store__is_read_and_written(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_options stored;
    const struct bb_db_options expected = {.block_size_bytes = 2048};
    released_init(&store);
    store_open(&store);
    assert_all(&store);
    struct bb_db_stats stats = store_stats(&store);
    assert_int_equal(stats.gets_found, KEYS);
    bb_db_stored_options(store.db, &stored);
    assert_memory_equal(&stored, &expected, sizeof(stored));
    store_put(&store, "later", "1");
    assert_ok(bb_db_compact(store.db));
    assert_all(&store);
    store_reopen(&store);
    assert_get(&store, "later", "1");
    assert_all(&store);
    store_deinit(&store);
}

/* Filters of version 0.1.0 rule out absent keys as before. */
static void released_store__has_its_filters(void **state)
{
    (void)state;
    struct store store;
    released_init(&store);
    store_open(&store);
    assert_all(&store);
    struct bb_db_stats stats = store_stats(&store);
    uint64_t denied = stats.level_reads[0].visits[BB_VISIT_TABLE_FILTER_NEGATIVE] +
                      stats.level_reads[0].visits[BB_VISIT_FILTER_NEGATIVE];
    assert_true(denied > KEYS * 9 / 10);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(released_store__is_sound),
        cmocka_unit_test(released_store__is_read_and_written),
        cmocka_unit_test(released_store__has_its_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
