/* Goal: bb_db_get_now answers as bb_db_get does, or returns BB_WOULD_WAIT, without a read
 * and uncounted; absent keys need no system call once the filters are in memory.
 * bb_db_write_check predicts whether a write waits. Method: stores on a file system in memory,
 * whose reads are counted; a store whose flushes fail. */
#include "bb/db_files.h"
#include "tests/support/store.h"

#include <errno.h>

#include "base/buf.h"
#include "tests/support/file_fault.h"

#define KEYS 2000

static struct bb_bytes key_of(int i, char key[16])
{
    snprintf(key, 16, "key%08d", i);
    return bb_bytes_of_text(key);
}

/* Keys with even numbers, in tables. */
static void fill(struct store *store)
{
    char key[16];
    store_init(store);
    store->options.cache_off = true;
    store_open(store);
    for (int i = 0; i < KEYS; i += 2)
        assert_ok(bb_db_put(store->db, NULL, key_of(i, key), bb_bytes_of_text("value")));
    assert_ok(bb_db_compact(store->db));
    store_reopen(store);
}

static uint64_t reads_of(struct bb_db *db)
{
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    return stats.system_reads;
}

static uint64_t requests_of(struct bb_db *db)
{
    struct bb_db_stats stats;
    uint64_t sum = 0;
    bb_db_stats(db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        sum += stats.level_reads[level].block_requests + stats.level_reads[level].avoided_requests;
    return sum + stats.gets;
}

/* An opening reads no filters and no blocks. The calls do not read or count either. */
static void get_now__of_a_cold_store_would_wait(void **state)
{
    (void)state;
    struct store store;
    struct bb_buf value = {0};
    char key[16];
    fill(&store);
    uint64_t reads = reads_of(store.db);
    uint64_t requests = requests_of(store.db);
    for (int i = 0; i < 100; i++)
        assert_status(bb_db_get_now(store.db, NULL, key_of(i, key), &value), BB_WOULD_WAIT);
    assert_status(bb_db_get_now(store.db, NULL, bb_bytes_of_text("zzz"), &value), BB_NOT_FOUND);
    assert_int_equal(reads_of(store.db), reads);
    assert_int_equal(requests_of(store.db), requests + 1);
    assert_int_equal(value.size, 0);
    store_deinit(&store);
}

/* Once each filter was probed, absent keys are answered without a read, except where filters return
 * maybe; present keys are found or would wait; each lookup is counted once. */
static void get_now__answers_absent_keys_without_reading(void **state)
{
    (void)state;
    struct store store;
    struct bb_buf value = {0};
    char key[16];
    int waits = 0;
    fill(&store);
    for (int i = 0; i < KEYS; i++)
        (void)!bb_db_get(store.db, NULL, key_of(i, key), NULL);
    uint64_t reads = reads_of(store.db);
    for (int i = 1; i < KEYS; i += 2) {
        struct bb_db_stats before;
        struct bb_db_stats after;
        bb_db_stats(store.db, &before);
        enum bb_status status = bb_db_get_now(store.db, NULL, key_of(i, key), &value);
        bb_db_stats(store.db, &after);
        assert_true(status == BB_NOT_FOUND || status == BB_WOULD_WAIT);
        assert_int_equal(after.gets, before.gets + (status == BB_NOT_FOUND));
        waits += status == BB_WOULD_WAIT;
    }
    /* The target is one wasted read in 100 lookups. This file system never has to wait. */
    assert_int_equal(waits, 0);
    assert_true(reads_of(store.db) - reads <= KEYS / 2 / 100 * 4);
    for (int i = 0; i < KEYS; i += 2) {
        enum bb_status status = bb_db_get_now(store.db, NULL, key_of(i, key), &value);
        assert_true(status == BB_OK || status == BB_WOULD_WAIT);
    }
    bb_buf_deinit(&value);
    store_deinit(&store);
}

/* This file system would wait for every block. */
static void get_now__of_a_block_that_is_not_in_memory_would_wait(void **state)
{
    (void)state;
    struct store store;
    struct bb_buf value = {0};
    char key[16];
    fill(&store);
    store_close(&store);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store.memory));
    store.options.file_system = bb_file_fault_system(fault);
    store_open(&store);
    for (int i = 0; i < KEYS; i++)
        (void)!bb_db_get(store.db, NULL, key_of(i, key), NULL);
    for (int i = 0; i < KEYS; i += 2)
        assert_status(bb_db_get_now(store.db, NULL, key_of(i, key), &value), BB_WOULD_WAIT);
    assert_int_equal(value.size, 0);
    store_close(&store);
    bb_file_fault_destroy(fault);
    store.options.file_system = bb_file_memory_system(store.memory);
    store_deinit(&store);
}

static void get_now__sees_memtables_and_snapshots(void **state)
{
    (void)state;
    struct store store;
    struct bb_buf value = {0};
    fill(&store);
    store_put(&store, "key00000001", "new");
    struct bb_snapshot *snapshot = store_snapshot(&store);
    store_delete(&store, "key00000001");
    store_delete(&store, "key00000002");
    const struct bb_get_options earlier = {.snapshot = snapshot};
    assert_ok(bb_db_get_now(store.db, &earlier, bb_bytes_of_text("key00000001"), &value));
    assert_true(bb_bytes_equal(bb_buf_bytes(&value), bb_bytes_of_text("new")));
    assert_status(bb_db_get_now(store.db, NULL, bb_bytes_of_text("key00000001"), &value),
                  BB_NOT_FOUND);
    assert_status(bb_db_get_now(store.db, NULL, bb_bytes_of_text("key00000002"), &value),
                  BB_NOT_FOUND);
    bb_snapshot_release(store.db, snapshot);
    bb_buf_deinit(&value);
    store_deinit(&store);
}

/* ---- writes ---- */

struct batches {
    struct bb_batch *small;
    struct bb_batch *large; /* two of them do not fit one memtable */
};

static void batches_init(struct batches *batches)
{
    static const uint8_t bytes[40000];
    assert_ok(bb_batch_create(&batches->small));
    assert_ok(bb_batch_create(&batches->large));
    assert_ok(bb_batch_put(batches->small, bb_bytes_of_text("a"), bb_bytes_of_text("1")));
    assert_ok(
        bb_batch_put(batches->large, bb_bytes_of_text("b"), bb_bytes_of(bytes, sizeof(bytes))));
}

static void batches_deinit(struct batches *batches)
{
    bb_batch_destroy(batches->small);
    bb_batch_destroy(batches->large);
}

/* Flushes fail: writes that fit the memtable are refused with the failure too, as bb_db_write does
 * it, and after the disk has space again all of them are accepted. */
static void write_check__tells_the_failure_of_flushes(void **state)
{
    (void)state;
    struct store store;
    struct batches batches;
    store_init(&store);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store.memory));
    store.options.file_system = bb_file_fault_system(fault);
    store.options.deterministic = false;
    store.options.wal_off = true;
    store_open(&store);
    batches_init(&batches);
    bb_file_fault_arm(
        fault, &(struct bb_file_fault_plan){
                   .call = BB_FILE_CALL_CREATE, .nth = 1, .lasting = true, .error_number = ENOSPC});
    enum bb_status status = BB_OK;
    for (int i = 0; i < 20 && status == BB_OK; i++) {
        status = bb_db_write_check(store.db, batches.large);
        if (status == BB_OK)
            assert_true(bb_db_write(store.db, NULL, batches.large) != BB_WOULD_WAIT);
    }
    assert_true(status == BB_NO_SPACE || status == BB_WOULD_WAIT);
    while (status == BB_WOULD_WAIT)
        status = bb_db_write_check(store.db, batches.large);
    assert_status(status, BB_NO_SPACE);
    bb_file_fault_disarm(fault);
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_write_check(store.db, batches.small));
    assert_ok(bb_db_write(store.db, NULL, batches.small));
    batches_deinit(&batches);
    store_close(&store);
    bb_file_fault_destroy(fault);
    store.options.file_system = bb_file_memory_system(store.memory);
    store_deinit(&store);
}

/* A single writer that checks first never waits: no stall is counted. */
static void write_check__keeps_a_writer_from_waiting(void **state)
{
    (void)state;
    struct store store;
    struct batches batches;
    struct bb_db_stats stats;
    store_init(&store);
    store.options.deterministic = false;
    store_open(&store);
    batches_init(&batches);
    for (int i = 0; i < 300; i++) {
        while (bb_db_write_check(store.db, batches.large) == BB_WOULD_WAIT) {
        }
        assert_ok(bb_db_write(store.db, NULL, batches.large));
    }
    bb_db_stats(store.db, &stats);
    for (int reason = 0; reason < BB_STALL_COUNT; reason++)
        assert_int_equal(stats.stalls[reason], 0);
    batches_deinit(&batches);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(get_now__of_a_cold_store_would_wait),
        cmocka_unit_test(get_now__answers_absent_keys_without_reading),
        cmocka_unit_test(get_now__of_a_block_that_is_not_in_memory_would_wait),
        cmocka_unit_test(get_now__sees_memtables_and_snapshots),
        cmocka_unit_test(write_check__tells_the_failure_of_flushes),
        cmocka_unit_test(write_check__keeps_a_writer_from_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
