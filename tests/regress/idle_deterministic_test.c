/* Goal: bb_db_wait_idle leaves no due work in deterministic mode either, where no thread does it.
 * Method: an opening finds more runs of level 0 than the options allow. (Found by reading: it only
 * checked for a failure.) */
#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "bb/db.h"
#include "tests/support/file_memory.h"

static struct bb_db *open_store(struct bb_file_memory *memory, uint32_t run_count_compact)
{
    struct bb_db_options options = {.create_if_missing = true,
                                    .file_system = bb_file_memory_system(memory),
                                    .level0_run_count_compact = run_count_compact,
                                    .deterministic = true};
    struct bb_db *db = NULL;
    assert_ok(bb_db_open("/store", &options, &db));
    return db;
}

static void idle_deterministic__leaves_nothing_due(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_db *db = open_store(memory, 10);
    struct bb_db_stats stats;
    for (int i = 0; i < 6; i++) {
        assert_ok(bb_db_put(db, NULL, bb_bytes_of_text("key"), bb_bytes_of_text("value")));
        assert_ok(bb_db_flush(db));
    }
    assert_ok(bb_db_close(db));
    db = open_store(memory, 2);
    bb_db_stats(db, &stats);
    assert_int_equal(stats.levels[0].run_count, 6);
    assert_ok(bb_db_wait_idle(db));
    bb_db_stats(db, &stats);
    assert_int_equal(stats.levels[0].run_count, 0);
    assert_ok(bb_db_get(db, NULL, bb_bytes_of_text("key"), NULL));
    assert_ok(bb_db_close(db));
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(idle_deterministic__leaves_nothing_due)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
