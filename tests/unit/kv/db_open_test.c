/* Goal: opening, creating, closing and reopening work as documented in include/bb/db.h and
 * docs/options.md: refusals name the option and leave no trace; some options may change between two
 * openings. Method: each flag, order and option on a file system in memory, and the operating
 * system's files for the defaults. */
#include "base/buf.h"
#include "bb/db_files.h"
#include "tests/support/store.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/support/file_fault.h"
#include "tests/support/rng.h"
#include "tests/support/temp_dir.h"

/* ---- Creating ---- */

static bool exists(struct store *store, const char *path)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    bool is_directory = false;
    uint64_t size = 0;
    enum bb_status status = fs->ops->status(fs, path, &is_directory, &size);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    return status == BB_OK;
}

static void assert_open_fails(struct store *store, enum bb_status expected, const char *message)
{
    struct bb_db *untouched = (struct bb_db *)(void *)store;
    struct bb_db *db = untouched;
    assert_status(bb_db_open(STORE_PATH, &store->options, &db), expected);
    assert_message(message);
    assert_ptr_equal(db, untouched);
}

static void db_open__is_not_created_unasked(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.create_if_missing = false;
    assert_open_fails(&store, BB_NOT_FOUND, STORE_PATH);
    assert_false(exists(&store, STORE_PATH));
    store.options.create_if_missing = true;
    store_open(&store);
    store.options.create_if_missing = false;
    store_reopen(&store);
    store_deinit(&store);
}

/* Checking a directory that is not a store does not change it. */
static void db_open__leaves_another_directory_alone(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    struct bb_file_names names = {0};
    assert_ok(fs->ops->make_directory(fs, STORE_PATH));
    bb_file_memory_put(store.memory, STORE_PATH "/letter.txt", bb_bytes_of_text("dear"));
    store.options.create_if_missing = false;
    assert_open_fails(&store, BB_NOT_FOUND, "create_if_missing");
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    assert_int_equal(names.count, 1);
    bb_file_names_deinit(&names);
    /* It may become one on request. */
    store.options.create_if_missing = true;
    store_open(&store);
    store_put(&store, "a", "1");
    store_reopen(&store);
    assert_content(&store, "a=1");
    assert_true(exists(&store, STORE_PATH "/letter.txt"));
    store_deinit(&store);
}

static void db_open__error_if_exists(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.error_if_exists = true;
    store_open(&store);
    store_put(&store, "a", "1");
    store_close(&store);
    assert_open_fails(&store, BB_EXISTS, "error_if_exists");
    store.options.error_if_exists = false;
    store_open(&store);
    assert_content(&store, "a=1");
    store_deinit(&store);
}

static void db_open__parent_must_be_there(void **state)
{
    (void)state;
    struct store store;
    struct bb_db *db = NULL;
    store_init(&store);
    assert_status(bb_db_open("/nowhere/store", &store.options, &db), BB_NOT_FOUND);
    assert_status(bb_db_open("", &store.options, &db), BB_INVALID);
    assert_status(bb_db_open(NULL, &store.options, &db), BB_INVALID);
    bb_file_memory_put(store.memory, "/data/file", bb_bytes_of_text("x"));
    assert_status(bb_db_open("/data/file", &store.options, &db), BB_INVALID);
    assert_message("not a directory");
    store_open(&store);
    store_deinit(&store);
}

/* The result of an opening when the parent's sync fails in this way. */
static enum bb_status open_beside(struct store *store, int error_number)
{
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store->memory));
    struct bb_db *db = NULL;
    bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_SYNC_DIRECTORY,
                                                          .nth = 1,
                                                          .error_number = error_number});
    store->options.file_system = bb_file_fault_system(fault);
    enum bb_status status = bb_db_open(STORE_PATH, &store->options, &db);
    assert_int_equal(bb_file_fault_hits(fault), 1);
    if (status == BB_OK)
        assert_ok(bb_db_close(db));
    bb_file_fault_destroy(fault);
    store->options.file_system = bb_file_memory_system(store->memory);
    return status;
}

/* A new directory must be durable in its parent. For an existing directory this is unknown only if
 * the parent cannot be opened. A failing sync is a failure in both cases. */
static void db_open__parent_is_synced(void **state)
{
    (void)state;
    for (int was_there = 0; was_there < 2; was_there++) {
        struct store store;
        store_init(&store);
        struct bb_file_system *fs = bb_file_memory_system(store.memory);
        if (was_there)
            assert_ok(fs->ops->make_directory(fs, STORE_PATH));
        assert_int_equal(open_beside(&store, EIO), BB_IO);
        assert_false(exists(&store, STORE_PATH "/CURRENT"));
        bb_file_memory_destroy(store.memory);
        store_init(&store);
        fs = bb_file_memory_system(store.memory);
        if (was_there)
            assert_ok(fs->ops->make_directory(fs, STORE_PATH));
        assert_int_equal(open_beside(&store, EROFS), was_there ? BB_OK : BB_READ_ONLY);
        bb_file_memory_destroy(store.memory);
    }
}

static void db_open__options_are_checked_first(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.block_size_bytes = 3;
    assert_open_fails(&store, BB_INVALID, "block_size_bytes");
    assert_false(exists(&store, STORE_PATH));
    store.options.block_size_bytes = 0;
    store_open(&store);
    store_deinit(&store);
}

/* The paths of a directory that people write. */
static void db_open__slashes_at_the_end(void **state)
{
    (void)state;
    static const char *const paths[] = {"/data/store", "/data/store/", "/data/store///",
                                        "/data//store"};
    struct store store;
    store_init(&store);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_ok(bb_db_open(paths[i], &store.options, &store.db));
        store_put(&store, "a", "1");
        assert_content(&store, "a=1");
        store_close(&store);
    }
    store_deinit(&store);
}

/* All defaults, on the operating system's files; and no other opening gets the directory. */
static void db_open__by_default(void **state)
{
    (void)state;
    struct bb_temp_dir dir;
    char path[PATH_MAX];
    struct store store = {.options = {.create_if_missing = true}};
    bb_temp_dir_init(&dir, "db_open_test");
    bb_temp_dir_path(&dir, "store", path);
    assert_ok(bb_db_open(path, &store.options, &store.db));
    store_put(&store, "a", "1");
    struct bb_db *second = NULL;
    assert_status(bb_db_open(path, &store.options, &second), BB_BUSY);
    assert_message("LOCK");
    store_close(&store);
    assert_status(bb_db_open(path, NULL, &store.db), BB_OK);
    assert_content(&store, "a=1");
    store_close(&store);
    bb_temp_dir_deinit(&dir);
}

static void db_open__locked(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    assert_open_fails(&store, BB_BUSY, "LOCK");
    struct bb_db_verify_report report;
    assert_status(bb_db_verify(STORE_PATH, &store.options, &report), BB_BUSY);
    store_put(&store, "a", "1");
    assert_content(&store, "a=1");
    store_deinit(&store);
}

/* An active writer replaces its manifest and removes tables during reads: the result "open" has
 * priority over the findings in its directory. */
static void db_open__locked_while_files_change(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_verify_report report;
    size_t size = 0;
    store_init(&store);
    store_open(&store);
    const uint8_t *current = bb_file_memory_bytes(store.memory, STORE_PATH "/CURRENT", &size);
    struct bb_buf kept = {0};
    assert_ok(bb_buf_append(&kept, current, size));
    bb_file_memory_put(store.memory, STORE_PATH "/CURRENT", bb_bytes_of_text("MANIFEST-999999\n"));
    assert_status(bb_db_verify(STORE_PATH, &store.options, &report), BB_BUSY);
    assert_status(bb_db_repair(STORE_PATH, &store.options, NULL, NULL), BB_BUSY);
    assert_status(bb_db_destroy(STORE_PATH, &store.options, NULL), BB_BUSY);
    /* A removal begins with CURRENT. A listing by age may miss a new CURRENT. */
    struct bb_file_system *fs = store.options.file_system;
    assert_ok(fs->ops->remove(fs, STORE_PATH "/CURRENT"));
    struct bb_db_options options = store.options;
    options.create_if_missing = false;
    struct bb_db *second = NULL;
    assert_status(bb_db_open(STORE_PATH, &options, &second), BB_BUSY);
    assert_status(bb_db_verify(STORE_PATH, &store.options, &report), BB_BUSY);
    bb_file_memory_put(store.memory, STORE_PATH "/CURRENT", bb_buf_bytes(&kept));
    bb_buf_deinit(&kept);
    store_deinit(&store);
}

/* The store exists even while another process has it open; and a program that requires a new store
 * does not wait for the lock's holder. */
static void db_open__exists_while_it_is_open(void **state)
{
    (void)state;
    struct bb_temp_dir dir;
    char path[PATH_MAX];
    struct store store = {.options = {.create_if_missing = true, .error_if_exists = true}};
    struct bb_db *second = NULL;
    bb_temp_dir_init(&dir, "db_open_test");
    bb_temp_dir_path(&dir, "store", path);
    assert_ok(bb_db_open(path, &store.options, &store.db));
    assert_status(bb_db_open(path, &store.options, &second), BB_EXISTS);
    assert_message("error_if_exists");
    store_put(&store, "a", "1");
    store_close(&store);
    assert_status(bb_db_open(path, &store.options, &second), BB_EXISTS);
    bb_temp_dir_deinit(&dir);
}

/* ---- Closing ---- */

static void db_open__close_waits_for_iterators_and_snapshots(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_iter *iter = NULL;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    struct bb_snapshot *snapshot = store_snapshot(&store);
    assert_ok(bb_db_iter_create(store.db, NULL, &iter));
    assert_status(bb_db_close(store.db), BB_BUSY);
    assert_message("still open are iterators: 1, snapshots: 1, pinned values: 0");
    bb_snapshot_release(store.db, snapshot);
    assert_status(bb_db_close(store.db), BB_BUSY);
    /* Still open, and whole. */
    bb_db_iter_seek_first(iter);
    assert_true(bb_db_iter_valid(iter));
    store_put(&store, "b", "2");
    assert_content(&store, "a=1 b=2");
    bb_db_iter_destroy(iter);
    store_deinit(&store);
    assert_ok(bb_db_close(NULL));
}

/* ---- Comparators ---- */

static int compare_reverse(void *context, struct bb_bytes a, struct bb_bytes b)
{
    ++*(uint64_t *)context;
    return bb_bytes_compare(b, a);
}

/* ASCII letters without their case. */
static int compare_caseless(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    for (size_t i = 0; i < a.size && i < b.size; i++) {
        int left = a.data[i] | 0x20;
        int right = b.data[i] | 0x20;
        if (left != right)
            return left < right ? -1 : 1;
    }
    return (a.size > b.size) - (a.size < b.size);
}

static void db_open__reverse_order(void **state)
{
    (void)state;
    uint64_t comparisons = 0;
    struct bb_comparator reverse = {
        .name = "reverse", .compare = compare_reverse, .context = &comparisons};
    struct store store;
    struct bb_db_iter *iter = NULL;
    char key[16];
    store_init(&store);
    store.options.comparator = &reverse;
    store.options.compression = BB_COMPRESSION_NONE;
    store_open(&store);
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof(key), "%05d", i * 1237 % 2000);
        store_put(&store, key, "a value of some length, so that memtables are filled and flushed");
        if (i == 1000)
            assert_ok(bb_db_compact(store.db));
    }
    assert_true(store_stats(&store).levels[2].table_count > 1);
    assert_ok(bb_db_iter_create(store.db, NULL, &iter));
    bb_db_iter_seek_first(iter);
    for (int i = 1999; i >= 0; i--, bb_db_iter_next(iter)) {
        snprintf(key, sizeof(key), "%05d", i);
        assert_true(bb_db_iter_valid(iter));
        assert_true(bb_bytes_equal(bb_db_iter_key(iter), bb_bytes_of_text(key)));
    }
    assert_false(bb_db_iter_valid(iter));
    bb_db_iter_seek(iter, bb_bytes_of_text("00100x"));
    assert_true(bb_bytes_equal(bb_db_iter_key(iter), bb_bytes_of_text("00100")));
    bb_db_iter_destroy(iter);
    store_reopen(&store);
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof(key), "%05d", i);
        assert_ok(bb_db_get(store.db, NULL, bb_bytes_of_text(key), NULL));
    }
    assert_get(&store, "00100x", NULL);
    assert_true(comparisons > 0);
    store_deinit(&store);
}

static void db_open__another_comparator_is_refused(void **state)
{
    (void)state;
    uint64_t comparisons = 0;
    struct bb_comparator reverse = {
        .name = "reverse", .compare = compare_reverse, .context = &comparisons};
    struct bb_comparator other = reverse;
    struct store store;
    other.name = "another";
    store_init(&store);
    store.options.comparator = &reverse;
    store_open(&store);
    store_put(&store, "a", "1");
    store_put(&store, "b", "2");
    store_close(&store);
    uint64_t calls = bb_file_memory_calls(store.memory);
    store.options.comparator = NULL;
    assert_open_fails(&store, BB_INVALID, "bytewise");
    assert_message("reverse");
    store.options.comparator = &other;
    assert_open_fails(&store, BB_INVALID, "another");
    /* Only the lock was touched. */
    assert_int_equal(bb_file_memory_calls(store.memory), calls + 2);
    store.options.comparator = &reverse;
    store_open(&store);
    assert_content(&store, "b=2 a=1");
    store_deinit(&store);
}

/* Filters compare bytes, so they must not separate a key from its equals. */
static void db_open__comparator_that_equates(void **state)
{
    (void)state;
    struct bb_comparator caseless = {
        .name = "caseless", .compare = compare_caseless, .equates_different_bytes = true};
    struct store store;
    store_init(&store);
    store.options.comparator = &caseless;
    store_open(&store);
    for (int compacted = 0; compacted < 3; compacted++) {
        store_put(&store, "Key", "1");
        store_put(&store, "other", "2");
        assert_get(&store, "KEY", "1");
        if (compacted > 0)
            assert_ok(compacted == 1 ? bb_db_flush(store.db) : bb_db_compact(store.db));
        assert_get(&store, "kEY", "1");
        store_put(&store, "KEY", "3");
        assert_get(&store, "key", "3");
        assert_content(&store, "KEY=3 other=2");
        store_delete(&store, "keY");
        if (compacted > 0)
            assert_ok(compacted == 1 ? bb_db_flush(store.db) : bb_db_compact(store.db));
        assert_get(&store, "Key", NULL);
        assert_content(&store, "other=2");
    }
    store_deinit(&store);
}

/* ---- Reopening with other options ---- */

static void draw_options(struct bb_db_options *options, struct bb_rng *rng)
{
    static const enum bb_filter_kind kinds[] = {BB_FILTER_RIBBON, BB_FILTER_BLOOM,
                                                BB_FILTER_BLOCKED_BLOOM, BB_FILTER_NONE};
    options->block_size_bytes = (uint32_t)bb_rng_between(rng, 64, 5000);
    options->restart_interval = (uint32_t)bb_rng_between(rng, 1, 30);
    options->filter_kind = kinds[bb_rng_below(rng, 4)];
    options->filter_granularity = bb_rng_one_in(rng, 2) ? BB_GRANULARITY_PAGE : 1;
    options->filter_amount =
        (struct bb_filter_amount){BB_FILTER_WASTED_READS, bb_rng_one_in(rng, 2) ? 0.3 : 0.001};
    if (options->filter_kind == BB_FILTER_NONE)
        options->filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, 0};
    options->compression = bb_rng_one_in(rng, 2) ? BB_COMPRESSION_NONE : BB_COMPRESSION_LZ4;
    options->index_residency = bb_rng_one_in(rng, 2) ? BB_INDEX_PINNED : BB_INDEX_CACHED;
    options->cache_off = bb_rng_one_in(rng, 3);
    options->wal_off = bb_rng_one_in(rng, 4);
    options->wal_buffer_bytes = bb_rng_one_in(rng, 2) ? 0 : 1000;
    options->deterministic = !bb_rng_one_in(rng, 4);
    options->write_buffer_bytes = bb_rng_between(rng, 64, 200) * 1024;
}

static void db_open__any_mixture_of_options(void **state)
{
    (void)state;
    enum { ROUNDS = 12, KEYS = 400 };
    struct store store;
    struct bb_rng rng;
    int written[KEYS] = {0};
    char key[16];
    char value[128];
    bb_rng_init(&rng, bb_rng_seed("db_open_test", 1));
    store_init(&store);
    for (int round = 1; round <= ROUNDS; round++) {
        draw_options(&store.options, &rng);
        store_open(&store);
        for (int i = 0; i < KEYS; i++) {
            snprintf(key, sizeof(key), "key%04d", i);
            snprintf(value, sizeof(value), "%d %080d", written[i], i);
            assert_get(&store, key, written[i] == 0 ? NULL : value);
            if (!bb_rng_one_in(&rng, 2))
                continue;
            written[i] = round;
            snprintf(value, sizeof(value), "%d %080d", round, i);
            store_put(&store, key, value);
        }
        if (bb_rng_one_in(&rng, 3))
            assert_ok(bb_db_compact(store.db));
        store_close(&store);
        (void)store_verify(&store);
    }
    store_deinit(&store);
}

/* Writes without a log are durable after close has succeeded. */
static void db_open__without_a_log_close_flushes(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.wal_off = true;
    store_open(&store);
    store_put(&store, "a", "1");
    assert_status(bb_db_put(store.db, &(struct bb_write_options){.sync = true},
                            bb_bytes_of_text("b"), bb_bytes_of_text("2")),
                  BB_INVALID);
    assert_message(STORE_PATH ": a write with sync needs the log");
    assert_message("wal_off");
    assert_message("bb_db_flush"); /* what to do */
    store_close(&store);
    store_open(&store);
    assert_content(&store, "a=1");
    store_put(&store, "c", "3");
    assert_ok(bb_db_flush(store.db));
    store_put(&store, "lost with the process", "4");
    store_kill(&store);
    assert_content(&store, "a=1 c=3");
    /* With the log enabled again, writes without it are still present. */
    store.options.wal_off = false;
    store_reopen(&store);
    store_put(&store, "d", "5");
    store_kill(&store);
    assert_content(&store, "a=1 c=3 d=5");
    store_deinit(&store);
}

static void db_open__the_secret_is_kept(void **state)
{
    (void)state;
    struct bb_hash_secret first;
    struct bb_hash_secret other;
    struct bb_hash_secret found;
    struct store store;
    bb_hash_secret_from_seed(1, &first);
    bb_hash_secret_from_seed(2, &other);
    store_init(&store);
    store.options.secret = &first;
    store_open(&store);
    bb_db_secret(store.db, &found);
    assert_memory_equal(&found, &first, sizeof(first));
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    store.options.secret = &other;
    store_reopen(&store);
    bb_db_secret(store.db, &found);
    assert_memory_equal(&found, &first, sizeof(first));
    assert_content(&store, "a=1");
    store.options.secret = NULL;
    store_reopen(&store);
    bb_db_secret(store.db, &found);
    assert_memory_equal(&found, &first, sizeof(first));
    store_deinit(&store);
}

/* Each store draws a different one. */
static void db_open__secrets_differ(void **state)
{
    (void)state;
    struct bb_hash_secret secrets[2];
    for (size_t i = 0; i < 2; i++) {
        struct bb_temp_dir dir;
        char path[PATH_MAX];
        struct bb_db *db = NULL;
        bb_temp_dir_init(&dir, "db_open_test");
        assert_ok(bb_db_open(bb_temp_dir_path(&dir, "store", path),
                             &(struct bb_db_options){.create_if_missing = true}, &db));
        bb_db_secret(db, &secrets[i]);
        assert_ok(bb_db_close(db));
        bb_temp_dir_deinit(&dir);
    }
    assert_memory_not_equal(&secrets[0], &secrets[1], sizeof(secrets[0]));
}

/* Sequences and file numbers continue, after many openings without work. */
static void db_open__a_hundred_times(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_system *fs = NULL;
    store_init(&store);
    fs = bb_file_memory_system(store.memory);
    store_open(&store);
    store_put(&store, "a", "1");
    for (int i = 0; i < 100; i++) {
        struct bb_file_names names = {0};
        store_reopen(&store);
        assert_int_equal(store_stats(&store).last_sequence, 1);
        assert_ok(fs->ops->list(fs, STORE_PATH, &names));
        /* CURRENT, LOCK, a manifest, a log, a table. */
        assert_int_equal(names.count, 5);
        bb_file_names_deinit(&names);
    }
    assert_content(&store, "a=1");
    struct bb_db_verify_report report;
    store_close(&store);
    report = store_verify(&store);
    assert_int_equal(report.tables, 1);
    assert_int_equal(report.entries, 1);
    assert_int_equal(report.orphans, 0);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_open__is_not_created_unasked),
        cmocka_unit_test(db_open__leaves_another_directory_alone),
        cmocka_unit_test(db_open__error_if_exists),
        cmocka_unit_test(db_open__parent_must_be_there),
        cmocka_unit_test(db_open__parent_is_synced),
        cmocka_unit_test(db_open__options_are_checked_first),
        cmocka_unit_test(db_open__slashes_at_the_end),
        cmocka_unit_test(db_open__by_default),
        cmocka_unit_test(db_open__locked),
        cmocka_unit_test(db_open__locked_while_files_change),
        cmocka_unit_test(db_open__exists_while_it_is_open),
        cmocka_unit_test(db_open__close_waits_for_iterators_and_snapshots),
        cmocka_unit_test(db_open__reverse_order),
        cmocka_unit_test(db_open__another_comparator_is_refused),
        cmocka_unit_test(db_open__comparator_that_equates),
        cmocka_unit_test(db_open__any_mixture_of_options),
        cmocka_unit_test(db_open__without_a_log_close_flushes),
        cmocka_unit_test(db_open__the_secret_is_kept),
        cmocka_unit_test(db_open__secrets_differ),
        cmocka_unit_test(db_open__a_hundred_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
