/* Goal: LevelDB's bugs do not occur here. Each test is named after the issue and the bug; most are
 * a small version of the reported scenario. Method: a store on a file system in memory that forgets
 * unsynced data, or lets calls fail. */
#include "tests/support/store.h"

#include <errno.h>

#include "tests/support/file_fault.h"

static const struct bb_write_options synced = {.sync = true};

/* Wraps the store's file system with one that can fail. The store is not opened. */
static struct bb_file_fault *init_with_fault(struct store *store)
{
    store_init(store);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store->memory));
    store->options.file_system = bb_file_fault_system(fault);
    return fault;
}

/* The disk after the given crash; the open store is abandoned. */
static void continue_on(struct store *store, struct bb_file_fault *fault,
                        struct bb_file_memory *image)
{
    (void)!bb_db_close(store->db);
    store->db = NULL;
    if (fault != NULL)
        bb_file_fault_destroy(fault);
    store_replace_disk(store, image);
    store_open(store);
}

/* 320, 376, 339, 887: versions of one key lay in two tables of a level, and the older one surfaced.
 */
static void leveldb_320_versions_split_over_files(void **state)
{
    (void)state;
    enum { VERSIONS = 240 };
    struct bb_snapshot *snapshots[VERSIONS];
    char value[320];
    struct store store;
    store_init(&store);
    store.options.table_size_bytes = 4096;
    store.options.compression = BB_COMPRESSION_NONE;
    store.options.level0_run_count_compact = 2;
    store.options.level1_size_bytes = 8192;
    store.options.level_size_ratio = 2;
    store_open(&store);
    for (int i = 0; i < VERSIONS; i++) {
        snprintf(value, sizeof(value), "%0300d", i);
        store_put(&store, "the one", value);
        store_put(&store, i % 2 == 0 ? "before" : "what comes after", value);
        snapshots[i] = store_snapshot(&store);
        if (i % 20 == 19)
            assert_ok(bb_db_flush(store.db));
        if (i % 100 == 99)
            assert_ok(bb_db_compact(store.db));
    }
    for (int i = 0; i < VERSIONS; i++) {
        snprintf(value, sizeof(value), "%0300d", i);
        assert_get_at(store.db, snapshots[i], "the one", value);
        bb_snapshot_release(store.db, snapshots[i]);
    }
    store_close(&store);
    (void)store_verify(&store); /* levels do not overlap */
    store_open(&store);
    assert_get(&store, "the one", value);
    store_deinit(&store);
}

/* 184 (issue 178): after a manual compaction, deleted keys were there again. */
static void leveldb_184_manual_compaction_resurrects(void **state)
{
    (void)state;
    enum { KEYS = 3000 };
    char key[32];
    struct bb_db_iter *iter = NULL;
    struct store store;
    int count = 0;
    store_init(&store);
    store_open(&store);
    for (int half = 1; half <= 2; half++) {
        for (int i = 0; i < KEYS; i++) {
            snprintf(key, sizeof(key), "my_key_%d.%d", half, i);
            store_put(&store, key, "value for range of keys");
        }
    }
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "my_key_2.%d", i);
        store_delete(&store, key);
    }
    assert_ok(bb_db_compact(store.db));
    assert_ok(bb_db_iter_create(store.db, NULL, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        count++;
    bb_db_iter_destroy(iter);
    assert_int_equal(count, KEYS);
    assert_get(&store, "my_key_2.0", NULL);
    store_deinit(&store);
}

/* 200: after a change of direction an iterator was at the wrong key. */
static void leveldb_200_direction_change(void **state)
{
    (void)state;
    struct bb_db_iter *iter = NULL;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "1", "b");
    store_put(&store, "2", "c");
    store_put(&store, "3", "d");
    store_put(&store, "4", "e");
    store_put(&store, "5", "f");
    assert_ok(bb_db_iter_create(store.db, NULL, &iter));
    store_put(&store, "25", "cd"); /* the iterator does not see it */
    bb_db_iter_seek(iter, bb_bytes_of_text("5"));
    static const char expected[] = "54323454";
    for (size_t i = 0; i + 1 < sizeof(expected); i++) {
        assert_true(bb_db_iter_valid(iter));
        assert_int_equal(bb_db_iter_key(iter).size, 1);
        assert_int_equal(bb_db_iter_key(iter).data[0], expected[i]);
        if (expected[i + 1] < expected[i])
            bb_db_iter_prev(iter);
        else
            bb_db_iter_next(iter);
    }
    bb_db_iter_destroy(iter);
    store_deinit(&store);
}

/* 74, 189: CURRENT or the first manifest was empty after a power failure, because it was not
 * synced. */
static void leveldb_189_first_manifest_not_synced(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store.options.create_if_missing = false;
    store_cut_power(&store);
    assert_content(&store, "");
    store_deinit(&store);
}

struct removals {
    struct bb_file_memory *images[64];
    size_t count;
};

static enum bb_status keep_image(void *context, struct bb_file_memory *memory, uint64_t number,
                                 enum bb_file_call call, const char *path)
{
    struct removals *removals = context;
    (void)number;
    (void)path;
    if (call == BB_FILE_CALL_REMOVE && removals->count < 64)
        removals->images[removals->count++] = bb_file_memory_crash(memory, &(struct bb_crash){0});
    return BB_OK;
}

/* 195: the old manifest and log were removed, although their replacements were not durable. */
static void leveldb_195_removed_too_early(void **state)
{
    (void)state;
    struct removals removals = {.count = 0};
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    store_close(&store);
    bb_file_memory_set_hook(store.memory, keep_image, &removals);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_compact(store.db));
    store_close(&store);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_true(removals.count >= 3); /* a manifest, a log, a table at least */
    for (size_t i = 0; i < removals.count; i++) {
        /* The power fails at the moment when the file would have gone, and takes the removal along.
         */
        struct bb_db_options options = store_options(removals.images[i]);
        struct bb_db *db = NULL;
        assert_ok(bb_db_open(STORE_PATH, &options, &db));
        assert_get_at(db, NULL, "a", "1");
        assert_ok(bb_db_close(db));
        bb_file_memory_destroy(removals.images[i]);
    }
    store_deinit(&store);
}

/* The place in the log of calls of the first call of that kind for such a path, from a place on. */
static size_t find_call(const struct bb_file_fault_record *log, size_t count, size_t from,
                        enum bb_file_call call, const char *part)
{
    for (size_t i = from; i < count; i++) {
        if (log[i].call == call && strstr(log[i].path, part) != NULL)
            return i;
    }
    fail_msg("no %s of %s", bb_file_call_name(call), part);
    return count;
}

/* 333: the manifest named a table of length zero. */
static void leveldb_333_table_synced_before_manifest(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_fault *fault = init_with_fault(&store);
    size_t count = 0;
    store_open(&store);
    store_put(&store, "a", "1");
    bb_file_fault_log_enable(fault, true);
    assert_ok(bb_db_flush(store.db));
    const struct bb_file_fault_record *log = bb_file_fault_log(fault, &count);
    size_t create = find_call(log, count, 0, BB_FILE_CALL_CREATE, ".bbt");
    size_t sync = find_call(log, count, create, BB_FILE_CALL_SYNC, ".bbt");
    size_t names = find_call(log, count, sync, BB_FILE_CALL_SYNC_DIRECTORY, STORE_PATH);
    size_t named = find_call(log, count, create, BB_FILE_CALL_APPEND, "MANIFEST");
    size_t durable = find_call(log, count, named, BB_FILE_CALL_SYNC, "MANIFEST");
    size_t removed = find_call(log, count, 0, BB_FILE_CALL_REMOVE, ".wal");
    assert_true(sync < names && names < named && durable < removed);
    continue_on(&store, fault, bb_file_memory_crash(store.memory, &(struct bb_crash){0}));
    assert_content(&store, "a=1");
    store_deinit(&store);
}

/* 577, 578: an append failed for lack of space; when space was available again, a synced write was
 * acknowledged after the gap, and lost. */
static void leveldb_577_synced_write_after_a_failed_one(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_fault *fault = init_with_fault(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.mode = BB_FILE_FAULT_SHORT_WRITE,
                                                          .path_part = ".wal",
                                                          .nth = 1,
                                                          .error_number = ENOSPC});
    assert_status(bb_db_put(store.db, NULL, bb_bytes_of_text("b"), bb_bytes_of_text("2")),
                  BB_NO_SPACE);
    bb_file_fault_disarm(fault);
    assert_ok(bb_db_put(store.db, &synced, bb_bytes_of_text("c"), bb_bytes_of_text("3")));
    continue_on(&store, fault, bb_file_memory_crash(store.memory, &(struct bb_crash){0}));
    assert_get(&store, "a", "1");
    assert_get(&store, "c", "3");
    store_deinit(&store);
}

/* 1081: the log's close failed without a report, and an earlier write was lost while a later one
 * was not. */
static void leveldb_1081_close_error_ignored(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_fault *fault = init_with_fault(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    bb_file_fault_arm(
        fault, &(struct bb_file_fault_plan){
                   .call = BB_FILE_CALL_SYNC, .path_part = ".wal", .nth = 1, .lasting = true});
    assert_status(bb_db_close(store.db), BB_IO);
    store.db = NULL;
    bb_file_fault_destroy(fault);
    store.options.file_system = bb_file_memory_system(store.memory);
    store_open(&store);
    assert_content(&store, "a=1");
    store_deinit(&store);
}

/* 1285: a short read was mistaken for the end of the log. */
static void leveldb_1285_short_read_taken_for_the_end(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_fault *fault = init_with_fault(&store);
    char key[16];
    char value[2500];
    static char expected[64 * 1024];
    store_open(&store);
    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = 0;
    for (int i = 0; i < 20; i++) { /* the log has two blocks */
        snprintf(key, sizeof(key), "%03d", i);
        store_put(&store, key, value);
    }
    store_print(store.db, NULL, false, expected, sizeof(expected));
    for (uint64_t nth = 1; nth < 4; nth++) {
        struct bb_file_memory *image = bb_file_memory_clone(store.memory);
        struct bb_file_fault *reading = bb_file_fault_create(bb_file_memory_system(image));
        struct bb_db_options options = store_options(image);
        struct bb_db *db = NULL;
        options.file_system = bb_file_fault_system(reading);
        bb_file_fault_arm(reading, &(struct bb_file_fault_plan){.mode = BB_FILE_FAULT_SHORT_READ,
                                                                .path_part = ".wal",
                                                                .nth = nth,
                                                                .lasting = nth == 3});
        if (bb_db_open(STORE_PATH, &options, &db) == BB_OK) {
            assert_content_at(db, NULL, expected); /* it was read again */
            assert_ok(bb_db_close(db));
        } else {
            bb_file_fault_disarm(reading);
            assert_ok(bb_db_open(STORE_PATH, &options, &db));
            assert_content_at(db, NULL, expected); /* the refusal lost no data */
            assert_ok(bb_db_close(db));
        }
        assert_true(nth > 2 || bb_file_fault_hits(reading) > 0);
        bb_file_fault_destroy(reading);
        bb_file_memory_destroy(image);
    }
    store_close(&store);
    bb_file_fault_destroy(fault);
    store.options.file_system = bb_file_memory_system(store.memory);
    store_deinit(&store);
}

/* 1287: a torn log was used again; records after the tear could not be read. */
static void leveldb_1287_torn_log_appended_to(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        struct store store;
        store_init(&store);
        store_open(&store);
        store_put_synced(&store, "a", "1");
        store_put(&store, "b", "perhaps lost, perhaps in part");
        struct bb_crash torn = {
            .bytes = BB_CRASH_BYTES_TORN_BYTE, .names = BB_CRASH_NAMES_ALL, .seed = seed};
        continue_on(&store, NULL, bb_file_memory_crash(store.memory, &torn));
        assert_get(&store, "a", "1");
        store_put(&store, "c", "3");
        store_kill(&store);
        assert_get(&store, "a", "1");
        assert_get(&store, "c", "3");
        store_deinit(&store);
    }
}

/* 779: CURRENT held two lines, and all of it was used as a path. */
static void leveldb_779_current_of_two_lines(void **state)
{
    (void)state;
    static const char lines[] = "MANIFEST-000001\nMANIFEST-000001\n";
    struct bb_db *db = NULL;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_close(&store);
    size_t size = 0;
    uint8_t *current = bb_file_memory_bytes(store.memory, STORE_PATH "/CURRENT", &size);
    char sound[64];
    snprintf(sound, sizeof(sound), "%.*s", (int)size, (const char *)current);
    bb_file_memory_put(store.memory, STORE_PATH "/CURRENT", bb_bytes_of_text(lines));
    assert_status(bb_db_open(STORE_PATH, &store.options, &db), BB_CORRUPT);
    assert_message("CURRENT");
    bb_file_memory_put(store.memory, STORE_PATH "/CURRENT", bb_bytes_of_text(sound));
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leveldb_320_versions_split_over_files),
        cmocka_unit_test(leveldb_184_manual_compaction_resurrects),
        cmocka_unit_test(leveldb_200_direction_change),
        cmocka_unit_test(leveldb_189_first_manifest_not_synced),
        cmocka_unit_test(leveldb_195_removed_too_early),
        cmocka_unit_test(leveldb_333_table_synced_before_manifest),
        cmocka_unit_test(leveldb_577_synced_write_after_a_failed_one),
        cmocka_unit_test(leveldb_1081_close_error_ignored),
        cmocka_unit_test(leveldb_1285_short_read_taken_for_the_end),
        cmocka_unit_test(leveldb_1287_torn_log_appended_to),
        cmocka_unit_test(leveldb_779_current_of_two_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
