/* Goal: with weights, a share of lookups that find their key and costs of reads by level, the
 * weighted waste stays within the target at every step, and runs with low weights have no filters.
 * Method: single rules on drawings; loads on simulated stores (load.h), the waste summed run by run
 * after every step. */
#include "compaction/pick/plan_rates.h"
#include "tests/unit/compaction/drawing.h"
#include "tests/unit/compaction/load.h"
#include "tests/unit/compaction/rates_sum.h"

#include "base/assert.h"

static const struct bb_shape shape = {
    .level0_run_count = 4, .level1_size_bytes = 4 * DRAWN_BYTES, .level_size_ratio = 10};

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", found, expected);
}

/* ---- the rules ---- */

/* Eight parts of the data are below the younger run, seven below the older one, four below level 1,
 * and none below level 2. */
static void rates_weights__visits_in_vain(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_read_weights weights = {.absent_share = 0.2};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "0: 9[a-z]*2~0.01 8[a-z]*1~0.02\n"
                                            "1: 3[a-z]*3~0.1\n2: 1[a-z]*4~0.5");
    const double younger = 0.2 + 0.8 * 8 / 10;
    const double older = 0.2 + 0.8 * 7 / 10;
    const double level1 = 0.2 + 0.8 * 4 / 10;
    const double level1_rate = 0.1;
    assert_near(bb_rates_level(levels, 0, &weights).waste, younger * 0.01 + older * 0.02);
    assert_near(bb_rates_level(levels, 0, &weights).visit_share, (younger + older) / 2);
    assert_near(bb_rates_level(levels, 1, &weights).waste, level1 * level1_rate);
    assert_near(bb_rates_level(levels, 1, &weights).visit_share, level1);
    assert_near(bb_rates_level(levels, 2, &weights).waste, 0.2 * 0.5);
    assert_near(bb_rates_level(levels, 2, &weights).visit_share, 0.2);
    assert_near(bb_rates_waste(levels, &weights, 2), 0.03 + level1_rate + 0.2 * 0.5);
    assert_true(rates_waste(levels, &weights) <= bb_rates_waste(levels, &weights, 2));
    assert_near(rates_waste(levels, NULL), rates_expected(levels));
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static double single_run_rate(double target, const struct bb_read_weights *weights)
{
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "");
    struct bb_rate_request request = {.levels = levels,
                                      .output_level = 2,
                                      .output_keys = 1000,
                                      .target = target,
                                      .weights = weights};
    double rate = bb_rates_for_run(&request);
    assert_true(rate == 1 || bb_rates_waste_after(&request, rate) <= target * (1 + 1e-9));
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
    return rate;
}

/* Only lookups of absent keys check the last run in vain. */
static void rates_weights__a_single_run(void **state)
{
    (void)state;
    assert_near(single_run_rate(0.01, &(struct bb_read_weights){.absent_share = 0.1}), 0.1);
    assert_near(single_run_rate(0.01, &(struct bb_read_weights){.absent_share = 0.01}), 1);
    assert_near(single_run_rate(0.01, &(struct bb_read_weights){.absent_share = 0.001}), 1);
    /* A rate of 0.8 would be allowed; half is the most that a filter can have. */
    assert_near(single_run_rate(0.01, &(struct bb_read_weights){.absent_share = 0.0125}), 0.5);
}

static double first_flush_rate(double absent_share)
{
    const struct bb_shape defaults = {
        .level0_run_count = 12, .level1_size_bytes = 4 * DRAWN_BYTES, .level_size_ratio = 10};
    const struct bb_read_weights weights = {.absent_share = absent_share};
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "");
    struct bb_rate_request request = {.levels = levels,
                                      .output_keys = DRAWN_KEYS,
                                      .shape = &defaults,
                                      .target = 0.01,
                                      .weights = &weights};
    double rate = bb_rates_for_run(&request);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
    return rate;
}

/* Regression: the first flush got a twelfth of the target, for runs that may never come, unless all
 * lookups were for absent keys. */
static void rates_weights__a_first_flush(void **state)
{
    (void)state;
    assert_near(first_flush_rate(1), 0.01 / 1.5);
    assert_true(fabs(first_flush_rate(0.999) - first_flush_rate(1)) < 0.0001);
    assert_true(first_flush_rate(0.1) > first_flush_rate(1) / 2);
}

/* The others share the part that the last level does not use: level 1, full, gets the rate from
 * bb_filter_allocate. */
static void rates_weights__what_is_left_is_spread_again(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_read_weights weights = {.absent_share = 0.002};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "2: 1[a-z]*36~1");
    struct bb_rate_request request = {.levels = levels,
                                      .output_level = 1,
                                      .output_keys = 4 * DRAWN_KEYS,
                                      .target = 0.01,
                                      .weights = &weights};
    assert_near(bb_rates_for_run(&request), 0.01 - 0.002);
    /* Without the weights it would be a tenth of the target, if the other run kept it. */
    request.weights = NULL;
    assert_true(bb_rates_for_run(&request) < 0.001);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* A last level that overflows is planned for as one among others. */
static void rates_weights__a_full_last_level_counts_as_any(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_pick_options options = {.shape = shape,
                                      .has_filters = true,
                                      .target_wasted_reads = 0.01,
                                      .weights = {.absent_share = 0.001}};
    struct bb_plan plan = {0};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 1[a-d]*2~1 2[e-h]*2~1");
    /* Rewritten in place before a table may go to level 2. */
    assert_ok(bb_pick(levels, &options, &plan));
    assert_int_equal(plan.reason, BB_PLAN_RATE_EXCESS);
    assert_int_equal(plan.output_level, 1);
    assert_true(bb_plan_rates_for(levels, &options, &plan) < 0.011);
    bb_plan_deinit(&plan);
    bb_levels_unref(levels);
    levels = draw(&drawn, "1: 1[a-d]*2~0.004 2[e-h]*2~0.005");
    assert_ok(bb_pick(levels, &options, &plan));
    assert_int_equal(plan.reason, BB_PLAN_LEVEL_SIZE);
    assert_int_equal(plan.output_level, 2);
    bb_plan_deinit(&plan);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* ---- loads ---- */

#define FLUSHES 80

static const struct bb_read_weights weightings[] = {
    {.absent_share = 0.5},   {.absent_share = 0.1},  {.absent_share = 0.01},
    {.absent_share = 0.001}, {.absent_share = 0.05},
};

static void check_step(const struct simulation *simulation)
{
    if (simulation->worst > BB_RATES_SLACK)
        fail_msg("the waste is %.4f times the target", simulation->worst);
}

static double bits_per_key(const struct simulation *simulation)
{
    double bytes = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        bytes += (double)simulation->levels->levels[level].filter_bytes;
    return 8 * bytes / (double)bb_levels_key_count(simulation->levels);
}

/* Gives the bits per key after a full compaction. */
static double run_load(const struct form *form, enum load load,
                       const struct bb_read_weights *weights, uint64_t seed)
{
    struct simulation *simulation = simulation_of(form);
    struct bb_rng rng;
    simulation->options.weights = *weights;
    bb_rng_init(&rng, seed);
    for (uint64_t flush = 0; flush < FLUSHES; flush++) {
        size_t count = 0;
        uint64_t *entries = draw_flush(form, load, &rng, flush, &count);
        simulate_flush(simulation, entries, count);
        check_step(simulation);
        if (!bb_rng_one_in(&rng, 5))
            simulate_compactions(simulation);
        check_step(simulation);
        free(entries);
    }
    simulate_compactions(simulation);
    double loaded = bits_per_key(simulation);
    simulate_full_compaction(simulation);
    simulate_compactions(simulation);
    check_step(simulation);
    double compacted = bits_per_key(simulation);
    printf("%-10s runs %u, ratio %2u, target %-6g, absent %g: worst %.3f; %.2f bits per key, "
           "compacted %.2f; %llu merges, %llu moves, %llu for rates\n",
           load_names[load], form->run_count, form->size_ratio, form->target,
           bb_read_weights_absent(weights), simulation->worst, loaded, compacted,
           (unsigned long long)simulation->merges, (unsigned long long)simulation->moves,
           (unsigned long long)simulation->excesses);
    simulation_destroy(simulation);
    return compacted;
}

static void rates_weights__keep_the_target_at_every_step(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("rates_weights__keep_the_target_at_every_step", 77);
    for (int load = 0; load < LOAD_COUNT; load++) {
        for (size_t i = 0; i < BB_ARRAY_LENGTH(weightings); i++) {
            const struct form *form = &forms[(i + (size_t)load) % BB_ARRAY_LENGTH(forms)];
            (void)run_load(form, (enum load)load, &weightings[i], seed++);
        }
    }
}

/* One store with a growing share of lookups that find their key: its filters shrink to nothing. */
static void rates_weights__fewer_absent_keys_need_less_memory(void **state)
{
    (void)state;
    static const double shares[] = {1, 0.1, 0.03, 0.01, 0.001};
    uint64_t seed = bb_rng_seed("rates_weights__fewer_absent_keys_need_less_memory", 5);
    double before = 20;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(shares); i++) {
        struct bb_read_weights weights = {.absent_share = shares[i]};
        double bits = run_load(&forms[0], LOAD_UNIFORM, &weights, seed);
        double ideal =
            shares[i] > 0.01 ? bb_filter_cost_bits(&simulated_cost, 0.01 / shares[i]) : 0;
        assert_true(fabs(bits - ideal) < 0.05);
        assert_true(bits <= before);
        before = bits;
    }
}

/* A running merge of level 0 counts as finished: its keys and runs are in its output level. */
static void rates_weights__parts_while_level_0_is_merged(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_rate_merge merge = {.level = 1, .runs = 2, .keys = 1.5 * (double)DRAWN_KEYS};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "0: 3[a-z] 2[a-z] 1[a-z]\n2: 4[a-z]");
    struct bb_rate_request request = {.levels = levels, .output_level = 3, .merge = &merge};
    static const double keys[] = {1.5, 1.5, 1, 0};
    static const size_t runs[] = {1, 1, 1, 0};
    for (int level = 0; level < 4; level++) {
        struct bb_rate_part part = bb_rate_request_part(&request, level);
        assert_true(part.keys == keys[level] * (double)DRAWN_KEYS);
        assert_int_equal(part.runs, runs[level]);
    }
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_weights__visits_in_vain),
        cmocka_unit_test(rates_weights__a_single_run),
        cmocka_unit_test(rates_weights__a_first_flush),
        cmocka_unit_test(rates_weights__what_is_left_is_spread_again),
        cmocka_unit_test(rates_weights__a_full_last_level_counts_as_any),
        cmocka_unit_test(rates_weights__keep_the_target_at_every_step),
        cmocka_unit_test(rates_weights__fewer_absent_keys_need_less_memory),
        cmocka_unit_test(rates_weights__parts_while_level_0_is_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
