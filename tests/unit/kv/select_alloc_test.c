/* Goal: a selection, or a list of indexes, fails with BB_NO_MEMORY, or is complete. Method: one
 * store with every kind of index; each allocation of each call fails once. */
#include "tests/support/indexed_store.h"

#include "tests/support/alloc/alloc_fault.h"

static const char *const CONDITIONS[] = {
    "status = 300",
    "user = 'user13'",
    "user = 'user7' OR has_token(text, 'word3')",
    "text LIKE '%round2%' AND NOT (status IN (200, 250))",
};

/* All records, by a new selection. */
static enum bb_status run(struct bb_db *db, const char *where, uint64_t *ret_count)
{
    struct bb_select *select = NULL;
    const struct bb_select_options options = {.where = where};
    bool has_record = true;
    enum bb_status status = bb_db_select(db, &options, &select);
    *ret_count = 0;
    while (status == BB_OK && has_record) {
        status = bb_select_next(select, &has_record);
        *ret_count += status == BB_OK && has_record;
    }
    bb_select_destroy(select);
    return status;
}

static enum bb_status count(struct bb_db *db, const char *where, uint64_t *ret_count)
{
    const struct bb_select_options options = {.where = where};
    return bb_db_select_count(db, &options, ret_count, NULL);
}

typedef enum bb_status (*call)(struct bb_db *db, const char *where, uint64_t *ret_count);

/* How many allocations failed. */
static uint64_t fail_each(struct bb_db *db, call ask, const char *where, uint64_t expected)
{
    uint64_t failures = 0, nth = 0;
    bool has_failed = true;
    while (has_failed) {
        uint64_t found = 0;
        bb_db_clear_cache(db);
        bb_alloc_fault_arm(++nth, false);
        enum bb_status status = ask(db, where, &found);
        has_failed = bb_alloc_fault_failures() > 0;
        bb_alloc_fault_disarm();
        if (status == BB_OK)
            assert_int_equal(found, expected);
        else
            assert_int_equal(status, BB_NO_MEMORY);
        failures += has_failed;
    }
    return failures;
}

static void select__without_memory(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    for (size_t i = 0; i < sizeof(CONDITIONS) / sizeof(CONDITIONS[0]); i++) {
        uint64_t expected = indexed_count(store.db, CONDITIONS[i], true);
        assert_true(expected > 0);
        assert_true(fail_each(store.db, run, CONDITIONS[i], expected) > 10);
        assert_true(fail_each(store.db, count, CONDITIONS[i], expected) > 10);
    }
    store_deinit(&store);
}

/* Tables of the store with each index, added up. */
static uint64_t count_built(const struct bb_db_index_list *list)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += list->indexes[i].tables_built;
    return sum;
}

/* A table whose index file finds no memory is not one without the index. */
static void index_list__without_memory(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_index_list list = {0};
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    assert_ok(bb_db_index_list(store.db, &list));
    uint64_t built = count_built(&list), nth = 0;
    bb_db_index_list_deinit(&list);
    assert_true(built > 7);
    bool has_failed = true;
    while (has_failed) {
        store_reopen(&store); /* no index file is open */
        bb_alloc_fault_arm(++nth, false);
        enum bb_status status = bb_db_index_list(store.db, &list);
        has_failed = bb_alloc_fault_failures() > 0;
        bb_alloc_fault_disarm();
        if (status == BB_OK)
            assert_int_equal(count_built(&list), built);
        else
            assert_int_equal(status, BB_NO_MEMORY);
        bb_db_index_list_deinit(&list);
        list = (struct bb_db_index_list){0};
    }
    assert_true(nth > 20);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select__without_memory),
        cmocka_unit_test(index_list__without_memory),
    };
    return cmocka_run_group_tests_name("select_alloc", tests, NULL, NULL);
}
