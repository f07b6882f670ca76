/* Goal: RocksDB's bugs do not occur here. Each test is named after the issue or pull request and
 * the bug. Method: small scenarios, on a file system in memory that forgets unsynced data, or lets
 * calls fail. */
#include "tests/support/store.h"

#include <errno.h>

#include "base/sync.h"
#include "tests/support/file_fault.h"

static struct bb_file_fault *init_with_fault(struct store *store)
{
    store_init(store);
    store->options.read_mode = BB_READ_CALLS; /* the faults are failures of reads */
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store->memory));
    store->options.file_system = bb_file_fault_system(fault);
    return fault;
}

/* The store continues on the present disk, as after a crash of its process. */
static void restart_without_fault(struct store *store, struct bb_file_fault *fault)
{
    struct bb_file_memory *image = bb_file_memory_clone(store->memory);
    (void)!bb_db_close(store->db);
    store->db = NULL;
    bb_file_fault_destroy(fault);
    store_replace_disk(store, image);
    store_open(store);
}

/* 4024: versions of a key that lay on both sides of a border of filters were in the first one only.
 */
static void rocksdb_4024_version_straddles_filters(void **state)
{
    (void)state;
    enum { VERSIONS = 60 };
    static const enum bb_filter_kind kinds[] = {BB_FILTER_RIBBON, BB_FILTER_BLOOM,
                                                BB_FILTER_BLOCKED_BLOOM};
    for (size_t kind = 0; kind < 3; kind++) {
        struct bb_snapshot *snapshots[VERSIONS];
        char value[64];
        struct store store;
        store_init(&store);
        store.options.filter_kind = kinds[kind];
        store.options.filter_amount = (struct bb_filter_amount){
            BB_FILTER_WASTED_READS, 1e-4};   /* a filter without the key would return no */
        store.options.block_size_bytes = 64; /* every block has two or three versions */
        store.options.compression = BB_COMPRESSION_NONE;
        store_open(&store);
        for (int i = 0; i < VERSIONS; i++) {
            snprintf(value, sizeof(value), "version_%02d", i);
            store_put(&store, "key", value);
            store_put(&store, "kez", value);
            snapshots[i] = store_snapshot(&store);
        }
        for (int compacted = 0; compacted < 2; compacted++) {
            assert_ok(compacted != 0 ? bb_db_compact(store.db) : bb_db_flush(store.db));
            for (int i = 0; i < VERSIONS; i++) {
                snprintf(value, sizeof(value), "version_%02d", i);
                assert_get_at(store.db, snapshots[i], "key", value);
                assert_get_at(store.db, snapshots[i], "kez", value);
            }
        }
        for (int i = 0; i < VERSIONS; i++)
            bb_snapshot_release(store.db, snapshots[i]);
        store_deinit(&store);
    }
}

/* 13155: a key was dropped when a snapshot had sequence 0. */
static void rocksdb_13155_snapshot_of_sequence_zero(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    struct bb_snapshot *zero = store_snapshot(&store);
    store_put(&store, "a", "1");
    store_put(&store, "b", "1");
    store_delete(&store, "b");
    for (int i = 0; i < 3; i++) {
        assert_ok(bb_db_compact(store.db));
        assert_content(&store, "a=1");
        assert_content_at(store.db, zero, "");
        store_put(&store, "c", "2");
        store_delete(&store, "c");
    }
    bb_snapshot_release(store.db, zero);
    store_deinit(&store);
}

/* 1370: recovery replayed logs whose contents were in tables already. */
static void rocksdb_1370_obsolete_logs_replayed(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_fault *fault = init_with_fault(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    store_put(&store, "a", "2");
    /* The log cannot be removed. */
    bb_file_fault_arm(
        fault, &(struct bb_file_fault_plan){
                   .call = BB_FILE_CALL_REMOVE, .path_part = ".wal", .nth = 1, .lasting = true});
    assert_ok(bb_db_flush(store.db));
    store_delete(&store, "a");
    store_put(&store, "b", "3");
    assert_ok(bb_db_flush(store.db));
    assert_true(bb_file_fault_hits(fault) >= 2);
    restart_without_fault(&store, fault);
    assert_content(&store, "b=3");
    assert_int_equal(store_stats(&store).last_sequence, 4);
    store_deinit(&store);
}

/* 5379, 6949, 6331: a record of the manifest whose sync had failed was present after a restart, and
 * its tables were gone; or later records followed a broken one. */
static void rocksdb_5379_failed_manifest_record_survives(void **state)
{
    (void)state;
    static const enum bb_file_call calls[] = {BB_FILE_CALL_SYNC, BB_FILE_CALL_APPEND};
    static const enum bb_file_fault_mode modes[] = {BB_FILE_FAULT_ERROR, BB_FILE_FAULT_SHORT_WRITE};
    for (size_t call = 0; call < 2; call++) {
        for (int goes_on = 0; goes_on < 2; goes_on++) {
            struct store store;
            struct bb_file_fault *fault = init_with_fault(&store);
            store_open(&store);
            store_put(&store, "a", "1");
            assert_ok(bb_db_flush(store.db));
            store_put(&store, "b", "2");
            store_delete(&store, "a");
            assert_ok(bb_db_flush(store.db));
            bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.mode = modes[call],
                                                                  .call = calls[call],
                                                                  .path_part = "MANIFEST",
                                                                  .nth = 1});
            assert_status(bb_db_compact(store.db), BB_IO);
            bb_file_fault_disarm(fault);
            assert_content(&store, "b=2");
            if (goes_on != 0) {
                assert_ok(bb_db_compact(store.db));
                store_put(&store, "c", "3");
                assert_ok(bb_db_flush(store.db));
            }
            assert_int_equal(bb_file_fault_writes_after_failure(fault), 0);
            restart_without_fault(&store, fault);
            assert_content(&store, goes_on != 0 ? "b=2 c=3" : "b=2");
            store_deinit(&store);
        }
    }
}

/* 7701: the newer of two logs was replayed though the older one had lost its end: a hole. */
struct stopped {
    struct bb_mutex mutex;
    struct bb_condvar changed;
    bool is_closed;
    bool is_waiting;
};

static void stop_worker(void *context, const struct bb_event *event)
{
    struct stopped *stopped = context;
    if (event->kind != BB_EVENT_FLUSH)
        return;
    bb_mutex_lock(&stopped->mutex);
    stopped->is_waiting = true;
    bb_condvar_broadcast(&stopped->changed);
    while (stopped->is_closed)
        bb_condvar_wait(&stopped->changed, &stopped->mutex);
    bb_mutex_unlock(&stopped->mutex);
}

static void fill_one_buffer(struct store *store, char first)
{
    char value[3000];
    char key[8];
    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof(key), "%c%02d", first, i);
        store_put(store, key, value);
    }
}

/* Cuts the older of the two logs that an image has off in its middle. */
static void cut_older_log(struct bb_file_memory *memory)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_file_names names = {0};
    char older[128] = "";
    size_t logs = 0;
    size_t size = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        char path[128];
        snprintf(path, sizeof(path), STORE_PATH "/%.64s", names.names[i]);
        if (strstr(path, ".wal") == NULL)
            continue;
        if (logs++ == 0 || strcmp(path, older) < 0)
            memcpy(older, path, sizeof(older));
    }
    bb_file_names_deinit(&names);
    assert_true(logs >= 2);
    uint8_t *bytes = bb_file_memory_bytes(memory, older, &size);
    uint8_t *front = test_malloc(size);
    memcpy(front, bytes, size);
    bb_file_memory_put(memory, older, bb_bytes_of(front, size / 2));
    test_free(front);
}

static void rocksdb_7701_hole_between_logs(void **state)
{
    (void)state;
    struct stopped stopped = {.is_closed = true};
    struct store store;
    struct bb_db_iter *iter = NULL;
    bb_mutex_init(&stopped.mutex);
    bb_condvar_init(&stopped.changed);
    store_init(&store);
    store.options.deterministic = false;
    store.options.on_event = stop_worker;
    store.options.event_context = &stopped;
    store_open(&store);
    /* The first flush stops the store's thread; then two logs are created. */
    fill_one_buffer(&store, 'a');
    fill_one_buffer(&store, 'b');
    bb_mutex_lock(&stopped.mutex);
    while (!stopped.is_waiting)
        bb_condvar_wait(&stopped.changed, &stopped.mutex);
    bb_mutex_unlock(&stopped.mutex);
    fill_one_buffer(&store, 'c');
    struct bb_file_memory *image = bb_file_memory_clone(store.memory);
    bb_mutex_lock(&stopped.mutex);
    stopped.is_closed = false;
    bb_condvar_broadcast(&stopped.changed);
    bb_mutex_unlock(&stopped.mutex);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
    cut_older_log(image);
    store.memory = image;
    store.options = store_options(image);
    store_open(&store);
    /* The contents are a prefix of the writes: a00 ... a19 b00 ... without a gap. */
    assert_ok(bb_db_iter_create(store.db, NULL, &iter));
    bb_db_iter_seek_first(iter);
    int count = 0;
    for (; bb_db_iter_valid(iter); bb_db_iter_next(iter), count++) {
        char key[16];
        snprintf(key, sizeof(key), "%c%02d", 'a' + count / 20, count % 20);
        assert_true(bb_bytes_equal(bb_db_iter_key(iter), bb_bytes_of_text(key)));
    }
    bb_db_iter_destroy(iter);
    assert_true(count >= 20 && count < 60);
    bb_condvar_deinit(&stopped.changed);
    bb_mutex_deinit(&stopped.mutex);
    store_deinit(&store);
}

/* 6840: one wrong bit on the way from the disk, once, made the store unusable until it was
 * reopened. */
static void rocksdb_6840_transient_bit_flip(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_fault *fault = init_with_fault(&store);
    store.options.cache_off = true;
    store_open(&store);
    store_put(&store, "a", "1");
    store_put(&store, "b", "2");
    assert_ok(bb_db_compact(store.db));
    assert_content(&store, "a=1 b=2");
    for (uint64_t nth = 1; nth < 6; nth++) {
        struct bb_buf value = {0};
        bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.mode = BB_FILE_FAULT_BIT_FLIP,
                                                              .path_part = ".bbt",
                                                              .nth = nth});
        for (int i = 0; i < 6; i++) {
            enum bb_status status = bb_db_get(store.db, NULL, bb_bytes_of_text("b"), &value);
            assert_true(status == BB_OK || status == BB_CORRUPT);
            assert_true(status != BB_OK || (value.size == 1 && value.data[0] == '2'));
        }
        assert_int_equal(bb_file_fault_hits(fault), 1);
        bb_file_fault_disarm(fault);
        bb_buf_deinit(&value);
        assert_content(&store, "a=1 b=2");
        store_put(&store, "a", "1");
    }
    restart_without_fault(&store, fault);
    assert_content(&store, "a=1 b=2");
    store_deinit(&store);
}

/* 11782, and rocksdb-js 846: reading failed in the middle of a scan, which looked like its end. */
static void rocksdb_11782_failed_scan_taken_for_the_end(void **state)
{
    (void)state;
    enum { KEYS = 500 };
    char key[16];
    struct store store;
    struct bb_file_fault *fault = init_with_fault(&store);
    store.options.cache_off = true;
    store_open(&store);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "%05d", i);
        store_put(&store, key, "a value that fills blocks");
    }
    assert_ok(bb_db_compact(store.db));
    uint64_t failed = 0;
    for (uint64_t nth = 1;; nth++) {
        struct bb_db_iter *iter = NULL;
        int count = 0;
        bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_READ_AT,
                                                              .path_part = ".bbt",
                                                              .nth = nth});
        assert_ok(bb_db_iter_create(store.db, NULL, &iter));
        for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
            count++;
        enum bb_status status = bb_db_iter_status(iter);
        uint64_t hits = bb_file_fault_hits(fault);
        bb_db_iter_destroy(iter);
        bb_file_fault_disarm(fault);
        if (hits == 0) {
            assert_int_equal(count, KEYS);
            assert_int_equal(status, BB_OK);
            break;
        }
        assert_int_equal(status, BB_IO);
        assert_true(count < KEYS);
        failed++;
    }
    assert_true(failed > 5);
    restart_without_fault(&store, fault);
    store_deinit(&store);
}

/* 9762, 11643, 919: after the disk had been full, the store stayed in its error with space to
 * spare. */
static void rocksdb_9762_full_disk_is_for_ever(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_fault *fault = init_with_fault(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    bb_file_fault_arm(
        fault, &(struct bb_file_fault_plan){
                   .call = BB_FILE_CALL_APPEND, .nth = 1, .lasting = true, .error_number = ENOSPC});
    assert_status(bb_db_flush(store.db), BB_NO_SPACE);
    assert_status(bb_db_put(store.db, NULL, bb_bytes_of_text("b"), bb_bytes_of_text("2")),
                  BB_NO_SPACE);
    assert_content(&store, "a=1");
    bb_file_fault_disarm(fault);
    store_put(&store, "b", "2");
    assert_ok(bb_db_flush(store.db));
    assert_content(&store, "a=1 b=2");
    restart_without_fault(&store, fault);
    assert_content(&store, "a=1 b=2");
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rocksdb_4024_version_straddles_filters),
        cmocka_unit_test(rocksdb_13155_snapshot_of_sequence_zero),
        cmocka_unit_test(rocksdb_1370_obsolete_logs_replayed),
        cmocka_unit_test(rocksdb_5379_failed_manifest_record_survives),
        cmocka_unit_test(rocksdb_7701_hole_between_logs),
        cmocka_unit_test(rocksdb_6840_transient_bit_flip),
        cmocka_unit_test(rocksdb_11782_failed_scan_taken_for_the_end),
        cmocka_unit_test(rocksdb_9762_full_disk_is_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
