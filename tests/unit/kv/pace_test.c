/* Goal: level 0 collects runs during a series of flushes, and is merged from fewer on after it: by
 * the clock, when a call waits, after an opening. Method: only the pace; a store whose calls do the
 * work; a store with threads whose clock is advanced, so that no test waits for five seconds. */
#include "tests/support/store.h"

#include "base/sync.h"
#include "kv/store/pace.h"
#include "kv/store/store.h"

static void pace__is_quiet_without_flushes(void **state)
{
    (void)state;
    struct bb_pace pace = {0};
    assert_true(bb_pace_is_quiet(&pace));
    bb_pace_flushed(&pace, 1000);
    assert_false(bb_pace_is_quiet(&pace));
    pace.waiters++;
    assert_true(bb_pace_is_quiet(&pace));
    pace.waiters--;
    assert_false(bb_pace_is_quiet(&pace));
    bb_pace_rest(&pace);
    assert_true(bb_pace_is_quiet(&pace));
}

/* Every wait for it is at least a moment, and never longer than the whole. */
static void pace__left_by_any_clock(void **state)
{
    (void)state;
    struct bb_pace pace = {0};
    bb_pace_flushed(&pace, 1000);
    assert_int_equal(bb_pace_left(&pace, 1000), BB_PACE_NANOSECONDS);
    assert_int_equal(bb_pace_left(&pace, 1001), BB_PACE_NANOSECONDS - 1);
    assert_int_equal(bb_pace_left(&pace, 1000 + BB_PACE_NANOSECONDS), 1);
    assert_int_equal(bb_pace_left(&pace, UINT64_MAX), 1);
    assert_int_equal(bb_pace_left(&pace, 0), BB_PACE_NANOSECONDS); /* it has gone back */
}

/* A merge that lasts longer than the series notices its end without the worker. */
static void pace__has_paused_by_the_clock(void **state)
{
    (void)state;
    struct bb_pace pace = {0};
    assert_true(bb_pace_has_paused(&pace, 0));
    bb_pace_flushed(&pace, 1000);
    assert_false(bb_pace_has_paused(&pace, 0));
    assert_false(bb_pace_has_paused(&pace, 1000));
    assert_false(bb_pace_has_paused(&pace, 999 + BB_PACE_NANOSECONDS));
    assert_true(bb_pace_has_paused(&pace, 1000 + BB_PACE_NANOSECONDS));
    assert_false(bb_pace_is_quiet(&pace));
    pace.waiters++;
    assert_true(bb_pace_has_paused(&pace, 1000));
}

static void flush_run(struct store *store, uint32_t run)
{
    for (uint32_t i = 0; i < 10; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%06u", i * 97 + run);
        store_put(store, key, "a value");
    }
    assert_ok(bb_db_flush(store->db));
}

static uint64_t level0_runs(struct store *store)
{
    return store_stats(store).levels[0].run_count;
}

static void pace__level0_gathers_while_flushes_follow(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.level0_run_count_compact = 2;
    store.options.level0_run_count_busy = 5;
    store_open(&store);
    for (uint32_t run = 1; run < 5; run++)
        flush_run(&store, run);
    assert_int_equal(level0_runs(&store), 4);
    flush_run(&store, 5);
    assert_int_equal(level0_runs(&store), 0);
    flush_run(&store, 6);
    assert_ok(bb_db_wait_idle(store.db));
    assert_int_equal(level0_runs(&store), 1);
    flush_run(&store, 7);
    assert_int_equal(level0_runs(&store), 2);
    assert_ok(bb_db_wait_idle(store.db));
    assert_int_equal(level0_runs(&store), 0);
    /* No call waits any more. */
    flush_run(&store, 8);
    flush_run(&store, 9);
    assert_int_equal(level0_runs(&store), 2);
    /* Runs found by an opening are not part of a series. */
    store_reopen(&store);
    assert_ok(bb_db_wait_idle(store.db));
    assert_int_equal(level0_runs(&store), 0);
    for (char key[] = "000001"; key[5] <= '9'; key[5]++)
        assert_get(&store, key, "a value");
    store_deinit(&store);
}

/* Counts compactions. */
struct watch {
    struct bb_mutex mutex;
    struct bb_condvar changed;
    size_t compactions;
};

static void on_event(void *context, const struct bb_event *event)
{
    struct watch *watch = context;
    bb_mutex_lock(&watch->mutex);
    watch->compactions += event->kind == BB_EVENT_COMPACTION;
    bb_condvar_broadcast(&watch->changed);
    bb_mutex_unlock(&watch->mutex);
}

static void wait_for_compaction(struct watch *watch)
{
    bb_mutex_lock(&watch->mutex);
    while (watch->compactions == 0)
        bb_condvar_wait(&watch->changed, &watch->mutex);
    bb_mutex_unlock(&watch->mutex);
}

/* The clock is put ahead, and the worker looks at it. */
static void let_time_pass(struct store *store)
{
    bb_file_memory_advance(store->memory, 2 * BB_PACE_NANOSECONDS);
    bb_mutex_lock(&store->db->mutex);
    bb_condvar_signal(&store->db->workers[BB_WORK_COMPACTION].is_due);
    bb_mutex_unlock(&store->db->mutex);
}

/* The worker does it without a waiting call. */
static void pace__level0_is_merged_when_flushes_cease(void **state)
{
    (void)state;
    struct store store;
    struct watch watch = {.compactions = 0};
    bb_mutex_init(&watch.mutex);
    bb_condvar_init(&watch.changed);
    store_init(&store);
    store.options.deterministic = false;
    store.options.level0_run_count_compact = 2;
    store.options.level0_run_count_busy = 7;
    store.options.on_event = on_event;
    store.options.event_context = &watch;
    store_open(&store);
    for (uint32_t run = 1; run < 4; run++)
        flush_run(&store, run);
    let_time_pass(&store);
    wait_for_compaction(&watch);
    assert_true(level0_runs(&store) < 2);
    assert_get(&store, "000003", "a value");
    store_deinit(&store);
    bb_condvar_deinit(&watch.changed);
    bb_mutex_deinit(&watch.mutex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pace__is_quiet_without_flushes),
        cmocka_unit_test(pace__left_by_any_clock),
        cmocka_unit_test(pace__has_paused_by_the_clock),
        cmocka_unit_test(pace__level0_gathers_while_flushes_follow),
        cmocka_unit_test(pace__level0_is_merged_when_flushes_cease),
    };
    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
