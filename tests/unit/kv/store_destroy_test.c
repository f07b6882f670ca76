/* Goal: bb_db_destroy removes a store, intact or damaged, and no other file: no other program's
 * file, no file in use, no unknown file. Method: stores on a file system in memory, with foreign
 * files, in other programs' directories, with each call failing. Power failures:
 * tests/crash/destroy_test.c. */
#include "bb/db_files.h"
#include "base/buf.h"
#include "tests/support/store.h"

#include "tests/support/file_fault.h"

static bool exists(struct store *store, const char *path)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    bool is_directory = false;
    uint64_t size = 0;
    return fs->ops->status(fs, path, &is_directory, &size) == BB_OK;
}

/* A store with tables in two levels and something in its log. */
static void fill(struct store *store)
{
    store_init(store);
    store_open(store);
    store_put(store, "a", "1");
    assert_ok(bb_db_compact(store->db));
    store_put(store, "b", "2");
    assert_ok(bb_db_flush(store->db));
    store_put(store, "c", "3");
    store_close(store);
}

static void put_file(struct store *store, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), STORE_PATH "/%s", name);
    bb_file_memory_put(store->memory, path, bb_bytes_of_text(text));
}

static void store_destroy__leaves_nothing(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_destroy_report report = {0};
    fill(&store);
    assert_ok(bb_db_destroy(STORE_PATH, &store.options, &report));
    assert_true(report.removed >= 5); /* CURRENT, manifest, log, two tables */
    assert_true(report.removed_bytes > 500);
    assert_int_equal(report.foreign, 0);
    assert_true(report.directory_removed);
    assert_false(exists(&store, STORE_PATH));
    assert_status(bb_db_destroy(STORE_PATH, &store.options, NULL), BB_NOT_FOUND);
    /* A new store has no old data. */
    store_open(&store);
    assert_content(&store, "");
    store_deinit(&store);
}

static void store_destroy__leaves_foreign_files(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_destroy_report report = {0};
    fill(&store);
    put_file(&store, "letter.txt", "dear");
    put_file(&store, "000007.wal.damaged", "kept for a look");
    assert_ok(bb_db_destroy(STORE_PATH, &store.options, &report));
    assert_int_equal(report.foreign, 2);
    assert_false(report.directory_removed);
    assert_true(exists(&store, STORE_PATH "/letter.txt"));
    assert_true(exists(&store, STORE_PATH "/000007.wal.damaged"));
    assert_false(exists(&store, STORE_PATH "/CURRENT"));
    assert_false(exists(&store, STORE_PATH "/LOCK"));
    store_open(&store);
    assert_content(&store, "");
    store_deinit(&store);
}

static void store_destroy__of_an_open_store_is_refused(void **state)
{
    (void)state;
    struct store store;
    fill(&store);
    store_open(&store);
    assert_status(bb_db_destroy(STORE_PATH, &store.options, NULL), BB_BUSY);
    assert_content(&store, "a=1 b=2 c=3");
    store_reopen(&store);
    assert_content(&store, "a=1 b=2 c=3");
    store_deinit(&store);
}

static void assert_refused(struct store *store, const char *path)
{
    struct bb_db_destroy_report report = {.removed = 77};
    uint64_t calls = bb_file_memory_calls(store->memory);
    assert_status(bb_db_destroy(path, &store->options, &report), BB_INVALID);
    assert_message(path);
    assert_int_equal(report.removed, 77);
    assert_int_equal(bb_file_memory_calls(store->memory), calls);
}

/* LevelDB's and RocksDB's stores have a CURRENT and manifests with names like ours. */
static void store_destroy__of_another_programs_directory_is_refused(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"CURRENT", "MANIFEST-000002\n"}, {"MANIFEST-000002", "VZ3 leveldb.BytewiseComparator"},
        {"000003.log", "record"},         {"000005.ldb", "table"},
        {"000007.tmp", "MANIFEST"},       {"000009.wal", "bb.lo"},
        {"000011.bbt", "a short table"},  {"LOCK", ""},
    };
    struct store store;
    store_init(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->make_directory(fs, STORE_PATH));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        put_file(&store, names[i][0], names[i][1]);
        assert_refused(&store, STORE_PATH);
    }
    assert_ok(fs->ops->remove(fs, STORE_PATH "/CURRENT"));
    assert_refused(&store, STORE_PATH);
    bb_file_memory_put(store.memory, "/data/file", bb_bytes_of_text("text"));
    assert_refused(&store, "/data/file");
    assert_status(bb_db_destroy("", &store.options, NULL), BB_INVALID);
    bb_file_memory_destroy(store.memory);
}

/* Without CURRENT: one file that another program may have written is enough. */
static void store_destroy__of_a_single_foreign_file_is_refused(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"letter.txt", "dear"},
        {"MANIFEST-000002", "VZ3 leveldb.BytewiseComparator"},
        {"MANIFEST-000002", "V"},
        {"CURRENT", "MANIFEST-000002\n"},
        {"000009.wal", "record of another program"},
        {"000007.tmp", "temporary"},
        {"LOCK", "0123456789012345678901234567890123"},
        {"000003.log", "record"},
        {"CURRENT", ""},
        {"000009.wal.damaged", "b"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct store store;
        store_init(&store);
        struct bb_file_system *fs = bb_file_memory_system(store.memory);
        assert_ok(fs->ops->make_directory(fs, STORE_PATH));
        put_file(&store, names[i][0], names[i][1]);
        assert_refused(&store, STORE_PATH);
        put_file(&store, "000011.bbt", "a short table");
        put_file(&store, "LOCK", strcmp(names[i][0], "LOCK") == 0 ? names[i][1] : "");
        assert_refused(&store, STORE_PATH);
        bb_file_memory_destroy(store.memory);
    }
}

/* The leftovers of a crashed creation, checkpoint or removal: no files, or truncated ones. */
static void store_destroy__of_the_rest_of_an_attempt(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {NULL, NULL},
        {"LOCK", ""},
        {"LOCK", "12345\n"},
        {"000003.bbt", "half"},
        {"000004.bbt.new", "half"},
        {"MANIFEST-000001", ""},
        {"MANIFEST-000001", "bb.l"},
        {"000002.wal", ""},
        {"000001.tmp", "MANI"},
        {"000001.tmp", "MANIFEST-000001\n"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (size_t j = 0; j <= i; j++) {
            struct store store;
            struct bb_db_destroy_report report = {0};
            store_init(&store);
            struct bb_file_system *fs = bb_file_memory_system(store.memory);
            assert_ok(fs->ops->make_directory(fs, STORE_PATH));
            if (names[i][0] != NULL)
                put_file(&store, names[i][0], names[i][1]);
            if (names[j][0] != NULL)
                put_file(&store, names[j][0], names[j][1]);
            assert_ok(bb_db_destroy(STORE_PATH, &store.options, &report));
            assert_true(report.directory_removed);
            assert_false(exists(&store, STORE_PATH));
            bb_file_memory_destroy(store.memory);
        }
    }
}

/* A power failure may leave zeros where bytes were written. */
static void store_destroy__of_a_rest_of_zeros(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->make_directory(fs, STORE_PATH));
    bb_file_memory_put(store.memory, STORE_PATH "/MANIFEST-000001",
                       bb_bytes_of((const uint8_t *)"\0\0\0\0\0\0\0\0\0\0\0", 11));
    assert_ok(bb_db_destroy(STORE_PATH, &store.options, NULL));
    assert_false(exists(&store, STORE_PATH));
    bb_file_memory_destroy(store.memory);
}

/* With any missing or damaged files, as long as one file identifies the store. */
static void store_destroy__of_a_damaged_store(void **state)
{
    (void)state;
    static const char *const spoilt[] = {"CURRENT", "MANIFEST", ".wal", ".bbt"};
    for (size_t i = 0; i < sizeof(spoilt) / sizeof(spoilt[0]); i++) {
        struct store store;
        struct bb_file_names names = {0};
        fill(&store);
        struct bb_file_system *fs = bb_file_memory_system(store.memory);
        assert_ok(fs->ops->list(fs, STORE_PATH, &names));
        for (size_t j = 0; j < names.count; j++) {
            if (strstr(names.names[j], spoilt[i]) != NULL)
                put_file(&store, names.names[j], "rubbish");
        }
        bb_file_names_deinit(&names);
        assert_ok(bb_db_destroy(STORE_PATH, &store.options, NULL));
        assert_false(exists(&store, STORE_PATH));
        bb_file_memory_destroy(store.memory);
    }
}

/* Flips the first bit of every manifest and log. */
static void spoil_headers(struct store *store)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_file_names names = {0};
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        char path[128];
        struct bb_buf contents = {0};
        if (strstr(names.names[i], "MANIFEST") == NULL && strstr(names.names[i], ".wal") == NULL)
            continue;
        snprintf(path, sizeof(path), STORE_PATH "/%s", names.names[i]);
        assert_ok(bb_file_read_whole(fs, path, SIZE_MAX, &contents));
        contents.data[0] ^= 1;
        bb_file_memory_put(store->memory, path, bb_buf_bytes(&contents));
        bb_buf_deinit(&contents);
    }
    bb_file_names_deinit(&names);
}

/* The n-th call of the file system fails. Returns 0 if there are fewer calls. */
static uint64_t destroy_failing_at(const struct store *store, uint64_t nth)
{
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store->memory));
    struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_ANY, .nth = nth};
    struct bb_db_options options = store->options;
    options.file_system = bb_file_fault_system(fault);
    bb_file_fault_arm(fault, &plan);
    enum bb_status status = bb_db_destroy(STORE_PATH, &options, NULL);
    uint64_t hits = bb_file_fault_hits(fault);
    assert_true(status == BB_OK || status == BB_IO);
    bb_file_fault_destroy(fault);
    return hits;
}

/* No magic number is left, but the manifest's records are. The removal can be interrupted. */
static void store_destroy__of_damaged_headers_without_tables(void **state)
{
    (void)state;
    uint64_t failures = 0;
    for (uint64_t nth = 1; nth == failures + 1; nth++) {
        struct store store;
        store_init(&store);
        store_open(&store);
        store_put(&store, "a", "1");
        store_close(&store);
        spoil_headers(&store);
        failures += destroy_failing_at(&store, nth);
        if (exists(&store, STORE_PATH))
            assert_ok(bb_db_destroy(STORE_PATH, &store.options, NULL));
        assert_false(exists(&store, STORE_PATH));
        bb_file_memory_destroy(store.memory);
    }
    assert_true(failures > 20);
}

/* After a failed attempt the rest is intact, or an opening refuses it; a second attempt finishes,
 * and a checkpoint can use the name. */
static void check_rest(struct store *store)
{
    struct bb_db_options options = store->options;
    options.file_system = bb_file_memory_system(store->memory);
    options.create_if_missing = false;
    struct bb_db *db = NULL;
    enum bb_status status = bb_db_open(STORE_PATH, &options, &db);
    if (status == BB_OK) {
        assert_content_at(db, NULL, "a=1 b=2 c=3");
        assert_ok(bb_db_close(db));
    } else {
        assert_true(status == BB_CORRUPT || status == BB_NOT_FOUND);
    }
    if (!exists(store, STORE_PATH))
        return;
    assert_ok(bb_db_destroy(STORE_PATH, &options, NULL));
    assert_false(exists(store, STORE_PATH));
    options.create_if_missing = true;
    assert_ok(bb_db_open("/data/other", &options, &db));
    assert_ok(bb_db_checkpoint(db, STORE_PATH));
    assert_ok(bb_db_close(db));
}

static void store_destroy__goes_on_where_a_call_failed(void **state)
{
    (void)state;
    uint64_t failures = 0;
    for (uint64_t nth = 1; nth == failures + 1; nth++) {
        struct store store;
        fill(&store);
        failures += destroy_failing_at(&store, nth);
        check_rest(&store);
        bb_file_memory_destroy(store.memory);
    }
    assert_true(failures > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_destroy__leaves_nothing),
        cmocka_unit_test(store_destroy__leaves_foreign_files),
        cmocka_unit_test(store_destroy__of_an_open_store_is_refused),
        cmocka_unit_test(store_destroy__of_another_programs_directory_is_refused),
        cmocka_unit_test(store_destroy__of_a_single_foreign_file_is_refused),
        cmocka_unit_test(store_destroy__of_the_rest_of_an_attempt),
        cmocka_unit_test(store_destroy__of_a_rest_of_zeros),
        cmocka_unit_test(store_destroy__of_a_damaged_store),
        cmocka_unit_test(store_destroy__of_damaged_headers_without_tables),
        cmocka_unit_test(store_destroy__goes_on_where_a_call_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
