/* A flush after a deletion of an empty range had no entry to write, and did not record the
 * sequence of the deletion. Without a log, a store opened read-only showed a last sequence lower
 * by one. With a log, a store did so after a power failure. The oracle found both (seeds 7004139,
 * 8020141). */
#include "tests/support/store.h"

static void delete_nothing(struct store *store)
{
    assert_ok(bb_db_delete_range(store->db, NULL, bb_bytes_of_text("b"), bb_bytes_of_text("b")));
}

/* The last sequence as a second opening sees it. */
static uint64_t sequence_of_reader(const struct store *store)
{
    struct bb_db_options options = store->options;
    struct bb_db *view = NULL;
    struct bb_db_stats stats;
    options.create_if_missing = false;
    options.read_only = true;
    options.deterministic = false;
    assert_ok(bb_db_open(STORE_PATH, &options, &view));
    bb_db_stats(view, &stats);
    assert_ok(bb_db_close(view));
    return stats.last_sequence;
}

/* The size of the manifest, of which the store has one. */
static uint64_t manifest_size(struct store *store)
{
    struct bb_file_names names = {0};
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    size_t size = 0;
    char path[64];
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        snprintf(path, sizeof(path), STORE_PATH "/%s", names.names[i]);
        if (strstr(path, "MANIFEST") != NULL)
            (void)bb_file_memory_bytes(store->memory, path, &size);
    }
    bb_file_names_deinit(&names);
    return size;
}

static void check_flushes(bool is_deterministic, bool wal_off)
{
    struct store store;
    store_init(&store);
    store.options.wal_off = wal_off;
    store.options.deterministic = is_deterministic;
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    delete_nothing(&store);
    assert_ok(bb_db_flush(store.db));
    assert_int_equal(sequence_of_reader(&store), 2);
    uint64_t size = manifest_size(&store);
    assert_ok(bb_db_flush(store.db)); /* no more to record */
    assert_int_equal(manifest_size(&store), size);
    delete_nothing(&store);
    store_reopen(&store);
    assert_int_equal(store_stats(&store).last_sequence, 3);
    size = manifest_size(&store);
    assert_ok(bb_db_flush(store.db));
    assert_int_equal(manifest_size(&store), size);
    assert_content(&store, "a=1");
    store_deinit(&store);
}

static void empty_range_flush__records_the_sequence(void **state)
{
    (void)state;
    check_flushes(true, true);
    check_flushes(false, true);
    check_flushes(true, false);
    check_flushes(false, false);
}

static void empty_range_flush__survives_a_power_failure(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    delete_nothing(&store);
    assert_ok(bb_db_flush(store.db));
    store_cut_power(&store);
    assert_int_equal(store_stats(&store).last_sequence, 2);
    assert_content(&store, "a=1");
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_range_flush__records_the_sequence),
        cmocka_unit_test(empty_range_flush__survives_a_power_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
