/* Goal: a write without a batch is refused, without harm. (Found by reading: the batch's size was
 * read.) */
#include "tests/support/store.h"

static void null_batch__is_refused(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    assert_status(bb_db_write(store.db, NULL, NULL), BB_INVALID);
    assert_message("batch");
    assert_status(bb_db_write(store.db, &(struct bb_write_options){.sync = true}, NULL),
                  BB_INVALID);
    store_put(&store, "a", "1");
    assert_content(&store, "a=1");
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(null_batch__is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
