/* Goal: a cleanly closed store is opened and closed without a change to its files, and the first
 * write, flush, compaction, ingest or checkpoint does the deferred work; any other store is
 * recovered and cleaned up as usual. Method: the changing calls of a file system in memory are
 * counted, and refused. Power failures: tests/crash. */
#include "tests/support/store.h"

#include <inttypes.h>

#include "base/assert.h"
#include "base/status.h"

/* Changing calls: their kinds, and the failing one. */
struct calls {
    uint64_t count[BB_FILE_CALL_ANY];
    enum bb_file_call refused;
    const char *refused_path; /* a part of it; NULL: none */
};

static enum bb_status on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct calls *calls = context;
    (void)memory;
    (void)number;
    calls->count[call]++;
    if (calls->refused_path == NULL || call != calls->refused ||
        strstr(path, calls->refused_path) == NULL)
        return BB_OK;
    calls->refused_path = NULL;
    return bb_fail(BB_NO_SPACE, "%s of %s is refused", bb_file_call_name(call), path);
}

static uint64_t sum(const struct calls *calls)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BB_FILE_CALL_ANY; i++)
        sum += calls->count[i];
    return sum;
}

/* A store with a table, cleanly closed. */
static void begin(struct store *store)
{
    store_init(store);
    store_open(store);
    store_put(store, "a", "1");
    assert_ok(bb_db_flush(store->db));
    store_close(store);
}

static void count_from_here(struct store *store, struct calls *calls)
{
    *calls = (struct calls){.refused_path = NULL};
    bb_file_memory_set_hook(store->memory, on_call, calls);
}

/* Except the lock, which is another kind of call. */
static void assert_is_at_rest(struct store *store)
{
    struct calls calls;
    count_from_here(store, &calls);
    store_open(store);
    store_close(store);
    assert_int_equal(sum(&calls), calls.count[BB_FILE_CALL_LOCK]);
    bb_file_memory_set_hook(store->memory, NULL, NULL);
}

/* Everything is published again, before any removal. */
static void assert_is_not_at_rest(struct store *store)
{
    struct calls calls;
    count_from_here(store, &calls);
    store_open(store);
    assert_true(calls.count[BB_FILE_CALL_CREATE] > 0);
    assert_true(calls.count[BB_FILE_CALL_RENAME] > 0);
    bb_file_memory_set_hook(store->memory, NULL, NULL);
}

static void db_rest__a_batch_of_nothing_changes_nothing(void **state)
{
    (void)state;
    struct store store;
    struct bb_batch *batch = NULL;
    struct calls calls;
    begin(&store);
    store_open(&store);
    count_from_here(&store, &calls);
    assert_ok(bb_batch_create(&batch));
    assert_ok(bb_db_write(store.db, NULL, batch));
    assert_int_equal(sum(&calls), 0);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    bb_batch_destroy(batch);
    store_deinit(&store);
}

static void db_rest__opening_and_closing_change_nothing(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    for (int i = 0; i < 3; i++)
        assert_is_at_rest(&store);
    store.options.wal_off = true;
    assert_is_at_rest(&store);
    store_open(&store);
    assert_content(&store, "a=1");
    store_deinit(&store);
}

/* One sync for the name of the log, one for the log: files of a cleanly closed store need not be
 * rewritten. */
static void db_rest__the_first_synced_write_costs_two_syncs(void **state)
{
    (void)state;
    struct store store;
    struct calls calls;
    begin(&store);
    store_open(&store);
    count_from_here(&store, &calls);
    store_put_synced(&store, "b", "2");
    assert_int_equal(calls.count[BB_FILE_CALL_CREATE], 1);
    assert_int_equal(calls.count[BB_FILE_CALL_SYNC], 1);
    assert_int_equal(calls.count[BB_FILE_CALL_SYNC_DIRECTORY], 1);
    store_put_synced(&store, "c", "3");
    assert_int_equal(calls.count[BB_FILE_CALL_SYNC], 2);
    assert_int_equal(calls.count[BB_FILE_CALL_SYNC_DIRECTORY], 1);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    store_cut_power(&store);
    assert_content(&store, "a=1 b=2 c=3");
    store_deinit(&store);
}

/* If that fails, no log has begun, and it is retried. */
static void db_rest__a_log_that_cannot_be_begun(void **state)
{
    static const struct {
        enum bb_file_call call;
        const char *path;
    } refusals[] = {{BB_FILE_CALL_CREATE, ".wal"},
                    {BB_FILE_CALL_APPEND, ".wal"},
                    {BB_FILE_CALL_SYNC_DIRECTORY, STORE_PATH}};
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(refusals); i++) {
        struct store store;
        struct calls calls;
        begin(&store);
        store_open(&store);
        count_from_here(&store, &calls);
        calls.refused = refusals[i].call;
        calls.refused_path = refusals[i].path;
        assert_status(bb_db_put(store.db, NULL, bb_bytes_of_text("b"), bb_bytes_of_text("2")),
                      BB_NO_SPACE);
        assert_content(&store, "a=1");
        store_put_synced(&store, "c", "3");
        bb_file_memory_set_hook(store.memory, NULL, NULL);
        store_cut_power(&store);
        assert_content(&store, "a=1 c=3");
        store_close(&store);
        assert_int_equal(store_verify(&store).orphans, 0);
        store_deinit(&store);
    }
}

/* The manifest is replaced before the first edit; if that fails, the edit fails, and both may be
 * retried. */
static void db_rest__a_manifest_that_cannot_be_begun(void **state)
{
    static const enum bb_file_call refused[] = {BB_FILE_CALL_CREATE, BB_FILE_CALL_APPEND,
                                                BB_FILE_CALL_SYNC};
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(refused); i++) {
        struct store store;
        struct calls calls;
        begin(&store);
        store_open(&store);
        store_put(&store, "b", "2");
        count_from_here(&store, &calls);
        calls.refused = refused[i];
        calls.refused_path = "MANIFEST";
        assert_status(bb_db_flush(store.db), BB_NO_SPACE);
        assert_content(&store, "a=1 b=2");
        store_put(&store, "c", "3");
        assert_ok(bb_db_flush(store.db));
        bb_file_memory_set_hook(store.memory, NULL, NULL);
        store_cut_power(&store);
        assert_content(&store, "a=1 b=2 c=3");
        store_close(&store);
        assert_int_equal(store_verify(&store).orphans, 0);
        store_deinit(&store);
    }
}

/* A compaction is the first thing that happens: no log was begun, and the old one stays. */
static void db_rest__compacted_before_any_write(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    store_open(&store);
    assert_ok(bb_db_compact(store.db));
    store_cut_power(&store);
    assert_content(&store, "a=1");
    store_put(&store, "b", "2");
    store_kill(&store);
    assert_content(&store, "a=1 b=2");
    store_deinit(&store);
}

/* Each write session leaves one log and one manifest in total, not one more each time. */
static void db_rest__files_do_not_gather(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_names names = {0};
    struct bb_file_system *fs = NULL;
    begin(&store);
    for (int i = 0; i < 20; i++) {
        store_open(&store);
        if (i % 3 == 0)
            store_put(&store, "a", "1");
        if (i % 3 == 1)
            assert_ok(bb_db_compact(store.db));
        store_close(&store);
    }
    store_open(&store);
    assert_ok(bb_db_compact(store.db));
    store_close(&store);
    fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    assert_int_equal(names.count, 5); /* CURRENT, LOCK, a manifest, a log, a table */
    bb_file_names_deinit(&names);
    store_deinit(&store);
}

/* A log that was begun and never written, in a store whose manifest names no log: no code would
 * remove it. */
static void db_rest__not_with_a_log_that_nobody_named(void **state)
{
    (void)state;
    struct store store;
    struct calls calls;
    store_init(&store);
    store.options.wal_off = true;
    store_open(&store);
    store_put(&store, "a", "1");
    store_close(&store);
    store.options.wal_off = false;
    assert_is_at_rest(&store);
    store_open(&store);
    count_from_here(&store, &calls);
    calls.refused = BB_FILE_CALL_SYNC_DIRECTORY;
    calls.refused_path = STORE_PATH;
    assert_status(bb_db_put(store.db, NULL, bb_bytes_of_text("b"), bb_bytes_of_text("2")),
                  BB_NO_SPACE);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    store_kill(&store);
    store_put(&store, "c", "3");
    assert_ok(bb_db_flush(store.db));
    assert_content(&store, "a=1 c=3");
    store_close(&store);
    assert_int_equal(store_verify(&store).orphans, 0);
    store_deinit(&store);
}

/* An opening removes an earlier process's leftovers, in addition to any other work. */
static void db_rest__orphans_go_at_the_opening(void **state)
{
    static const char *const names[] = {STORE_PATH "/000900.bbt", STORE_PATH "/000901.tmp",
                                        STORE_PATH "/MANIFEST-000902", STORE_PATH "/000001.wal"};
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(names); i++) {
        struct store store;
        size_t size = 0;
        begin(&store);
        assert_is_at_rest(&store);
        bb_file_memory_put(store.memory, names[i], bb_bytes_of_text("x"));
        assert_is_not_at_rest(&store);
        assert_null(bb_file_memory_bytes(store.memory, names[i], &size));
        assert_content(&store, "a=1");
        store_deinit(&store);
    }
}

/* The manifest was not marked durable: the process crashed. */
static void db_rest__not_after_a_death(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    store_open(&store);
    assert_ok(bb_db_compact(store.db));
    store_put(&store, "b", "2");
    assert_ok(bb_db_flush(store.db));
    struct bb_file_memory *image = bb_file_memory_clone(store.memory);
    store_close(&store);
    store_replace_disk(&store, image);
    assert_is_not_at_rest(&store);
    store_close(&store);
    assert_is_at_rest(&store);
    store_deinit(&store);
}

/* A reader without the lock sees the cleanly closed state, and follows later changes. */
static void db_rest__read_only_beside(void **state)
{
    (void)state;
    struct store store;
    struct bb_db *reader = NULL;
    begin(&store);
    store_open(&store);
    struct bb_db_options options = store.options;
    options.read_only = true;
    options.create_if_missing = false;
    assert_ok(bb_db_open(STORE_PATH, &options, &reader));
    assert_content_at(reader, NULL, "a=1");
    store_put(&store, "b", "2");
    assert_ok(bb_db_refresh(reader));
    assert_content_at(reader, NULL, "a=1 b=2");
    assert_ok(bb_db_compact(store.db));
    store_put(&store, "c", "3");
    assert_ok(bb_db_refresh(reader));
    assert_content_at(reader, NULL, "a=1 b=2 c=3");
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_rest__opening_and_closing_change_nothing),
        cmocka_unit_test(db_rest__a_batch_of_nothing_changes_nothing),
        cmocka_unit_test(db_rest__the_first_synced_write_costs_two_syncs),
        cmocka_unit_test(db_rest__a_log_that_cannot_be_begun),
        cmocka_unit_test(db_rest__a_manifest_that_cannot_be_begun),
        cmocka_unit_test(db_rest__compacted_before_any_write),
        cmocka_unit_test(db_rest__files_do_not_gather),
        cmocka_unit_test(db_rest__not_with_a_log_that_nobody_named),
        cmocka_unit_test(db_rest__orphans_go_at_the_opening),
        cmocka_unit_test(db_rest__not_after_a_death),
        cmocka_unit_test(db_rest__read_only_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
