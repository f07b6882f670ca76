/* Goal: bb_db_wait_idle does not return while a merge that was cancelled for space waits to begin
 * again. Method: a write that yields is replaced by its counter; level 0 is due. (Found by reading:
 * the compacting thread had answered all signals, so the store counted as idle.) */
#include "tests/support/store.h"

#include <stdatomic.h>
#include <time.h>

#include "base/sync.h"
#include "kv/background/compaction_work.h"
#include "kv/store/store.h"

struct waiter {
    struct bb_db *db;
    _Atomic bool is_done;
};

static void wait_until_idle(void *argument)
{
    struct waiter *waiter = argument;
    assert_ok(bb_db_wait_idle(waiter->db));
    waiter->is_done = true;
}

static void add_to_yields(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    db->yield_count++;
    bb_mutex_unlock(&db->mutex);
}

static void idle_yield__cancelled_merge_is_awaited(void **state)
{
    (void)state;
    struct store store;
    struct bb_thread thread;
    struct bb_db_stats stats;
    struct timespec pause = {.tv_nsec = 20000000};
    store_init(&store);
    store.options.deterministic = false;
    store_open(&store);
    add_to_yields(store.db);
    for (int i = 0; i < 4; i++) {
        store_put(&store, "key", "value");
        assert_ok(bb_db_flush(store.db));
    }
    struct waiter waiter = {.db = store.db};
    assert_ok(bb_thread_create(&thread, wait_until_idle, &waiter));
    (void)nanosleep(&pause, NULL);
    assert_false(waiter.is_done);
    bb_compaction_work_end_yield(store.db);
    bb_thread_join(&thread);
    bb_db_stats(store.db, &stats);
    assert_int_equal(stats.compactions, 1);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_yield__cancelled_merge_is_awaited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
