/* Goal: the decisions of a repair, one by one: which version of a key is visible after it, and its
 * refusals. Method: small stores in which a wrong decision is visible; damage of single files. */
#include "tests/unit/kv/repair_fixture.h"

/* In level 0 the number determines which run is newer, and a rewritten table has the highest. */
static void repair__of_an_old_run_leaves_it_old(void **state)
{
    (void)state;
    struct store store;
    char tables[16][128];
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "old");
    store_put(&store, "b", "1");
    assert_ok(bb_db_flush(store.db));
    store_put(&store, "a", "new");
    assert_ok(bb_db_flush(store.db));
    store_delete(&store, "b");
    assert_ok(bb_db_flush(store.db));
    store_close(&store);
    assert_int_equal(find_files(&store, ".bbt", tables), 3);
    cut_footer(&store, tables[0]);
    struct bb_db_repair_report report = repair(&store, NULL);
    assert_int_equal(report.tables_salvaged, 1);
    assert_int_equal(report.tables_kept, 2);
    assert_false(report.deletions_may_return);
    store_open(&store);
    assert_content(&store, "a=new");
    assert_ok(bb_db_compact(store.db));
    assert_content(&store, "a=new");
    store_deinit(&store);
}

/* Either of two tables is the newer one for one of their keys. */
static void repair__without_a_manifest_goes_by_entries(void **state)
{
    (void)state;
    struct store store;
    char manifests[16][128];
    store_init(&store);
    store_open(&store);
    store_put(&store, "x", "1");
    store_put(&store, "z", "1");
    assert_ok(bb_db_compact(store.db));
    store_put(&store, "x", "2");
    store_put(&store, "y", "2");
    assert_ok(bb_db_flush(store.db));
    store_delete(&store, "z");
    assert_ok(bb_db_flush(store.db));
    store_put(&store, "y", "3"); /* in the log */
    store_close(&store);
    assert_int_equal(find_files(&store, "MANIFEST", manifests), 1);
    remove_file(&store, manifests[0]);
    struct bb_db_repair_report report = repair(&store, NULL);
    assert_false(report.has_manifest);
    assert_true(report.deletions_may_return);
    assert_int_equal(report.log_records, 1);
    assert_int_equal(report.tables_merged, 4);
    store_open(&store);
    assert_content(&store, "x=2 y=3");
    store_put(&store, "y", "4");
    assert_content(&store, "x=2 y=4");
    store_deinit(&store);
}

/* An input of a compaction that was not removed: its data was deleted, and the deletion is gone. */
static void repair__does_not_bring_back_what_was_deleted(void **state)
{
    (void)state;
    static const struct bb_db_repair_options taking = {.take_unnamed_tables = true};
    struct store store;
    char tables[16][128];
    struct bb_buf input = {0};
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    store_put(&store, "gone", "1");
    assert_ok(bb_db_flush(store.db));
    assert_int_equal(find_files(&store, ".bbt", tables), 1);
    assert_ok(bb_file_read_whole(store.options.file_system, tables[0], SIZE_MAX, &input));
    store_put(&store, "a", "2");
    store_delete(&store, "gone");
    assert_ok(bb_db_compact(store.db));
    store_close(&store);
    bb_file_memory_put(store.memory, tables[0], (struct bb_bytes){input.data, input.size});
    remove_file(&store, STORE_PATH "/CURRENT");
    struct bb_db_repair_report report = repair(&store, NULL);
    assert_int_equal(report.tables_unnamed, 1);
    assert_false(report.deletions_may_return);
    store_open(&store);
    assert_content(&store, "a=2");
    store_close(&store);
    /* On request it does, and reports it; the newest version of the other key stays the newest. */
    bb_file_memory_put(store.memory, tables[0], (struct bb_bytes){input.data, input.size});
    report = repair(&store, &taking);
    assert_true(report.deletions_may_return);
    store_open(&store);
    assert_content(&store, "a=2 gone=1");
    bb_buf_deinit(&input);
    store_deinit(&store);
}

static int compare_backwards(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static void repair__refuses(void **state)
{
    (void)state;
    static const struct bb_comparator backwards = {.name = "backwards",
                                                   .compare = compare_backwards};
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    assert_status(bb_db_repair(STORE_PATH, &store.options, NULL, NULL), BB_BUSY);
    store_close(&store);
    assert_status(bb_db_repair("", &store.options, NULL, NULL), BB_INVALID);
    assert_status(bb_db_repair("/data/none", &store.options, NULL, NULL), BB_NOT_FOUND);
    struct bb_db_options other = store.options;
    other.comparator = &backwards;
    assert_status(bb_db_repair(STORE_PATH, &other, NULL, NULL), BB_INVALID);
    assert_message("backwards");
    remove_file(&store, STORE_PATH "/CURRENT");
    assert_status(bb_db_repair(STORE_PATH, &other, NULL, NULL), BB_INVALID);
    (void)repair(&store, NULL);
    store_open(&store);
    assert_content(&store, "a=1");
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repair__of_an_old_run_leaves_it_old),
        cmocka_unit_test(repair__without_a_manifest_goes_by_entries),
        cmocka_unit_test(repair__does_not_bring_back_what_was_deleted),
        cmocka_unit_test(repair__refuses),
    };
    return cmocka_run_group_tests_name("store_repair", tests, NULL, NULL);
}
