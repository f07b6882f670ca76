/* Goal: counts below newer tables are exact, and each match is searched in newer tables once.
 * Method: a compacted store with newer runs that overwrite and delete rows; each count is compared
 * with one without indexes, while tables, memtables and snapshots change. */
#include "tests/support/store.h"

#include "bb/select.h"

#define ROWS      4000
#define RUN_COUNT 3

static void put(struct store *store, unsigned row, unsigned status)
{
    char key[16];
    char value[64];
    snprintf(key, sizeof(key), "%08u", row);
    int size = snprintf(value, sizeof(value), "%u,row %u of some length", status, row);
    assert_ok(bb_db_put(store->db, NULL, bb_bytes_of_text(key), bb_bytes_of(value, (size_t)size)));
}

static void delete_row(struct store *store, unsigned row)
{
    char key[16];
    snprintf(key, sizeof(key), "%08u", row);
    assert_ok(bb_db_delete(store->db, NULL, bb_bytes_of_text(key)));
}

static unsigned status_of(unsigned row)
{
    return row % 9 == 0 ? 404 : row / 500 == 3 ? 503 : 200;
}

static void flush(struct store *store)
{
    assert_ok(bb_db_flush(store->db));
    assert_ok(bb_db_wait_idle(store->db));
}

/* All rows in one run, and some of them changed in newer ones. cache_bytes: 0 for none. */
static void open_filled(struct store *store, uint64_t cache_bytes)
{
    store_init(store);
    store->options.level0_run_count_compact = 100;
    store->options.level0_run_count_busy = 100;
    store->options.level0_run_count_stop = 200;
    store->options.cache_bytes = cache_bytes;
    store->options.cache_off = cache_bytes == 0;
    store_open(store);
    assert_ok(bb_db_attribute_create(store->db, "status u64 = csv(1)"));
    assert_ok(bb_db_granule_set(store->db, BB_GRANULE_BYTES_MIN));
    assert_ok(bb_db_index_create(store->db, "set", "set(status)"));
    assert_ok(bb_db_index_create(store->db, "column", "column(status)"));
    for (unsigned row = 0; row < ROWS; row++)
        put(store, row, status_of(row));
    assert_ok(bb_db_compact(store->db));
    for (unsigned run = 0; run < RUN_COUNT; run++) {
        for (unsigned row = run; row < ROWS; row += 10)
            put(store, row, row % 4 == 0 ? 404 : 200);
        for (unsigned row = 5 + run; row < ROWS; row += 30)
            delete_row(store, row);
        flush(store);
    }
}

static uint64_t count(struct store *store, const struct bb_select_options *options,
                      struct bb_select_account *ret_account)
{
    struct bb_select_options unindexed = *options;
    uint64_t expected = 0;
    uint64_t found = 0;
    unindexed.ignore_indexes = true;
    assert_ok(bb_db_select_count(store->db, &unindexed, &expected, NULL));
    assert_ok(bb_db_select_count(store->db, options, &found, ret_account));
    assert_int_equal(found, expected);
    /* Granules outside the range are neither excluded nor read. */
    if (options->range != NULL)
        return found;
    assert_int_equal(ret_account->granules, ret_account->granules_excluded +
                                                ret_account->granules_counted +
                                                ret_account->granules_read);
    return found;
}

static const char *const conditions[] = {
    "status = 404",
    "status = 503",
    "NOT status = 404",
    "status IN (404, 503)",
    "status < 1000", /* every record: whole granules */
    "status IS NULL OR status = 503",
};

static void count_all(struct store *store, const struct bb_snapshot *snapshot, bool is_known)
{
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        struct bb_select_options options = {.where = conditions[i], .snapshot = snapshot};
        struct bb_select_account account = {0};
        assert_true(count(store, &options, &account) > 0);
        if (is_known)
            assert_int_equal(account.blocks_read + account.newer_searched + account.granules_read,
                             0);
    }
}

static void visible_rows__are_looked_up_once(void **state)
{
    (void)state;
    struct store store;
    struct bb_select_options options = {.where = "status = 503"};
    struct bb_select_account first = {0};
    struct bb_select_account second = {0};
    open_filled(&store, 1 << 20);
    uint64_t rows = count(&store, &options, &first);
    assert_true(first.blocks_read > 0 && first.newer_searched > rows);
    assert_int_equal(count(&store, &options, &second), rows);
    assert_int_equal(second.blocks_read + second.newer_searched + second.data_reads, 0);
    assert_int_equal(second.granules_counted, first.granules_counted + first.granules_read);
    count_all(&store, NULL, false);
    count_all(&store, NULL, true);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

/* A newer table, a memtable and a compaction hide other rows. */
static void visible_rows__change_with_the_newer_data(void **state)
{
    (void)state;
    struct store store;
    struct bb_snapshot *snapshot = NULL;
    open_filled(&store, 1 << 20);
    count_all(&store, NULL, false);
    assert_ok(bb_snapshot_create(store.db, &snapshot));
    for (unsigned row = 1500; row < 1700; row += 3)
        delete_row(&store, row);
    count_all(&store, NULL, false);
    flush(&store);
    count_all(&store, NULL, false);
    count_all(&store, NULL, true);
    count_all(&store, snapshot, false);
    count_all(&store, NULL, false);
    struct bb_bytes low = bb_bytes_of_text("00001720");
    struct bb_bytes high = bb_bytes_of_text("00001800");
    assert_ok(bb_db_delete_range(store.db, NULL, low, high));
    count_all(&store, NULL, false);
    flush(&store);
    count_all(&store, NULL, false);
    count_all(&store, NULL, false);
    bb_snapshot_release(store.db, snapshot);
    assert_ok(bb_db_compact(store.db));
    count_all(&store, NULL, true);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

static void visible_rows__are_counted_in_ranges_of_keys(void **state)
{
    (void)state;
    struct store store;
    open_filled(&store, 1 << 20);
    for (unsigned row = 0; row < ROWS; row += 450) {
        char text[16];
        snprintf(text, sizeof(text), "%08u", row);
        struct bb_bytes bound = bb_bytes_of_text(text);
        struct bb_key_range ranges[] = {{.low = &bound}, {.high = &bound}};
        for (size_t i = 0; i < 2; i++) {
            struct bb_select_options options = {.where = "status = 404", .range = &ranges[i]};
            struct bb_select_account account = {0};
            (void)count(&store, &options, &account);
            (void)count(&store, &options, &account);
        }
    }
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

/* Known rows do not depend on the block cache. */
static void visible_rows__are_known_without_a_cache_and_with_the_smallest(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 64 * 1024};
    for (size_t i = 0; i < 2; i++) {
        struct store store;
        struct bb_db_stats before;
        struct bb_db_stats after;
        open_filled(&store, sizes[i]);
        count_all(&store, NULL, false);
        bb_db_stats(store.db, &before);
        count_all(&store, NULL, true);
        bb_db_stats(store.db, &after);
        assert_int_equal(after.table_memory_bytes, before.table_memory_bytes);
        put(&store, ROWS, 404); /* overlaps no table: the newer tables are the same */
        flush(&store);
        count_all(&store, NULL, true);
        store_close(&store);
        bb_file_memory_destroy(store.memory);
    }
}

static uint64_t memory_of(struct store *store)
{
    struct bb_db_stats stats;
    bb_db_stats(store->db, &stats);
    return stats.table_memory_bytes;
}

/* The bytes that an indexed count adds to the memory of tables. An unindexed one has loaded all
 * index pages before. */
static uint64_t memory_of_count(struct store *store)
{
    struct bb_select_options options = {.where = "status < 1000", .ignore_indexes = true};
    uint64_t rows = 0;
    assert_ok(bb_db_select_count(store->db, &options, &rows, NULL));
    uint64_t before = memory_of(store);
    options.ignore_indexes = false;
    assert_ok(bb_db_select_count(store->db, &options, &rows, NULL));
    return memory_of(store) - before;
}

static void visible_rows__memory_is_that_of_the_statistics(void **state)
{
    (void)state;
    struct store store;
    open_filled(&store, 1 << 20);
    uint64_t bytes = memory_of_count(&store);
    assert_true(bytes >= ROWS / 4 && bytes <= ROWS * 4);
    assert_int_equal(memory_of_count(&store), 0);
    bb_db_clear_cache(store.db);
    assert_int_equal(memory_of_count(&store), bytes);
    assert_ok(bb_db_compact(store.db));
    assert_int_equal(memory_of_count(&store), 0);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

static bool stop(void *context, const struct bb_select_account *account)
{
    (void)context;
    (void)account;
    return false;
}

static void visible_rows__counting_is_cancelled(void **state)
{
    (void)state;
    struct store store;
    uint64_t found = 0;
    struct bb_select_options options = {.where = "status = 404", .progress = stop};
    open_filled(&store, 1 << 20);
    assert_status(bb_db_select_count(store.db, &options, &found, NULL), BB_BUSY);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visible_rows__are_looked_up_once),
        cmocka_unit_test(visible_rows__change_with_the_newer_data),
        cmocka_unit_test(visible_rows__are_counted_in_ranges_of_keys),
        cmocka_unit_test(visible_rows__are_known_without_a_cache_and_with_the_smallest),
        cmocka_unit_test(visible_rows__memory_is_that_of_the_statistics),
        cmocka_unit_test(visible_rows__counting_is_cancelled),
    };
    return cmocka_run_group_tests_name("visible_rows", tests, NULL, NULL);
}
