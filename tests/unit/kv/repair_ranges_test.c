/* Goal: deleted ranges survive a repair if they can be read, with their sequence; otherwise the
 * report lists them and no data is deleted on suspicion; and the effect of an ingest on sequences
 * and levels is no damage. Method: small stores; damage of single files. */
#include "tests/unit/kv/repair_fixture.h"

#include "sstable/meta/footer.h"
#include "tests/support/rng.h"

static void delete_range(struct store *store, const char *low, const char *high)
{
    assert_ok(bb_db_delete_range(store->db, NULL, bb_bytes_of_text(low), bb_bytes_of_text(high)));
}

/* Footer and directory, without which range tombstones cannot be proved. */
static void cut_directory(struct store *store, const char *path)
{
    cut_end(store, path, BB_FOOTER_SIZE + BB_CHECKSUM_SIZE);
}

static void remove_manifest(struct store *store)
{
    char manifests[16][128];
    assert_int_equal(find_files(store, "MANIFEST", manifests), 1);
    remove_file(store, manifests[0]);
}

/* a ... d in one table; the range in another, with or without an entry. */
static void begin(struct store *store, bool has_entry, char tables[16][128])
{
    store_init(store);
    store_open(store);
    for (const char *key = "abcd"; *key != 0; key++)
        store_put(store, (const char[2]){*key, 0}, "1");
    assert_ok(bb_db_flush(store->db));
    delete_range(store, "b", "d");
    if (has_entry)
        store_put(store, "c", "2");
    assert_ok(bb_db_flush(store->db));
    store_close(store);
    assert_int_equal(find_files(store, ".bbt", tables), 2);
}

static void repair__keeps_ranges_of_a_table_without_footer(void **state)
{
    (void)state;
    for (int has_entry = 0; has_entry < 2; has_entry++) {
        struct store store;
        char tables[16][128];
        begin(&store, has_entry, tables);
        cut_footer(&store, tables[1]);
        struct bb_db_repair_report report = repair(&store, NULL);
        assert_int_equal(report.tables_kept, 1);
        assert_int_equal(report.tables_salvaged, 1);
        assert_int_equal(report.tables_lost + report.tables_ranges_lost, 0);
        assert_false(report.deletions_may_return);
        store_open(&store);
        assert_content(&store, has_entry ? "a=1 c=2 d=1" : "a=1 d=1");
        assert_ok(bb_db_compact(store.db));
        assert_content(&store, has_entry ? "a=1 c=2 d=1" : "a=1 d=1");
        store_deinit(&store);
    }
}

static void repair__says_that_ranges_are_lost(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        bool has_entry = kind == 1;
        struct store store;
        char tables[16][128];
        begin(&store, has_entry, tables);
        if (kind == 2)
            remove_file(&store, tables[1]);
        else
            cut_directory(&store, tables[1]);
        struct bb_db_repair_report report = repair(&store, NULL);
        assert_int_equal(report.tables_ranges_lost, 1);
        assert_int_equal(report.tables_salvaged, has_entry ? 1 : 0);
        assert_int_equal(report.tables_lost, has_entry ? 0 : 1);
        assert_int_equal(report.entries_lost, 0);
        assert_true(report.deletions_may_return);
        store_open(&store);
        assert_content(&store, has_entry ? "a=1 b=1 c=2 d=1" : "a=1 b=1 c=1 d=1");
        store_deinit(&store);
    }
}

/* The table's directory shows that it has no ranges, if it is intact. */
static void repair__without_a_manifest_asks_the_directory(void **state)
{
    (void)state;
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        struct store store;
        char tables[16][128];
        begin(&store, true, tables);
        remove_manifest(&store);
        (is_cut ? cut_directory : cut_footer)(&store, tables[0]);
        struct bb_db_repair_report report = repair(&store, NULL);
        assert_int_equal(report.tables_ranges_lost, is_cut);
        assert_int_equal(report.tables_salvaged, 1);
        store_open(&store);
        assert_content(&store, "a=1 c=2 d=1");
        store_deinit(&store);
    }
}

/* In tables and logs whose levels are unknown, ranges hide only older data. */
static void repair__without_a_manifest_ranges_have_their_sequences(void **state)
{
    (void)state;
    struct store store;
    char tables[16][128];
    begin(&store, true, tables);
    store_open(&store);
    store_put(&store, "b", "3");
    assert_ok(bb_db_flush(store.db));
    store_put(&store, "e", "3");
    delete_range(&store, "c", "e"); /* in the log */
    store_put(&store, "d", "4");
    store_close(&store);
    remove_manifest(&store);
    cut_footer(&store, tables[1]);
    struct bb_db_repair_report report = repair(&store, NULL);
    assert_int_equal(report.log_records, 3);
    assert_int_equal(report.tables_ranges_lost, 0);
    store_open(&store);
    assert_content(&store, "a=1 b=3 d=4 e=3");
    store_put(&store, "c", "5");
    assert_content(&store, "a=1 b=3 c=5 d=4 e=3");
    assert_ok(bb_db_compact(store.db));
    assert_content(&store, "a=1 b=3 c=5 d=4 e=3");
    store_deinit(&store);
}

static void repair__takes_ranges_after_a_hole_in_a_log(void **state)
{
    (void)state;
    struct store store;
    char logs[16][128];
    struct bb_buf bytes = {0};
    store_init(&store);
    store_open(&store);
    store_put(&store, "b", "1");
    assert_ok(bb_db_flush(store.db));
    store_put_synced(&store, "a", "1");
    delete_range(&store, "b", "c");
    store_put_synced(&store, "c", "1");
    store_close(&store);
    assert_int_equal(find_files(&store, ".wal", logs), 1);
    assert_ok(bb_file_read_whole(store.options.file_system, logs[0], SIZE_MAX, &bytes));
    bytes.data[48 + 20] ^= 1;
    bb_file_memory_put(store.memory, logs[0], (struct bb_bytes){bytes.data, bytes.size});
    bb_buf_deinit(&bytes);
    struct bb_db_repair_report report = repair(&store, NULL);
    assert_int_equal(report.log_holes, 1);
    store_open(&store);
    assert_content(&store, "c=1");
    store_deinit(&store);
}

/* ---- runs whose tables touch ---- */

static size_t count_touching(const struct bb_db_table_list *list, struct bb_file_system *fs)
{
    struct bb_table_options options = {.file_system = fs};
    struct bb_buf end = {0};
    size_t touching = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct bb_table *table = NULL;
        assert_ok(bb_table_open(list->tables[i].path, &options, &table));
        const struct bb_table_meta *meta = bb_table_meta(table);
        struct bb_bytes smallest = {meta->smallest.data, meta->smallest.size};
        touching += end.size > 0 && list->tables[i].level > 0 &&
                    bb_bytes_equal((struct bb_bytes){end.data, end.size}, smallest);
        end.size = 0;
        if (meta->largest_is_exclusive)
            assert_ok(
                bb_buf_assign(&end, (struct bb_bytes){meta->largest.data, meta->largest.size}));
        bb_table_close(table);
    }
    bb_buf_deinit(&end);
    return touching;
}

static bool is_there(struct store *store, const char *key)
{
    enum bb_status status = bb_db_get(store->db, NULL, bb_bytes_of_text(key), NULL);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    return status == BB_OK;
}

/* A range tombstone that is cut ends one table at the key that the next one begins with. */
static void repair__of_a_run_of_touching_tables_leaves_it(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_table_list list = {0};
    char key[16];
    uint8_t value[400];
    struct bb_rng rng;
    bb_rng_init(&rng, 1);
    store_init(&store);
    store_open(&store);
    for (int i = 0; i < 400; i++) {
        snprintf(key, sizeof(key), "%04d", i);
        bb_rng_bytes(&rng, value, sizeof(value)); /* nothing to compress: several tables */
        assert_ok(
            bb_db_put(store.db, NULL, bb_bytes_of_text(key), bb_bytes_of(value, sizeof(value))));
    }
    struct bb_snapshot *snapshot = store_snapshot(&store);
    delete_range(&store, "0050", "0350");
    assert_ok(bb_db_compact(store.db));
    bb_snapshot_release(store.db, snapshot);
    assert_ok(bb_db_tables(store.db, &list));
    assert_true(count_touching(&list, store.options.file_system) > 0);
    size_t count = list.count;
    bb_db_table_list_deinit(&list);
    store_close(&store);
    remove_file(&store, STORE_PATH "/CURRENT");
    struct bb_db_repair_report report = repair(&store, NULL);
    assert_int_equal(report.tables_kept, count);
    assert_int_equal(report.tables_merged, 0);
    assert_false(report.deletions_may_return);
    store_open(&store);
    assert_true(is_there(&store, "0049") && !is_there(&store, "0050"));
    assert_true(!is_there(&store, "0349") && is_there(&store, "0350"));
    store_deinit(&store);
}

/* ---- ingests ---- */

/* The ingested data is newer than one range and older than another. The log from before the ingest
 * still exists: the sequences that the ingest skipped are no hole. */
static void repair__after_an_ingest_finds_no_hole(void **state)
{
    (void)state;
    for (int has_manifest = 0; has_manifest < 2; has_manifest++) {
        struct store store;
        char logs[16][128];
        struct bb_buf old = {0};
        store_init(&store);
        store_open(&store);
        store_put(&store, "a", "1");
        store_put(&store, "b", "1");
        delete_range(&store, "a", "d");
        assert_int_equal(find_files(&store, ".wal", logs), 1);
        assert_ok(bb_file_read_whole(store.options.file_system, logs[0], SIZE_MAX, &old));
        ingest(&store, "b", "2");
        ingest(&store, "c", "2");
        delete_range(&store, "c", "d");
        store_put(&store, "d", "3");
        store_close(&store);
        bb_file_memory_put(store.memory, logs[0], (struct bb_bytes){old.data, old.size});
        bb_buf_deinit(&old);
        if (has_manifest)
            remove_file(&store, STORE_PATH "/CURRENT");
        else
            remove_manifest(&store);
        store.options.recovery = BB_RECOVERY_POINT_IN_TIME;
        struct bb_db_repair_report report = repair(&store, NULL);
        assert_int_equal(report.log_holes + report.tables_unnamed, 0);
        store_open(&store);
        assert_content(&store, "b=2 d=3");
        store_deinit(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repair__keeps_ranges_of_a_table_without_footer),
        cmocka_unit_test(repair__says_that_ranges_are_lost),
        cmocka_unit_test(repair__without_a_manifest_asks_the_directory),
        cmocka_unit_test(repair__without_a_manifest_ranges_have_their_sequences),
        cmocka_unit_test(repair__takes_ranges_after_a_hole_in_a_log),
        cmocka_unit_test(repair__of_a_run_of_touching_tables_leaves_it),
        cmocka_unit_test(repair__after_an_ingest_finds_no_hole),
    };
    return cmocka_run_group_tests_name("repair_ranges", tests, NULL, NULL);
}
