/* Goal: while the manifest cannot be written, retried flushes leave no tables; once it can, the
 * store continues, and the table whose record was in doubt is removed. Method: every append to a
 * manifest fails, and a flush or a compaction is tried many times; names are counted. (Found by
 * reading: each attempt wrote its table before it checked the manifest, and left it as an orphan
 * until the next opening; later, one remained, although a new manifest had settled the doubt.) */
#include "tests/support/assert_status.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "bb/db.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"

static struct bb_db *open_store(struct bb_file_fault *fault)
{
    struct bb_db_options options = {.create_if_missing = true,
                                    .file_system = bb_file_fault_system(fault),
                                    .deterministic = true};
    struct bb_db *db = NULL;
    assert_ok(bb_db_open("/store", &options, &db));
    return db;
}

static size_t count_tables(struct bb_file_system *fs)
{
    struct bb_file_names names = {0};
    size_t count = 0;
    assert_ok(fs->ops->list(fs, "/store", &names));
    for (size_t i = 0; i < names.count; i++)
        count += strstr(names.names[i], ".bbt") != NULL;
    bb_file_names_deinit(&names);
    return count;
}

static void poisoned_manifest__leaves_no_tables(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    struct bb_bytes key = bb_bytes_of_text("key");
    struct bb_db *db = open_store(fault);
    assert_ok(bb_db_put(db, NULL, key, key));
    bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_APPEND,
                                                          .path_part = "MANIFEST",
                                                          .nth = 1,
                                                          .lasting = true});
    for (int i = 0; i < 20; i++) {
        assert_int_equal(bb_db_flush(db), BB_IO);
        assert_ok(bb_db_get(db, NULL, key, NULL));
    }
    /* The first attempt's: its record might have been durable. */
    assert_true(count_tables(bb_file_memory_system(memory)) <= 1);
    bb_file_fault_disarm(fault);
    assert_ok(bb_db_flush(db));
    assert_int_equal(count_tables(bb_file_memory_system(memory)), 1);
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text("later"), key));
    assert_ok(bb_db_close(db));
    db = open_store(fault);
    assert_ok(bb_db_get(db, NULL, key, NULL));
    assert_ok(bb_db_get(db, NULL, bb_bytes_of_text("later"), NULL));
    assert_ok(bb_db_close(db));
    bb_file_fault_destroy(fault);
    bb_file_memory_destroy(memory);
}

static size_t live_tables(struct bb_db *db)
{
    struct bb_db_stats stats;
    size_t count = 0;
    bb_db_stats(db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        count += stats.levels[level].table_count;
    return count;
}

/* The directory cannot be synced: no record was begun, and no file is in doubt. */
static void poisoned_manifest__what_was_never_recorded_goes_at_once(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    struct bb_bytes key = bb_bytes_of_text("key");
    struct bb_db *db = open_store(fault);
    assert_ok(bb_db_put(db, NULL, key, key));
    bb_file_fault_arm(fault, &(struct bb_file_fault_plan){
                                 .call = BB_FILE_CALL_SYNC_DIRECTORY, .nth = 1, .lasting = true});
    for (int i = 0; i < 5; i++) {
        assert_int_equal(bb_db_flush(db), BB_IO);
        assert_int_equal(count_tables(bb_file_memory_system(memory)), 0);
    }
    bb_file_fault_disarm(fault);
    assert_ok(bb_db_flush(db));
    assert_int_equal(count_tables(bb_file_memory_system(memory)), 1);
    assert_ok(bb_db_close(db));
    bb_file_fault_destroy(fault);
    bb_file_memory_destroy(memory);
}

static void poisoned_manifest__outputs_of_a_compaction_go(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    struct bb_bytes key = bb_bytes_of_text("key");
    struct bb_db *db = open_store(fault);
    for (int i = 0; i < 2; i++) {
        assert_ok(bb_db_put(db, NULL, key, key));
        assert_ok(bb_db_flush(db));
    }
    bb_file_fault_arm(fault, &(struct bb_file_fault_plan){
                                 .call = BB_FILE_CALL_SYNC, .path_part = "MANIFEST", .nth = 1});
    assert_int_equal(bb_db_compact(db), BB_IO);
    assert_int_equal(bb_file_fault_hits(fault), 1);
    /* The record may be durable: its table stays, and so do the tables that it removes. */
    assert_int_equal(count_tables(bb_file_memory_system(memory)), 3);
    assert_int_equal(live_tables(db), 2);
    bb_file_fault_disarm(fault);
    assert_ok(bb_db_compact(db));
    assert_int_equal(live_tables(db), 1);
    assert_int_equal(count_tables(bb_file_memory_system(memory)), 1);
    assert_ok(bb_db_get(db, NULL, key, NULL));
    assert_ok(bb_db_close(db));
    bb_file_fault_destroy(fault);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisoned_manifest__leaves_no_tables),
        cmocka_unit_test(poisoned_manifest__what_was_never_recorded_goes_at_once),
        cmocka_unit_test(poisoned_manifest__outputs_of_a_compaction_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
