/* Goal: iterators that seek in several runs, or pass tombstones, make the store merge them; scans
 * of puts do not. Method: stores of two runs in memory; iterators; the statistics when idle. */
#include "tests/support/store.h"

#define KEYS 300
/* Of 4,096 bytes each: more than BB_PICK_SCANS_BYTES_MIN and the tables. */
#define SEEKS 290

static void key_of(int number, char key[8])
{
    snprintf(key, 8, "k%05d", number);
}

static void put_all(struct store *store, const char *value)
{
    char key[8];
    for (int i = 0; i < KEYS; i++) {
        key_of(i, key);
        store_put(store, key, value);
    }
}

static void delete_most(struct store *store)
{
    char key[8];
    for (int i = 0; i < KEYS - 10; i++) {
        key_of(i, key);
        store_delete(store, key);
    }
}

/* All keys in the last run. */
static void begin(struct store *store, enum bb_compaction_style style, bool is_deterministic)
{
    store_init(store);
    store->options.compaction_style = style;
    store->options.deterministic = is_deterministic;
    store_open(store);
    put_all(store, "old");
    assert_ok(bb_db_compact(store->db));
}

static struct bb_db_stats stats_at_rest(struct store *store)
{
    assert_ok(bb_db_wait_idle(store->db));
    return store_stats(store);
}

/* A second run. */
static void flush(struct store *store)
{
    assert_ok(bb_db_flush(store->db));
    assert_int_equal(stats_at_rest(store).run_count, 2);
}

static int scan(struct store *store, const char *from)
{
    struct bb_db_iter *iter = NULL;
    int count = 0;
    assert_ok(bb_db_iter_create(store->db, NULL, &iter));
    if (from != NULL)
        bb_db_iter_seek(iter, bb_bytes_of_text(from));
    else
        bb_db_iter_seek_first(iter);
    for (; bb_db_iter_valid(iter); bb_db_iter_next(iter))
        count++;
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    return count;
}

static void seek_everywhere(struct store *store)
{
    char key[8];
    for (int i = 0; i < SEEKS; i++) {
        key_of(i, key);
        assert_int_equal(scan(store, key), KEYS - i);
    }
}

static void check_seeks(bool is_deterministic)
{
    struct store store;
    begin(&store, BB_COMPACTION_LEVELED, is_deterministic);
    put_all(&store, "new");
    flush(&store);
    seek_everywhere(&store);
    struct bb_db_stats stats = stats_at_rest(&store);
    assert_int_equal(stats.run_count, 1);
    assert_int_equal(stats.levels[1].entry_count, KEYS);
    assert_get(&store, "k00017", "new");
    seek_everywhere(&store);
    assert_int_equal(stats_at_rest(&store).compactions, stats.compactions);
    store_deinit(&store);
}

static void scan_charges__seeks_merge_runs(void **state)
{
    (void)state;
    check_seeks(true);
}

static void scan_charges__seeks_merge_runs_with_workers(void **state)
{
    (void)state;
    check_seeks(false);
}

static void scan_charges__tombstones_that_are_read_again_go(void **state)
{
    (void)state;
    struct store store;
    begin(&store, BB_COMPACTION_LEVELED, true);
    delete_most(&store);
    flush(&store);
    assert_int_equal(store_stats(&store).tombstone_count, KEYS - 10);
    assert_int_equal(scan(&store, NULL), 10);
    assert_int_equal(stats_at_rest(&store).tombstone_count, KEYS - 10);
    for (int i = 0; i < 30; i++)
        assert_int_equal(scan(&store, NULL), 10);
    struct bb_db_stats stats = stats_at_rest(&store);
    assert_int_equal(stats.tombstone_count, 0);
    assert_int_equal(stats.run_count, 1);
    assert_int_equal(scan(&store, NULL), 10);
    store_deinit(&store);
}

static void scan_charges__scans_of_all_puts_merge_nothing(void **state)
{
    (void)state;
    struct store store;
    begin(&store, BB_COMPACTION_LEVELED, true);
    put_all(&store, "new");
    flush(&store);
    for (int i = 0; i < SEEKS; i++)
        assert_int_equal(scan(&store, NULL), KEYS);
    assert_int_equal(stats_at_rest(&store).run_count, 2);
    store_deinit(&store);
}

static void scan_charges__tiers_are_kept(void **state)
{
    (void)state;
    struct store store;
    begin(&store, BB_COMPACTION_TIERED, true);
    put_all(&store, "new");
    flush(&store);
    seek_everywhere(&store);
    assert_int_equal(stats_at_rest(&store).run_count, 2);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_charges__seeks_merge_runs),
        cmocka_unit_test(scan_charges__seeks_merge_runs_with_workers),
        cmocka_unit_test(scan_charges__tombstones_that_are_read_again_go),
        cmocka_unit_test(scan_charges__scans_of_all_puts_merge_nothing),
        cmocka_unit_test(scan_charges__tiers_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
