/* Goal: a compacted store wastes what its target allows, not half of it, also if the filters of
 * each table are one or two shards. The filters of one compaction's tables share a mean rate.
 * Method: lookups of absent keys in stores of small tables, under targets between two whole numbers
 * of bits. */
#include "tests/support/store.h"

#include <inttypes.h>

#include "tests/support/rng.h"

#define KEY_SIZE 16
#define KEYS     30000
#define LOOKUPS  150000

static struct bb_bytes draw_key(struct bb_rng *rng, uint8_t key[KEY_SIZE])
{
    bb_rng_bytes(rng, key, KEY_SIZE);
    return bb_bytes_of(key, KEY_SIZE);
}

static void fill(struct store *store, struct bb_rng *rng)
{
    uint8_t key[KEY_SIZE];
    uint8_t value[20];
    store_open(store);
    for (int i = 0; i < KEYS; i++) {
        struct bb_bytes drawn = draw_key(rng, key);
        bb_rng_bytes(rng, value, sizeof(value));
        assert_ok(bb_db_put(store->db, NULL, drawn, bb_bytes_of(value, sizeof(value))));
    }
    assert_ok(bb_db_compact(store->db));
}

static double waste(struct store *store, struct bb_rng *rng)
{
    struct bb_read_stats reads = {0};
    struct bb_get_options options = {.stats = &reads};
    struct bb_buf value = {0};
    uint8_t key[KEY_SIZE];
    for (int i = 0; i < LOOKUPS; i++)
        assert_int_equal(bb_db_get(store->db, &options, draw_key(rng, key), &value), BB_NOT_FOUND);
    bb_buf_deinit(&value);
    return (double)reads.visits[BB_VISIT_FALSE_POSITIVE] / LOOKUPS;
}

static void check_target(double target, uint64_t table_size_bytes)
{
    uint64_t seed = bb_rng_seed("small_tables", 1);
    struct bb_rng rng;
    struct store store;
    bb_rng_init(&rng, seed);
    store_init(&store);
    store.options.table_size_bytes = table_size_bytes;
    store.options.filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, target};
    fill(&store, &rng);
    struct bb_db_stats stats = {0};
    bb_db_stats(store.db, &stats);
    uint64_t tables = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        tables += stats.levels[level].table_count;
    double wasted = waste(&store, &rng);
    print_message("target %g, %" PRIu64 " tables: %.5f wasted, %.3f of the target\n", target,
                  tables, wasted, wasted / target);
    assert_true(tables >= 20);
    assert_true(wasted >= 0.9 * target && wasted <= 1.1 * target);
    store_deinit(&store);
}

/* One shard has at most about 2,000 keys. */
static void small_tables__one_shard(void **state)
{
    (void)state;
    check_target(0.014, 32 * 1024);
    check_target(0.010, 32 * 1024);
}

static void small_tables__few_shards(void **state)
{
    (void)state;
    check_target(0.014, 64 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_tables__one_shard),
        cmocka_unit_test(small_tables__few_shards),
    };
    return cmocka_run_group_tests_name("small_tables", tests, NULL, NULL);
}
