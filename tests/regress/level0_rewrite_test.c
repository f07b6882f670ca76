/* Goal: a run of level 0 is never rewritten in place. The new table would have a higher number than
 * runs that are really newer, and its old versions would hide deletions in them. Method: level 0
 * has a value and, in a newer run, its deletion; the store is reopened with a much lower target, so
 * that the filters of the runs are an excess. (Found by the model test: "get finds a key that is
 * not there".) */
#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "bb/db.h"
#include "tests/support/file_memory.h"

static struct bb_db *open_store(struct bb_file_memory *memory, double target)
{
    struct bb_db_options options = {.create_if_missing = true,
                                    .file_system = bb_file_memory_system(memory),
                                    .filter_amount = {BB_FILTER_WASTED_READS, target},
                                    .level0_run_count_compact = 10,
                                    .deterministic = true};
    struct bb_db *db = NULL;
    assert_ok(bb_db_open("/store", &options, &db));
    return db;
}

static void put_and_flush(struct bb_db *db, const char *key, bool is_put)
{
    struct bb_bytes bytes = bb_bytes_of_text(key);
    assert_ok(is_put ? bb_db_put(db, NULL, bytes, bytes) : bb_db_delete(db, NULL, bytes));
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text("another"), bytes));
    assert_ok(bb_db_flush(db));
}

static void level0_rewrite__hides_no_deletion(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_db *db = open_store(memory, 1.0);
    put_and_flush(db, "key", true);
    put_and_flush(db, "key", false);
    put_and_flush(db, "other", true);
    assert_ok(bb_db_close(db));
    db = open_store(memory, 1e-5);
    /* Anything that makes the work due be done. */
    put_and_flush(db, "third", true);
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    assert_true(stats.compactions > 0);
    assert_int_equal(bb_db_get(db, NULL, bb_bytes_of_text("key"), NULL), BB_NOT_FOUND);
    assert_ok(bb_db_close(db));
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(level0_rewrite__hides_no_deletion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
