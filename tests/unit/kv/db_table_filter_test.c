/* Goal: with and without table filters, lookups keep the reported target. Method: stores that are
 * reopened without them; wasted requests of absent keys are counted and compared with the
 * statistics' expectation. */
#include <math.h>

#include "base/hash.h"
#include "tests/support/rng.h"
#include "tests/support/store.h"

#define STORED  12000
#define LOOKUPS 30000

static void key_of(uint32_t i, char key[16])
{
    snprintf(key, 16, "%08u", i);
}

static struct bb_db_stats stats_of(const struct store *store)
{
    struct bb_db_stats stats;
    bb_db_stats(store->db, &stats);
    return stats;
}

static void open_filled(struct store *store, double table_filter_bits,
                        struct bb_hash_secret *secret)
{
    bb_hash_secret_from_seed(7, secret);
    store_init(store);
    store->options.secret = secret;
    store->options.table_filter_bits = table_filter_bits;
    store_open(store);
    for (uint32_t i = 0; i < STORED; i++) {
        char key[16];
        key_of(2 * (i * 7 % STORED), key);
        store_put(store, key, "a value");
    }
    assert_ok(bb_db_compact(store->db));
}

/* Wasted requests per absent key, as counted and as expected before. */
static void measure(struct store *store, double *ret_measured, double *ret_expected)
{
    struct bb_db_stats before = stats_of(store);
    uint64_t wasted = 0;
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        char key[16];
        key_of(2 * (i % (STORED - 1)) + 1, key);
        assert_status(bb_db_get(store->db, NULL, bb_bytes_of_text(key), NULL), BB_NOT_FOUND);
    }
    struct bb_db_stats after = stats_of(store);
    uint64_t bytes = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        bytes += before.levels[level].table_filter_bytes;
        wasted += after.level_reads[level].visits[BB_VISIT_FALSE_POSITIVE] -
                  before.level_reads[level].visits[BB_VISIT_FALSE_POSITIVE];
    }
    *ret_measured = (double)wasted / LOOKUPS;
    *ret_expected = before.expected_wasted_reads;
    print_message("%.5f wasted requests, %.5f expected, target %.5f, table filters %llu bytes\n",
                  *ret_measured, *ret_expected, before.target_wasted_reads,
                  (unsigned long long)bytes);
}

/* Each key is looked up two or three times, and is wasted each time or never: deviations are
 * wider. */
static void assert_honest(struct store *store)
{
    double measured = 0;
    double expected = 0;
    measure(store, &measured, &expected);
    double deviation = sqrt(3 * expected / LOOKUPS);
    assert_true(measured <= expected + 5 * deviation);
    assert_true(measured >= 0.7 * expected - 5 * deviation);
}

static void check_off(double table_filter_bits, double rate_min)
{
    struct store store;
    struct bb_hash_secret secret;
    open_filled(&store, table_filter_bits, &secret);
    assert_honest(&store);
    assert_true(stats_of(&store).expected_wasted_reads <= 0.011);
    store.options.table_filter_off = true;
    store_reopen(&store);
    struct bb_db_stats stats = stats_of(&store);
    assert_true(stats.expected_wasted_reads >= rate_min);
    assert_true(fabs(stats.levels[1].filter_rate_sum - stats.levels[1].expected_wasted_reads) <
                1e-12);
    assert_honest(&store);
    /* Tables written while table filters are off lack them, and keep the target. */
    assert_ok(bb_db_compact(store.db));
    stats = stats_of(&store);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        assert_int_equal(stats.levels[level].table_filter_bytes, 0);
    assert_true(stats.expected_wasted_reads <= 0.011);
    assert_honest(&store);
    store_close(&store);
    store_deinit(&store);
}

static void db_table_filter__off_is_no_part_of_the_target(void **state)
{
    (void)state;
    check_off(5, 0.05);
    check_off(BB_TABLE_FILTER_ALL, 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_table_filter__off_is_no_part_of_the_target),
    };
    return cmocka_run_group_tests_name("db_table_filter", tests, NULL, NULL);
}
