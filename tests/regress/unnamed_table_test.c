/* Goal: a flush that crashed before its edit leaves a table with the data of its log. An opening
 * removed the table although that log was cut, and with it the last copy of the data. A repair took
 * the table although the log was whole, and then refused the store. Method: the files of two
 * moments, before and after the flush, in one directory. */
#include "tests/unit/kv/repair_fixture.h"

#include "base/file.h"

/* z=0 is in a table; a, b, c are in the first log, and in a table that no manifest names; d, if
 * any, is in the second log. */
static void make(struct store *store, bool has_later_record)
{
    char after[16][128];
    struct bb_file_memory *before = NULL;
    size_t size = 0;
    store_init(store);
    store_open(store);
    store_put(store, "z", "0");
    assert_ok(bb_db_flush(store->db));
    store_put_synced(store, "a", "1");
    store_put_synced(store, "b", "1");
    store_put_synced(store, "c", "1");
    before = bb_file_memory_clone(store->memory);
    assert_ok(bb_db_flush(store->db));
    if (has_later_record)
        store_put(store, "d", "1");
    assert_int_equal(find_files(store, ".bbt", after), 2);
    const uint8_t *table = bb_file_memory_bytes(store->memory, after[1], &size);
    bb_file_memory_put(before, after[1], bb_bytes_of(table, size));
    assert_int_equal(find_files(store, ".wal", after), 1);
    const uint8_t *log = bb_file_memory_bytes(store->memory, after[0], &size);
    bb_file_memory_put(before, after[0], bb_bytes_of(log, size));
    store_close(store);
    store_replace_disk(store, before);
}

/* The older log ends after a. The opening cannot use d, and keeps the table for an ingest. */
static void check_kept(bool has_later_record)
{
    struct store store;
    struct bb_db_recovery recovery = {0};
    struct bb_db_verify_report verified;
    char paths[16][128];
    char kept[128 + sizeof(".lost")];
    make(&store, has_later_record);
    assert_int_equal(find_files(&store, ".bbt", paths), 2);
    snprintf(kept, sizeof(kept), "%s.lost", paths[1]);
    assert_int_equal(find_files(&store, ".wal", paths), 2);
    cut_end(&store, paths[0], 60);
    store.options.recovery_report = &recovery;
    assert_ok(bb_db_verify(STORE_PATH, &store.options, &verified));
    assert_true(recovery.files_set_aside == 1 && !recovery.is_damaged);
    store_open(&store);
    assert_true(recovery.files_set_aside == 1 && !recovery.is_damaged);
    assert_status(bb_db_get(store.db, NULL, bb_bytes_of_text("c"), NULL), BB_NOT_FOUND);
    const char *inputs[] = {kept};
    assert_ok(bb_db_ingest(store.db, inputs, 1, NULL));
    assert_content(&store, "a=1 b=1 c=1 z=0");
    store_deinit(&store);
}

static void unnamed_table__is_kept_when_its_log_was_cut(void **state)
{
    (void)state;
    check_kept(true);
    check_kept(false);
}

/* The logs are whole. So the table has nothing new, also if the end of the manifest is torn. */
static void unnamed_table__is_not_taken_by_a_repair_that_keeps_the_log(void **state)
{
    (void)state;
    struct store store;
    char paths[16][128];
    make(&store, true);
    assert_int_equal(find_files(&store, "MANIFEST", paths), 1);
    cut_end(&store, paths[0], 1);
    assert_int_equal(find_files(&store, ".bbt", paths), 2);
    cut_footer(&store, paths[0]);
    struct bb_db_repair_report report = repair(&store, NULL);
    assert_true(report.tables_salvaged == 1 && report.logs_kept == 2);
    store_open(&store);
    assert_content(&store, "a=1 b=1 c=1 d=1 z=0");
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unnamed_table__is_kept_when_its_log_was_cut),
        cmocka_unit_test(unnamed_table__is_not_taken_by_a_repair_that_keeps_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
