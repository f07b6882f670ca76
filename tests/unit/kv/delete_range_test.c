/* Goal: a deleted range is gone wherever tombstone and keys are, and all other keys stay. Method:
 * small stores, the tombstone in a newer memtable, table or level than the keys; bugs of other
 * engines by name. The model test does the rest. */
#include "tests/support/store.h"

static void delete_range(struct store *store, const char *low, const char *high)
{
    assert_ok(bb_db_delete_range(store->db, NULL, bb_bytes_of_text(low), bb_bytes_of_text(high)));
}

static void begin(struct store *store)
{
    store_init(store);
    store_open(store);
}

/* A filter has the entries of its table: it returns no for a key whose range was deleted there. */
static void delete_range__before_any_filter_rocksdb_9453(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    for (char c = 'a'; c <= 'p'; c++)
        store_put(&store, (char[]){c, 0}, "old");
    assert_ok(bb_db_compact(store.db));
    store_put(&store, "bb", "other keys, for the filters");
    store_put(&store, "zz", "to know");
    delete_range(&store, "c", "m");
    for (int i = 0; i < 3; i++) {
        assert_get(&store, "b", "old");
        assert_get(&store, "c", NULL);
        assert_get(&store, "l", NULL);
        assert_get(&store, "m", "old");
        assert_ok(i == 0 ? bb_db_flush(store.db) : bb_db_compact(store.db));
    }
    store_deinit(&store);
}

static void delete_range__many_gets_decide_without_a_block(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    store_put(&store, "k", "old");
    assert_ok(bb_db_flush(store.db));
    delete_range(&store, "a", "z");
    assert_ok(bb_db_flush(store.db));
    struct bb_bytes keys[] = {bb_bytes_of_text("k"), bb_bytes_of_text("j")};
    enum bb_status statuses[2];
    struct bb_read_stats stats = {0};
    struct bb_get_options options = {.stats = &stats};
    assert_ok(bb_db_get_many(store.db, &options, keys, 2, NULL, statuses));
    assert_int_equal(statuses[0], BB_NOT_FOUND);
    assert_int_equal(statuses[1], BB_NOT_FOUND);
    assert_int_equal(stats.visits[BB_VISIT_TOMBSTONE], 2);
    assert_int_equal(stats.block_requests, 0);
    store_deinit(&store);
}

static void delete_range__of_a_batch_the_later_wins(void **state)
{
    (void)state;
    struct store store;
    struct bb_batch *batch = NULL;
    begin(&store);
    assert_ok(bb_batch_create(&batch));
    assert_ok(bb_batch_put(batch, bb_bytes_of_text("b"), bb_bytes_of_text("before")));
    assert_ok(bb_batch_delete_range(batch, bb_bytes_of_text("a"), bb_bytes_of_text("d")));
    assert_ok(bb_batch_put(batch, bb_bytes_of_text("c"), bb_bytes_of_text("behind")));
    assert_ok(bb_db_write(store.db, NULL, batch));
    bb_batch_destroy(batch);
    assert_content(&store, "c=behind");
    assert_ok(bb_db_flush(store.db));
    assert_content(&store, "c=behind");
    store_deinit(&store);
}

static void delete_range__snapshots_see_what_was(void **state)
{
    (void)state;
    struct store store;
    struct bb_snapshot *snapshot = NULL;
    begin(&store);
    store_put(&store, "b", "old");
    assert_ok(bb_snapshot_create(store.db, &snapshot));
    delete_range(&store, "a", "c");
    struct bb_get_options options = {.snapshot = snapshot};
    for (int i = 0; i < 3; i++) {
        assert_get(&store, "b", NULL);
        assert_ok(bb_db_get(store.db, &options, bb_bytes_of_text("b"), NULL));
        assert_ok(i == 0 ? bb_db_flush(store.db) : bb_db_compact(store.db));
    }
    bb_snapshot_release(store.db, snapshot);
    store_deinit(&store);
}

/* Covered and without a snapshot: no trace remains at the bottom. */
static void delete_range__compaction_leaves_nothing(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_stats stats;
    begin(&store);
    store_put(&store, "b", "old");
    assert_ok(bb_db_compact(store.db));
    delete_range(&store, "a", "c");
    assert_ok(bb_db_compact(store.db));
    bb_db_stats(store.db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        assert_int_equal(stats.levels[level].table_count, 0);
    store_deinit(&store);
}

static void delete_range__empty_ones_take_a_sequence(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_stats stats;
    begin(&store);
    store_put(&store, "b", "kept");
    delete_range(&store, "c", "a");
    delete_range(&store, "b", "b");
    assert_content(&store, "b=kept");
    assert_ok(bb_db_close(store.db));
    store.db = NULL;
    store_open(&store);
    bb_db_stats(store.db, &stats);
    assert_int_equal(stats.last_sequence, 3);
    assert_content(&store, "b=kept");
    store_deinit(&store);
}

/* More than are walked one by one: the memtable's index answers too. */
static void delete_range__many_in_one_memtable(void **state)
{
    (void)state;
    struct store store;
    char low[16];
    char high[16];
    begin(&store);
    for (int i = 0; i < 300; i++) {
        snprintf(low, sizeof(low), "k%04d", i);
        store_put(&store, low, "v");
    }
    for (int i = 0; i < 300; i += 2) {
        snprintf(low, sizeof(low), "k%04d", i);
        snprintf(high, sizeof(high), "k%04d", i + 1);
        delete_range(&store, low, high);
    }
    for (int i = 0; i < 300; i++) {
        snprintf(low, sizeof(low), "k%04d", i);
        assert_get(&store, low, i % 2 == 0 ? NULL : "v");
    }
    store_deinit(&store);
}

/* Bytes of all logs in the directory. */
static uint64_t log_bytes(struct store *store)
{
    struct bb_file_system *fs = store->options.file_system;
    struct bb_file_names list;
    uint64_t sum = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &list));
    for (size_t i = 0; i < list.count; i++) {
        char path[64];
        size_t size = 0;
        snprintf(path, sizeof(path), "%s/%s", STORE_PATH, list.names[i]);
        if (strstr(list.names[i], ".wal") != NULL &&
            bb_file_memory_bytes(store->memory, path, &size) != NULL)
            sum += size;
    }
    bb_file_names_deinit(&list);
    return sum;
}

/* They leave no entry in the memtable, which was never full: the log grew until the next put. */
static void delete_range__empty_ones_do_not_fill_the_disk(void **state)
{
    (void)state;
    struct store store;
    uint64_t most = 0;
    begin(&store);
    store_put(&store, "b", "kept");
    for (int i = 0; i < 40000; i++) {
        delete_range(&store, "c", "a");
        if (i % 1000 == 0 && log_bytes(&store) > most)
            most = log_bytes(&store);
    }
    assert_true(most > store.options.write_buffer_bytes);
    assert_true(most < 6 * store.options.write_buffer_bytes);
    assert_content(&store, "b=kept");
    assert_int_equal(store_stats(&store).flushes, 1);
    store_kill(&store);
    assert_int_equal(store_stats(&store).last_sequence, 40001);
    delete_range(&store, "c", "a");
    store_put_synced(&store, "d", "after");
    store_cut_power(&store);
    assert_int_equal(store_stats(&store).last_sequence, 40003);
    assert_content(&store, "b=kept d=after");
    store_deinit(&store);
}

/* The log begins with an empty range. Replay had made a memtable for it, found it empty when the
 * next write needed a larger one, and leaked it. A memory checker finds it. */
static void delete_range__empty_ones_before_a_large_value_leak_nothing(void **state)
{
    (void)state;
    static uint8_t large[200 * 1024];
    struct store store;
    begin(&store);
    delete_range(&store, "b", "a");
    assert_ok(bb_db_put(store.db, NULL, bb_bytes_of_text("k"), bb_bytes_of(large, sizeof(large))));
    store_kill(&store);
    assert_ok(bb_db_get(store.db, NULL, bb_bytes_of_text("k"), NULL));
    assert_int_equal(store_stats(&store).last_sequence, 2);
    store_deinit(&store);
}

/* Regression: compactions cut their output only by its entries, and a table with many tombstones
 * between them became very large. */
static void delete_range__many_make_no_large_tables(void **state)
{
    (void)state;
    enum { KEYS = 4000 };
    struct store store;
    struct bb_snapshot *snapshot = NULL;
    struct bb_db_table_list list;
    begin(&store);
    for (uint32_t i = 0; i < KEYS; i++)
        store_put(&store,
                  (char[]){'k', (char)('a' + i / 676 % 26), (char)('a' + i / 26 % 26),
                           (char)('a' + i % 26), 0},
                  "v");
    assert_ok(bb_snapshot_create(store.db, &snapshot)); /* so that all are kept */
    for (uint32_t i = 0; i < KEYS; i++) {
        char key[] = {
            'k', (char)('a' + i / 676 % 26), (char)('a' + i / 26 % 26), (char)('a' + i % 26), 0, 0};
        char end[sizeof(key)];
        memcpy(end, key, sizeof(key));
        end[4] = 'b';
        delete_range(&store, key, end);
    }
    assert_ok(bb_db_compact(store.db));
    assert_ok(bb_db_tables(store.db, &list));
    assert_true(list.count > 1);
    for (size_t i = 0; i < list.count; i++)
        assert_true(list.tables[i].file_size < store.options.table_size_bytes * 3 / 2);
    bb_db_table_list_deinit(&list);
    bb_snapshot_release(store.db, snapshot);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delete_range__before_any_filter_rocksdb_9453),
        cmocka_unit_test(delete_range__many_gets_decide_without_a_block),
        cmocka_unit_test(delete_range__of_a_batch_the_later_wins),
        cmocka_unit_test(delete_range__snapshots_see_what_was),
        cmocka_unit_test(delete_range__compaction_leaves_nothing),
        cmocka_unit_test(delete_range__empty_ones_take_a_sequence),
        cmocka_unit_test(delete_range__empty_ones_do_not_fill_the_disk),
        cmocka_unit_test(delete_range__many_in_one_memtable),
        cmocka_unit_test(delete_range__empty_ones_before_a_large_value_leak_nothing),
        cmocka_unit_test(delete_range__many_make_no_large_tables),
    };
    return cmocka_run_group_tests_name("delete_range", tests, NULL, NULL);
}
