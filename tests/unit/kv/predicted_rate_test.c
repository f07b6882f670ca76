/* Goal: the expected waste of a store is computed from its stored filters, not from their targets:
 * where a table of few keys cannot mix to its target, where there are no filters, after reopening,
 * and for a manifest that is older than predicted rates. Method: the expectation is compared with
 * lookups of absent keys, for all kinds. */
#include "tests/support/store.h"

#include <math.h>

#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"
#include "tests/support/rng.h"

#define KEY_SIZE 16
#define RUNS     3
#define RUN_KEYS 900
#define LOOKUPS  100000

static struct bb_bytes draw_key(struct bb_rng *rng, uint8_t key[KEY_SIZE])
{
    bb_rng_bytes(rng, key, KEY_SIZE);
    return bb_bytes_of(key, KEY_SIZE);
}

static void add_run(struct store *store, struct bb_rng *rng)
{
    uint8_t key[KEY_SIZE];
    for (int i = 0; i < RUN_KEYS; i++)
        assert_ok(bb_db_put(store->db, NULL, draw_key(rng, key), bb_bytes_of_text("a value")));
    assert_ok(bb_db_flush(store->db));
}

/* Runs of level 0, one small table each, without a compaction. */
static void fill(struct store *store, enum bb_filter_kind kind, double target, struct bb_rng *rng)
{
    store_init(store);
    store->options.filter_kind = kind;
    if (kind != BB_FILTER_NONE)
        store->options.filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, target};
    store->options.write_buffer_bytes = 1 << 20;
    store->options.level0_run_count_compact = store->options.level0_run_count_busy = RUNS + 1;
    store_open(store);
    for (int i = 0; i < RUNS; i++)
        add_run(store, rng);
}

static double measure(struct store *store, struct bb_rng *rng)
{
    struct bb_read_stats reads = {0};
    struct bb_get_options options = {.stats = &reads};
    uint8_t key[KEY_SIZE];
    for (int i = 0; i < LOOKUPS; i++)
        assert_status(bb_db_get(store->db, &options, draw_key(rng, key), NULL), BB_NOT_FOUND);
    return (double)reads.visits[BB_VISIT_FALSE_POSITIVE] / LOOKUPS;
}

/* Every run is a table, so that both sums of rates are sums over tables. */
static void sum_tables(struct store *store, double *ret_targets, double *ret_predicted)
{
    struct bb_db_table_list list = {0};
    double targets = 0;
    double predicted = 0;
    assert_ok(bb_db_tables(store->db, &list));
    for (size_t i = 0; i < list.count; i++) {
        targets += list.tables[i].filter_rate;
        predicted += list.tables[i].predicted_rate;
    }
    assert_int_equal(list.count, RUNS);
    bb_db_table_list_deinit(&list);
    *ret_targets = targets;
    *ret_predicted = predicted;
}

/* Five standard errors, and some for blocks with an unusual share of the absent keys. */
static double tolerance(double rate)
{
    return 5 * sqrt(rate / LOOKUPS) + 0.02 * rate;
}

/* Returns whether the targets differ from the measured waste by more than is tolerated. */
static bool check_waste(enum bb_filter_kind kind, double target)
{
    struct store store;
    struct bb_rng rng;
    double targets = 0;
    double predicted = 0;
    bb_rng_init(&rng, bb_rng_seed("predicted_rate", 11));
    fill(&store, kind, target, &rng);
    struct bb_db_stats stats = store_stats(&store);
    sum_tables(&store, &targets, &predicted);
    double measured = measure(&store, &rng);
    print_message("%s, target %g: targets %.5f, expected %.5f, measured %.5f\n",
                  bb_filter_kind_name(kind), target, targets, stats.expected_wasted_reads,
                  measured);
    assert_true(fabs(stats.expected_wasted_reads - predicted) <= 1e-12);
    assert_true(stats.levels[0].filter_rate_sum == stats.expected_wasted_reads);
    assert_true(fabs(measured - predicted) <= tolerance(predicted));
    assert_int_equal(stats.levels[0].passing_table_count, 0);
    assert_int_equal(stats.levels[0].unpredicted_table_count, 0);
    store_deinit(&store);
    return targets - measured > tolerance(targets);
}

static void predicted_rate__is_the_measured_one_where_the_target_is_not(void **state)
{
    (void)state;
    /* The only filter of a table takes the longer fingerprints: 0.5 to 1 of the target. */
    assert_true(check_waste(BB_FILTER_RIBBON, 0.3));
    assert_true(check_waste(BB_FILTER_RIBBON, 0.14));
    /* No filter is smaller than a line, which is too much for the keys of a small block. */
    assert_true(check_waste(BB_FILTER_BLOCKED_BLOOM, 0.2));
    assert_false(check_waste(BB_FILTER_BLOOM, 0.2));
}

/* Blocks hold all filters of a table, or the table filter does. */
static void predicted_rate__of_the_filters_that_are_probed(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    double targets = 0;
    double predicted = 0;
    bb_rng_init(&rng, bb_rng_seed("predicted_rate__of_the_filters_that_are_probed", 12));
    fill(&store, BB_FILTER_RIBBON, 0.05, &rng);
    double with_all = store_stats(&store).expected_wasted_reads;
    store.options.table_filter_off = true;
    store_reopen(&store);
    sum_tables(&store, &targets, &predicted);
    assert_true(store_stats(&store).expected_wasted_reads == predicted);
    assert_true(predicted > 2 * with_all);
    double measured = measure(&store, &rng);
    assert_true(fabs(measured - predicted) <= tolerance(predicted));
    store_deinit(&store);
}

static void predicted_rate__is_in_the_manifest(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("predicted_rate__is_in_the_manifest", 13));
    fill(&store, BB_FILTER_BLOOM, 0.05, &rng);
    double before = store_stats(&store).expected_wasted_reads;
    store_reopen(&store);
    struct bb_db_stats stats = store_stats(&store);
    assert_true(stats.expected_wasted_reads == before);
    assert_int_equal(stats.table_memory_bytes, 0); /* no table is open */
    store_deinit(&store);
}

static void predicted_rate__without_filters_is_one(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("predicted_rate__without_filters_is_one", 14));
    fill(&store, BB_FILTER_NONE, 1, &rng);
    struct bb_db_stats stats = store_stats(&store);
    assert_true(stats.expected_wasted_reads == RUNS);
    assert_int_equal(stats.levels[0].passing_table_count, RUNS);
    assert_int_equal(stats.levels[0].unpredicted_table_count, 0);
    store_deinit(&store);
}

/* Closes the store and gives it a manifest with this predicted rate of all block filters; 0: an
 * older version wrote the manifest. */
static void rewrite_manifest(struct store *store, double block_rate)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    struct bb_manifest *manifest = NULL;
    store_close(store);
    assert_ok(bb_manifest_load(fs, STORE_PATH, &state, &report));
    for (size_t i = 0; i < state.table_count; i++) {
        state.tables[i]->meta.predicted_block_rate = block_rate;
        state.tables[i]->meta.predicted_table_filter_rate = block_rate > 0;
    }
    assert_ok(bb_manifest_create(fs, STORE_PATH, state.next_file_number, &state, &manifest));
    assert_ok(bb_manifest_close(manifest));
    bb_manifest_state_deinit(&state);
    store_open(store);
}

static void predicted_rate__of_an_older_manifest_is_the_target(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    double targets = 0;
    double predicted = 0;
    bb_rng_init(&rng, bb_rng_seed("predicted_rate__of_an_older_manifest_is_the_target", 15));
    fill(&store, BB_FILTER_RIBBON, 0.3, &rng);
    sum_tables(&store, &targets, &predicted);
    assert_true(predicted < 0.9 * targets);
    rewrite_manifest(&store, 0);
    struct bb_db_stats stats = store_stats(&store);
    assert_true(fabs(stats.expected_wasted_reads - targets) <= 1e-12);
    assert_int_equal(stats.levels[0].unpredicted_table_count, RUNS);
    (void)measure(&store, &rng); /* opens the tables, which have predicted rates */
    store_deinit(&store);
}

/* The statistics show them before any table is open. The tables' own properties are others. */
static void predicted_rate__of_filters_that_pass_everything(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    uint8_t key[KEY_SIZE];
    bb_rng_init(&rng, bb_rng_seed("predicted_rate__of_filters_that_pass_everything", 16));
    fill(&store, BB_FILTER_RIBBON, 0.3, &rng);
    rewrite_manifest(&store, 1);
    struct bb_db_stats stats = store_stats(&store);
    assert_true(stats.filter_bytes > 0);
    assert_true(stats.expected_wasted_reads == RUNS);
    assert_int_equal(stats.levels[0].passing_table_count, RUNS);
    assert_int_equal(stats.levels[0].unpredicted_table_count, 0);
    assert_status(bb_db_get(store.db, NULL, draw_key(&rng, key), NULL), BB_CORRUPT);
    assert_message("the manifest has 1 (1)");
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predicted_rate__is_the_measured_one_where_the_target_is_not),
        cmocka_unit_test(predicted_rate__of_the_filters_that_are_probed),
        cmocka_unit_test(predicted_rate__is_in_the_manifest),
        cmocka_unit_test(predicted_rate__without_filters_is_one),
        cmocka_unit_test(predicted_rate__of_an_older_manifest_is_the_target),
        cmocka_unit_test(predicted_rate__of_filters_that_pass_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
