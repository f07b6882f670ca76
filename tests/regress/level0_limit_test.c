/* While space is short, a write or flush that cancels a merge adds a run to level 0. The limit on
 * these runs did not count the frozen memtables, each of which becomes a run too: 12 runs were seen
 * where the limit is 8. */
#include "tests/support/store.h"

#include "kv/background/compaction_work.h"
#include "kv/store/store.h"
#include "kv/write/commit.h"
#include "kv/write/freeze.h"

/* Pretends that a write has stopped the merges, so that others may join it. */
static bool may_yield(struct bb_db *db, enum bb_new_run new_run)
{
    bb_mutex_lock(&db->mutex);
    db->yield_count++;
    bb_mutex_unlock(&db->mutex);
    bool may = bb_compaction_work_begin_yield(db, new_run, bb_compaction_work_ends(db));
    if (may)
        bb_compaction_work_end_yield(db);
    bb_compaction_work_end_yield(db);
    return may;
}

static void freeze(struct bb_db *db)
{
    struct bb_commit commit;
    assert_ok(bb_commit_become_leader(db, &commit));
    assert_ok(bb_freeze_memtable(db, 64 * 1024));
    bb_commit_release_leader(db, &commit);
}

static void level0_limit__counts_frozen_memtables(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.level0_run_count_compact = store.options.level0_run_count_busy = 3;
    store.options.level0_run_count_stop = 4;
    store_open(&store);
    bb_mutex_lock(&store.db->mutex);
    store.db->yield_count++; /* no merge begins */
    bb_mutex_unlock(&store.db->mutex);
    for (int i = 0; i < 7; i++) {
        store_put(&store, "key", "value");
        assert_ok(bb_db_flush(store.db));
    }
    assert_true(may_yield(store.db, BB_NEW_RUN_UNFROZEN));
    store_put(&store, "key", "value");
    freeze(store.db);
    assert_false(may_yield(store.db, BB_NEW_RUN_UNFROZEN));
    assert_true(may_yield(store.db, BB_NEW_RUN_FROZEN));
    assert_ok(bb_db_flush(store.db));
    assert_false(may_yield(store.db, BB_NEW_RUN_FROZEN));
    bb_compaction_work_end_yield(store.db);
    assert_ok(bb_db_wait_idle(store.db));
    assert_true(may_yield(store.db, BB_NEW_RUN_UNFROZEN));
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level0_limit__counts_frozen_memtables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
