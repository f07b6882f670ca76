/* Regression: a store that error_if_exists created on a full disk could never be written. Its
 * first attempt had made CURRENT before the space ended; the next one, when there was space, took
 * that file for another store. */
#include "tests/support/store.h"

/* Creates a store in so much space. Returns true if it waits for more. */
static bool create_in(uint64_t space)
{
    struct store store;
    store_init(&store);
    store.options.error_if_exists = true;
    bb_file_memory_set_space(store.memory, space);
    enum bb_status status = bb_db_open(STORE_PATH, &store.options, &store.db);
    bool waits = false;
    if (status == BB_OK) {
        status = bb_db_put(store.db, NULL, bb_bytes_of_text("a"), bb_bytes_of_text("1"));
        waits = status == BB_NO_SPACE;
    }
    bb_file_memory_set_space(store.memory, 0);
    if (store.db == NULL)
        store_open(&store);
    store_put(&store, "a", "2");
    assert_get(&store, "a", "2");
    store_close(&store);
    assert_status(bb_db_open(STORE_PATH, &store.options, &store.db), BB_EXISTS);
    store.options.error_if_exists = false;
    store_open(&store);
    assert_get(&store, "a", "2");
    store_deinit(&store);
    return waits;
}

static void waiting_creation__resumes(void **state)
{
    (void)state;
    int waited = 0;
    for (uint64_t space = 1; space < 2000; space += 7)
        waited += create_in(space);
    print_message("%d of the creations waited for space\n", waited);
    assert_true(waited > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_creation__resumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
