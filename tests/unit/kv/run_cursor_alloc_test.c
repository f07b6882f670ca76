/* Goal: a selection with cursors over newer runs is right or fails without memory, and leaks
 * nothing. Method: each allocation fails, once or from then on, while dense records are selected
 * and counted below two newer runs. */
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/store.h"

#include "bb/select.h"

#define ROWS 600

static void put(struct store *store, unsigned row, const char *value)
{
    char key[16];
    snprintf(key, sizeof(key), "%08u", row);
    store_put(store, key, value);
}

static void flush(struct store *store)
{
    assert_ok(bb_db_flush(store->db));
    assert_ok(bb_db_wait_idle(store->db));
}

static void open_filled(struct store *store)
{
    store_init(store);
    store->options.write_buffer_bytes = 1 << 20;
    store->options.level0_run_count_compact = 100;
    store->options.level0_run_count_busy = 100;
    store->options.level0_run_count_stop = 200;
    store_open(store);
    assert_ok(bb_db_attribute_create(store->db, "group u64 = csv(1)"));
    for (unsigned row = 0; row < ROWS; row++)
        put(store, row, "1,oldest");
    assert_ok(bb_db_compact(store->db));
    for (unsigned row = 0; row < ROWS; row += 2)
        put(store, row, row % 4 == 0 ? "2,newer" : "9,newer");
    flush(store);
    for (unsigned row = 0; row < ROWS; row += 3)
        put(store, row, "9,newest");
    flush(store);
}

static enum bb_status select_all(struct bb_db *db, const struct bb_select_options *options,
                                 uint64_t *ret_count)
{
    struct bb_select *select = NULL;
    bool has_record = true;
    uint64_t count = 0;
    enum bb_status status = bb_db_select(db, options, &select);
    while (status == BB_OK && has_record) {
        status = bb_select_next(select, &has_record);
        count += status == BB_OK && has_record;
    }
    bb_select_destroy(select);
    *ret_count = count;
    return status;
}

static enum bb_status run(struct bb_db *db, bool is_count, uint64_t *ret_count)
{
    const struct bb_select_options options = {.where = "group < 5"};
    return is_count ? bb_db_select_count(db, &options, ret_count, NULL)
                    : select_all(db, &options, ret_count);
}

/* Returns the number of failures. */
static uint64_t fail_each(struct store *store, bool is_count, bool is_permanent, uint64_t expected)
{
    bool has_failed = true;
    uint64_t failures = 0;
    for (uint64_t nth = 1; has_failed; nth++) {
        uint64_t found = 0;
        bb_db_clear_cache(store->db);
        bb_alloc_fault_arm(nth, is_permanent);
        enum bb_status status = run(store->db, is_count, &found);
        has_failed = bb_alloc_fault_failures() > 0;
        bb_alloc_fault_disarm();
        failures += has_failed;
        if (status == BB_OK)
            assert_int_equal(found, expected);
        else
            assert_status(status, BB_NO_MEMORY);
    }
    return failures;
}

static void cursors__are_right_without_memory(void **state)
{
    (void)state;
    struct store store;
    uint64_t expected = 0;
    open_filled(&store);
    assert_ok(run(store.db, false, &expected));
    assert_int_equal(expected, 300);
    for (int is_count = 0; is_count < 2; is_count++)
        for (int is_permanent = 0; is_permanent < 2; is_permanent++)
            assert_true(fail_each(&store, is_count != 0, is_permanent != 0, expected) > 30);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursors__are_right_without_memory),
    };
    return cmocka_run_group_tests_name("run_cursor_alloc", tests, NULL, NULL);
}
