/* Goal: for every style, even if it changes at every opening, all ways of reading return the last
 * written state: gets, batches, iterators, a reader next to the writer, a checkpoint. Method: few
 * keys, overwritten and deleted through many flushes. */
#include "tests/support/store.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "bb/db_files.h"
#include "tests/support/rng.h"

#define KEYS   60
#define ROUNDS 40
#define COPY   "/data/copy"

struct world {
    struct store store;
    uint32_t rounds[KEYS]; /* in which it was written last; 0: deleted or never */
    bool has_tiers;
};

static struct bb_bytes key_at(uint32_t i, char key[8])
{
    snprintf(key, 8, "k%03u", (unsigned)i);
    return bb_bytes_of_text(key);
}

static void write_round(struct world *world, uint32_t round, struct bb_rng *rng)
{
    for (uint32_t i = 0; i < KEYS / 2; i++) {
        char key[8];
        char value[600];
        uint32_t k = (uint32_t)bb_rng_below(rng, KEYS);
        (void)key_at(k, key);
        memset(value, 'v', sizeof(value));
        snprintf(value + 580, 20, "%u", (unsigned)round);
        bool is_deleted = bb_rng_one_in(rng, 3);
        if (is_deleted)
            store_delete(&world->store, key);
        else
            store_put(&world->store, key, value);
        world->rounds[k] = is_deleted ? 0 : round;
    }
    assert_ok(bb_db_flush(world->store.db));
}

static void check_value(const struct world *world, uint32_t k, struct bb_bytes value)
{
    char wanted[20];
    assert_true(world->rounds[k] != 0 && value.size > 580);
    int size = snprintf(wanted, sizeof(wanted), "%u", (unsigned)world->rounds[k]);
    assert_int_equal(value.size, 580 + size);
    assert_memory_equal(value.data + 580, wanted, (size_t)size);
}

static void check_gets(const struct world *world, struct bb_db *db)
{
    char names[KEYS][8];
    struct bb_bytes keys[KEYS];
    struct bb_buf values[KEYS] = {{0}};
    enum bb_status statuses[KEYS];
    for (uint32_t i = 0; i < KEYS; i++)
        keys[i] = key_at(i, names[i]);
    assert_ok(bb_db_get_many(db, NULL, keys, KEYS, values, statuses));
    for (uint32_t i = 0; i < KEYS; i++) {
        struct bb_buf value = {0};
        enum bb_status wanted = world->rounds[i] == 0 ? BB_NOT_FOUND : BB_OK;
        assert_status(bb_db_get(db, NULL, keys[i], &value), wanted);
        assert_int_equal(statuses[i], wanted);
        if (wanted == BB_OK) {
            check_value(world, i, bb_buf_bytes(&value));
            check_value(world, i, bb_buf_bytes(&values[i]));
        }
        bb_buf_deinit(&value);
        bb_buf_deinit(&values[i]);
    }
}

static void check_walk(const struct world *world, struct bb_db *db)
{
    struct bb_db_iter *iter = NULL;
    assert_ok(bb_db_iter_create(db, NULL, &iter));
    bb_db_iter_seek_first(iter);
    for (uint32_t i = 0; i < KEYS; i++) {
        char key[8];
        if (world->rounds[i] == 0)
            continue;
        assert_true(bb_db_iter_valid(iter));
        assert_true(bb_bytes_equal(bb_db_iter_key(iter), key_at(i, key)));
        check_value(world, i, bb_db_iter_value(iter));
        bb_db_iter_next(iter);
    }
    assert_false(bb_db_iter_valid(iter));
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
}

static void check_all(const struct world *world, struct bb_db *db)
{
    check_gets(world, db);
    check_walk(world, db);
}

static void check_copy(const struct world *world)
{
    struct bb_db *db = NULL;
    struct bb_db_destroy_report report = {0};
    assert_ok(bb_db_checkpoint(world->store.db, COPY));
    assert_ok(bb_db_open(COPY, &world->store.options, &db));
    check_all(world, db);
    assert_ok(bb_db_close(db));
    assert_ok(bb_db_destroy(COPY, &world->store.options, &report));
}

static void look_for_tiers(struct world *world)
{
    struct bb_db_stats stats;
    bb_db_stats(world->store.db, &stats);
    /* A filter of a few keys may have up to twice its target; the filters that balanced it may be
     * gone. */
    assert_true(stats.expected_wasted_reads <= 2 * 1.1 * stats.target_wasted_reads);
    uint64_t runs = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        runs += stats.levels[level].run_count;
    assert_int_equal(stats.run_count, runs);
    assert_true(stats.space_amplification >= 1 &&
                stats.space_amplification <= (double)(runs == 0 ? 1 : runs));
    for (int level = 1; level < BB_LEVEL_COUNT; level++)
        world->has_tiers = world->has_tiers || stats.levels[level].run_count > 1;
}

/* Since the last opening everything was written to the log, and most of it to a table. */
static void check_amplification(const struct world *world)
{
    struct bb_db_stats stats;
    bb_db_stats(world->store.db, &stats);
    double written =
        (double)(stats.wal_bytes + stats.flush_bytes_written + stats.compaction_bytes_written);
    assert_true(stats.gets > 0 && stats.write_bytes > 0);
    assert_true(stats.write_amplification > 1);
    assert_true(stats.write_amplification * (double)stats.write_bytes < written * 1.001);
    assert_true(stats.read_amplification <= (double)stats.run_count + 20);
}

/* styles: one for each opening, alternating. */
static void run_styles(const enum bb_compaction_style *styles, size_t count, bool has_tiers)
{
    struct world world = {.has_tiers = false};
    struct bb_rng rng;
    struct bb_db *reader = NULL;
    bb_rng_init(&rng, bb_rng_seed("db_styles", 5));
    store_init(&world.store);
    world.store.options.level0_run_count_compact = 1;
    world.store.options.level0_run_count_busy = 1;
    world.store.options.level1_size_bytes = 4 * 1024;
    world.store.options.compression = BB_COMPRESSION_NONE;
    world.store.options.table_size_bytes = 4 * 1024;
    world.store.options.compaction_style = styles[0];
    store_open(&world.store);
    struct bb_db_options options = world.store.options;
    options.create_if_missing = false;
    options.read_only = true;
    assert_ok(bb_db_open(STORE_PATH, &options, &reader));
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        write_round(&world, round, &rng);
        look_for_tiers(&world);
        check_all(&world, world.store.db);
        check_amplification(&world);
        assert_ok(bb_db_refresh(reader));
        check_all(&world, reader);
        if (round % 10 == 0)
            check_copy(&world);
        world.store.options.compaction_style = styles[round / 5 % count];
        if (round % 5 == 0)
            store_reopen(&world.store);
    }
    assert_int_equal(world.has_tiers, has_tiers);
    assert_ok(bb_db_close(reader));
    assert_ok(bb_db_compact_range(world.store.db, NULL, NULL));
    check_all(&world, world.store.db);
    assert_ok(bb_db_compact(world.store.db));
    check_all(&world, world.store.db);
    store_deinit(&world.store);
}

static void db_styles__leveled(void **state)
{
    (void)state;
    run_styles((enum bb_compaction_style[]){BB_COMPACTION_LEVELED}, 1, false);
}

static void db_styles__tiered(void **state)
{
    (void)state;
    run_styles((enum bb_compaction_style[]){BB_COMPACTION_TIERED}, 1, true);
}

static void db_styles__lazy_leveling(void **state)
{
    (void)state;
    run_styles((enum bb_compaction_style[]){BB_COMPACTION_LAZY_LEVELING}, 1, true);
}

static void db_styles__another_one_at_each_opening(void **state)
{
    (void)state;
    run_styles((enum bb_compaction_style[]){BB_COMPACTION_TIERED, BB_COMPACTION_LEVELED,
                                            BB_COMPACTION_LAZY_LEVELING},
               3, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_styles__leveled),
        cmocka_unit_test(db_styles__tiered),
        cmocka_unit_test(db_styles__lazy_leveling),
        cmocka_unit_test(db_styles__another_one_at_each_opening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
