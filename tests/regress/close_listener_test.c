/* Regression: a listener that reads statistics, as bb_db_options.on_event permits, kept a store
 * from being closed: the view that bb_db_stats held for a moment counted as an open iterator, and
 * bb_db_close returned BB_BUSY. The listener here reads so often that it always coincides with the
 * close. */
#include "tests/support/store.h"

#include "kv/store/store.h"

static void ask(void *context, const struct bb_event *event)
{
    struct bb_db *const *db = context;
    struct bb_db_stats stats;
    if (event->kind != BB_EVENT_FLUSH)
        return;
    for (int i = 0; i < 1000; i++)
        bb_db_stats(*db, &stats);
}

static void close_listener__does_not_keep_the_store_open(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct store store;
        store_init(&store);
        store.options.deterministic = false;
        store.options.on_event = ask;
        store.options.event_context = &store.db;
        store_open(&store);
        store_put(&store, "a", "1");
        assert_ok(bb_db_flush(store.db));
        assert_ok(bb_db_close(store.db));
        store.db = NULL;
        store_deinit(&store);
    }
}

static void close_listener__iterators_still_do(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_iter *iter = NULL;
    store_init(&store);
    store_open(&store);
    assert_ok(bb_db_iter_create(store.db, NULL, &iter));
    assert_status(bb_db_close(store.db), BB_BUSY);
    bb_db_iter_destroy(iter);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_listener__does_not_keep_the_store_open),
        cmocka_unit_test(close_listener__iterators_still_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
