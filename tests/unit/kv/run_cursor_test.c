/* Goal: cursors over newer runs change the costs of a selection, not its results. Method:
 * selections of dense and sparse records below newer runs that overwrite, delete and add rows, in
 * both directions, compared with reads of all keys; their accounts show whether cursors worked. */
#include "tests/support/store.h"

#include "bb/db_iter.h"
#include "bb/select.h"

#define ROWS 20000

static void put(struct store *store, unsigned row, const char *suffix, unsigned group)
{
    char key[24];
    char value[64];
    snprintf(key, sizeof(key), "%08u%s", row, suffix);
    int size = snprintf(value, sizeof(value), "%u,row %u of some length", group, row);
    assert_ok(bb_db_put(store->db, NULL, bb_bytes_of_text(key), bb_bytes_of(value, (size_t)size)));
}

static void delete_row(struct store *store, unsigned row)
{
    char key[24];
    snprintf(key, sizeof(key), "%08u", row);
    assert_ok(bb_db_delete(store->db, NULL, bb_bytes_of_text(key)));
}

static void flush(struct store *store)
{
    assert_ok(bb_db_flush(store->db));
    assert_ok(bb_db_wait_idle(store->db));
}

/* All rows in a compacted run; rate: of wasted reads. */
static void open_filled(struct store *store, double rate)
{
    store_init(store);
    store->options.write_buffer_bytes = 8 << 20;
    store->options.table_size_bytes = 256 * 1024;
    store->options.block_size_bytes = 4096;
    store->options.level0_run_count_compact = 100;
    store->options.level0_run_count_busy = 100;
    store->options.level0_run_count_stop = 200;
    store->options.filter_amount =
        (struct bb_filter_amount){.unit = BB_FILTER_WASTED_READS, .value = rate};
    store_open(store);
    assert_ok(bb_db_attribute_create(store->db, "group u64 = csv(1)"));
    for (unsigned row = 0; row < ROWS; row++)
        put(store, row, "", row % 1000);
    assert_ok(bb_db_compact(store->db));
}

static void change_rows(struct store *store)
{
    for (unsigned run = 0; run < 3; run++) {
        for (unsigned row = run; row < ROWS; row += 10)
            put(store, row, "", row % 1000);
        for (unsigned row = 5 + run; row < ROWS; row += 30)
            delete_row(store, row);
        for (unsigned row = run; row < ROWS; row += 7)
            put(store, row, "new", 5000);
        flush(store);
    }
}

/* Is the record of this value in a group below `end`? */
static bool is_below(struct bb_bytes value, uint64_t end)
{
    uint64_t group = 0;
    for (size_t i = 0; i < value.size && value.data[i] != ','; i++)
        group = group * 10 + (value.data[i] - '0');
    return group < end;
}

/* Compares the records of a selection with the matches of an iterator over all keys. */
static void check_records(struct store *store, unsigned end, bool is_backward,
                          struct bb_select_account *ret_account)
{
    char where[32];
    struct bb_db_iter *all = NULL;
    struct bb_select *select = NULL;
    bool has_record = true;
    snprintf(where, sizeof(where), "group < %u", end);
    struct bb_select_options options = {.where = where, .backward = is_backward};
    assert_ok(bb_db_select(store->db, &options, &select));
    assert_ok(bb_db_iter_create(store->db, NULL, &all));
    for (is_backward ? bb_db_iter_seek_last(all) : bb_db_iter_seek_first(all);
         bb_db_iter_valid(all); is_backward ? bb_db_iter_prev(all) : bb_db_iter_next(all)) {
        if (!is_below(bb_db_iter_value(all), end))
            continue;
        assert_ok(bb_select_next(select, &has_record));
        assert_true(has_record);
        assert_int_equal(bb_bytes_compare(bb_select_key(select), bb_db_iter_key(all)), 0);
        assert_int_equal(bb_bytes_compare(bb_select_value(select), bb_db_iter_value(all)), 0);
    }
    assert_ok(bb_db_iter_status(all));
    assert_ok(bb_select_next(select, &has_record));
    assert_false(has_record);
    bb_select_account(select, ret_account);
    bb_select_destroy(select);
    bb_db_iter_destroy(all);
}

/* Forward with cursors, backward by lookups. */
static void check_both_ways(unsigned end, struct bb_select_account *ret_forward,
                            struct bb_select_account *ret_backward)
{
    struct store store;
    open_filled(&store, 0.01);
    change_rows(&store);
    check_records(&store, end, false, ret_forward);
    check_records(&store, end, true, ret_backward);
    store_deinit(&store);
}

static void cursors__answer_for_dense_records(void **state)
{
    (void)state;
    struct bb_select_account forward = {0};
    struct bb_select_account backward = {0};
    check_both_ways(10000, &forward, &backward);
    /* Lookups request a block for each hidden record, and a cursor one for each block. */
    assert_true(forward.records_hidden > ROWS / 3);
    assert_true(forward.newer_blocks < forward.records_hidden / 10);
    assert_true(backward.newer_blocks > backward.records_hidden);
}

static void cursors__leave_sparse_records(void **state)
{
    (void)state;
    struct bb_select_account forward = {0};
    struct bb_select_account backward = {0};
    check_both_ways(1, &forward, &backward);
    assert_true(backward.newer_blocks > 0);
    assert_true(forward.newer_blocks <= 2 * backward.newer_blocks);
}

/* The first tenth of the rows is dense. After it a cursor would read many blocks for few rows. */
static void cursors__leave_where_records_become_sparse(void **state)
{
    (void)state;
    struct store store;
    struct bb_select_account account = {0};
    open_filled(&store, 0.01);
    for (unsigned run = 0; run < 4; run++) {
        for (unsigned row = run; row < ROWS; row += 4)
            put(&store, row, "", row < ROWS / 10 || row % 1000 == run ? 0 : 9);
        for (unsigned row = run; row < ROWS; row += 2)
            put(&store, row, "new", 9);
        flush(&store);
    }
    check_records(&store, 1, false, &account);
    assert_true(account.records_returned >= ROWS / 10);
    /* The newer runs have more than 400 blocks. */
    assert_true(account.newer_blocks < 120);
    store_deinit(&store);
}

/* The newer run has twenty large values for each older row, two in a block: steps to the next row
 * would read ten blocks, and a lookup reads one. */
static void cursors__leave_large_values(void **state)
{
    (void)state;
    struct store store;
    char value[2000];
    struct bb_select_account account = {0};
    open_filled(&store, 0.01);
    memset(value, 'v', sizeof(value));
    memcpy(value, "5000,", 5);
    for (unsigned i = 0; i < 150 * 20; i++) {
        char key[24];
        snprintf(key, sizeof(key), i % 20 == 0 ? "%08u" : "%08u+%02u", i / 20, i % 20);
        assert_ok(bb_db_put(store.db, NULL, bb_bytes_of_text(key),
                            bb_bytes_of((uint8_t *)value, sizeof(value))));
    }
    flush(&store);
    check_records(&store, 1000, false, &account);
    assert_int_equal(account.records_hidden, 150);
    assert_true(account.newer_blocks < 2 * account.records_hidden);
    store_deinit(&store);
}

/* Dense and sparse parts alternate, so that cursors begin and leave again and again. */
static void cursors__follow_changing_density(void **state)
{
    (void)state;
    struct store store;
    struct bb_select_account account = {0};
    static const unsigned ends[] = {2, 20, 60, 200, 999};
    open_filled(&store, 0.01);
    change_rows(&store);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        check_records(&store, ends[i], false, &account);
    store_deinit(&store);
}

/* The order of a comparator that knows only keys of eight bytes or more. */
static int compare_long(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    assert_true(a.size >= 8 && b.size >= 8);
    return bb_bytes_compare(a, b);
}

/* Regression: the first key was compared with an empty one. */
static void cursors__compare_only_stored_keys(void **state)
{
    (void)state;
    static const struct bb_comparator order = {.name = "long", .compare = compare_long};
    struct store store;
    struct bb_select_options options = {.where = NULL};
    uint64_t found = 0;
    store_init(&store);
    store.options.comparator = &order;
    store_open(&store);
    for (unsigned row = 0; row < 300; row++)
        put(&store, row, "", 1);
    flush(&store);
    for (unsigned row = 0; row < 300; row += 3)
        delete_row(&store, row);
    flush(&store);
    assert_ok(bb_db_select_count(store.db, &options, &found, NULL));
    assert_int_equal(found, 200);
    store_deinit(&store);
}

/* Several versions of a key in one run, because a snapshot needs them, and selections as of it. */
static void cursors__see_the_snapshots_version(void **state)
{
    (void)state;
    struct store store;
    struct bb_snapshot *snapshot = NULL;
    struct bb_select_account account = {0};
    uint64_t before = 0;
    uint64_t after = 0;
    open_filled(&store, 0.01);
    change_rows(&store);
    for (unsigned row = 0; row < ROWS; row += 2)
        put(&store, row, "", 1);
    assert_ok(bb_snapshot_create(store.db, &snapshot));
    for (unsigned row = 0; row < ROWS; row += 2)
        put(&store, row, "", 7000);
    flush(&store);
    check_records(&store, 10000, false, &account);
    struct bb_select_options options = {.where = "group = 7000"};
    assert_ok(bb_db_select_count(store.db, &options, &after, NULL));
    assert_int_equal(after, ROWS / 2);
    options = (struct bb_select_options){.where = "group < 2", .snapshot = snapshot};
    assert_ok(bb_db_select_count(store.db, &options, &before, NULL));
    assert_true(before >= ROWS / 2);
    bb_snapshot_release(store.db, snapshot);
    store_deinit(&store);
}

static void cursors__pass_over_deleted_ranges(void **state)
{
    (void)state;
    struct store store;
    struct bb_select_account account = {0};
    open_filled(&store, 0.01);
    change_rows(&store);
    assert_ok(bb_db_delete_range(store.db, NULL, bb_bytes_of_text("00004000"),
                                 bb_bytes_of_text("00009000")));
    flush(&store);
    for (unsigned row = 8000; row < 8500; row++)
        put(&store, row, "", 3);
    flush(&store);
    check_records(&store, 10000, false, &account);
    check_records(&store, 10000, true, &account);
    store_deinit(&store);
}

/* The first blocks of the newest table, except the very first. */
static void damage_newest_table(struct store *store)
{
    struct bb_db_table_list list = {0};
    size_t size = 0;
    assert_ok(bb_db_tables(store->db, &list));
    assert_int_equal(list.tables[0].level, 0);
    uint8_t *bytes = bb_file_memory_bytes(store->memory, list.tables[0].path, &size);
    for (size_t at = size / 8; at < size / 4; at += 64)
        bytes[at] ^= 1;
    bb_db_table_list_deinit(&list);
}

/* In its first part the newer run has no key of the older one, and its filters rule out all of
 * them. After a damaged block there its cursor ends, and lookups find the hidden rows of the last
 * part. */
static void cursors__need_no_damaged_block(void **state)
{
    (void)state;
    struct store store;
    uint64_t found = 0;
    struct bb_select_account account = {0};
    struct bb_select_options options = {.where = "group < 1000"};
    open_filled(&store, 0.000001);
    /* The newer run's own blocks are not read. */
    assert_ok(bb_db_index_create(store.db, "bounds", "min_max(group)"));
    for (unsigned row = 0; row < ROWS; row += 2)
        put(&store, row, "new", 5000);
    for (unsigned row = ROWS / 4 * 3; row < ROWS; row += 2)
        put(&store, row, "", 5000);
    flush(&store);
    damage_newest_table(&store);
    struct bb_error before = *bb_error_last();
    assert_ok(bb_db_select_count(store.db, &options, &found, &account));
    assert_string_equal(bb_error_last()->message, before.message);
    assert_int_equal(found, ROWS - ROWS / 8);
    assert_true(account.newer_blocks > 0);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursors__answer_for_dense_records),
        cmocka_unit_test(cursors__leave_sparse_records),
        cmocka_unit_test(cursors__leave_where_records_become_sparse),
        cmocka_unit_test(cursors__leave_large_values),
        cmocka_unit_test(cursors__follow_changing_density),
        cmocka_unit_test(cursors__compare_only_stored_keys),
        cmocka_unit_test(cursors__see_the_snapshots_version),
        cmocka_unit_test(cursors__pass_over_deleted_ranges),
        cmocka_unit_test(cursors__need_no_damaged_block),
    };
    return cmocka_run_group_tests_name("run_cursor", tests, NULL, NULL);
}
