/* Goal: a compaction of a range removes its old versions and tombstones in tiered stores. Level 1
 * has two runs when a new version and a deletion move there from level 0. The compaction took level
 * 1 for data that was written after the request, and left it above the old versions of level 2. */
#include "tests/support/assert_status.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "bb/db.h"
#include "tests/support/file_memory.h"

static struct bb_db *open_store(struct bb_file_memory *memory, enum bb_compaction_style style)
{
    struct bb_db_options options = {.create_if_missing = true,
                                    .file_system = bb_file_memory_system(memory),
                                    .compaction_style = style,
                                    .level_size_ratio = 10,
                                    .level1_size_bytes = 4096,
                                    .level0_run_count_compact = 2,
                                    .level0_run_count_busy = 2,
                                    .compression = BB_COMPRESSION_NONE,
                                    .deterministic = true};
    struct bb_db *db = NULL;
    assert_ok(bb_db_open("/store", &options, &db));
    return db;
}

static void put(struct bb_db *db, const char *key, const char *value)
{
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text(key), bb_bytes_of_text(value)));
}

/* Old versions in the last level, and several runs above it. */
static void fill(struct bb_db *db)
{
    char value[2000];
    char key[8];
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof(key), "k%02d", i);
        put(db, key, value);
    }
    put(db, "m1", "old");
    put(db, "m2", "old");
    assert_ok(bb_db_compact(db));
    for (int i = 0; i < 4; i++) {
        put(db, "a1", "a");
        assert_ok(bb_db_flush(db));
    }
}

static uint64_t entries_of(struct bb_db *db)
{
    struct bb_db_stats stats;
    uint64_t entries = 0;
    bb_db_stats(db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        entries += stats.levels[level].entry_count;
    return entries;
}

static void check(enum bb_compaction_style style)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_db *db = open_store(memory, style);
    struct bb_bytes low = bb_bytes_of_text("m");
    struct bb_bytes high = bb_bytes_of_text("n");
    struct bb_db_stats stats;
    fill(db);
    uint64_t before = entries_of(db);
    put(db, "m1", "new");
    assert_ok(bb_db_delete(db, NULL, bb_bytes_of_text("m2")));
    assert_ok(bb_db_compact_range(db, &low, &high));
    bb_db_stats(db, &stats);
    assert_int_equal(stats.tombstone_count, 0);
    /* At least without the old m1 and m2, and with the new m1. Versions of a1 may be merged. */
    assert_true(entries_of(db) <= before - 1);
    assert_ok(bb_db_close(db));
    bb_file_memory_destroy(memory);
}

static void range_of_runs__leaves_no_old_version(void **state)
{
    (void)state;
    check(BB_COMPACTION_TIERED);
    check(BB_COMPACTION_LAZY_LEVELING);
    check(BB_COMPACTION_LEVELED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_of_runs__leaves_no_old_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
