/* Goal: the sum of the filters' rates stays within the target at every step of a store's life,
 * equals the target after a full compaction, and costs little more than minimal memory. Method:
 * drawings for the single rules; loads of many shapes on simulated stores (simulation.h), with
 * every sum checked after every flush, merge and move. */
#include "tests/unit/compaction/drawing.h"
#include "tests/unit/compaction/load.h"
#include "tests/unit/compaction/question.h"
#include "tests/unit/compaction/rates_sum.h"

#include "base/assert.h"

/* ---- the rules ---- */

static void rates__expected_adds_runs_and_weighs_tables(void **state)
{
    (void)state;
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels =
        draw(&drawn, "0: 9[a-z]*5~0.01 8[a-z]~0.02\n1: 3[a-d]*3~0.1 2[m-q]~0.2\n4: 1[a-z]~0.5");
    assert_near(rates_level(levels, 0), 0.03);
    assert_near(rates_level(levels, 1), 0.125);
    assert_near(rates_level(levels, 2), 0);
    assert_near(rates_expected(levels), 0.655);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* Statistics have the rates of the stored filters. Level 0: a table whose rate is lower than its
 * target, and one without filters. Level 1: tables of one run, of which the second is older than
 * predicted rates. */
static void rates__statistics_add_the_predicted_rates(void **state)
{
    (void)state;
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels =
        draw(&drawn, "0: 9[a-y]*5~0.01^0.0078125 8[a-y]~1^1\n1: 3[a-i]*3~0.1^0.0625 2[s-y]~0.2");
    struct bb_rate_level level = bb_rates_level(levels, 0, NULL);
    assert_near(level.rate_sum, 1.0078125);
    assert_near(level.waste, 1.0078125);
    level = bb_rates_level(levels, 1, NULL);
    /* A third of level 0 is within the first table of level 1, and a quarter within the second. */
    double waste = (0.0625 * (3 + 2) + 0.2 * (1 + 1.5)) / 10;
    assert_near(level.rate_sum, waste);
    struct bb_read_weights weights = {.absent_share = 0.2};
    level = bb_rates_level(levels, 0, &weights);
    double older = 0.2 + 0.8 * 4 / 10;
    double younger = 0.2 + 0.8 * 5 / 10;
    assert_near(level.rate_sum, 1.0078125);
    assert_near(level.waste, younger * 0.0078125 + older);
    assert_near(bb_rates_level(levels, 1, &weights).waste, 0.2 * waste);
    /* Plans keep to the targets. */
    assert_near(rates_level(levels, 0), 1.01);
    assert_near(rates_level(levels, 1), 0.125);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void rates__first_runs_share_with_those_to_come(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    /* Three more have space, but at most half as many keys as there are then are planned for. */
    struct bb_levels *levels = draw(&drawn, "");
    ask(&question, levels, 0, 1);
    assert_near(bb_rates_for_run(&question.request), 0.01 / 1.5);
    bb_levels_unref(levels);
    /* Three of four are there: the fourth leaves two thirds of the rest to half as many keys as
     * level 0 has then. */
    levels = draw(&drawn, "0: 3[a-z]~0.0025 2[a-z]~0.0025 1[a-z]~0.0025");
    ask(&question, levels, 0, 1);
    assert_near(bb_rates_for_run(&question.request), 0.0033 / 3);
    /* All of them merged leave space for four more; 10 % of the keys are planned for. */
    ask(&question, levels, 1, 3);
    for (uint64_t number = 1; number <= 3; number++)
        ask_without(&question, number);
    assert_near(bb_rates_for_run(&question.request), 0.01 / 1.1);
    bb_levels_unref(levels);
    /* In tiers, each of the four gets its quarter. */
    const struct bb_shape tiers = {.style = BB_COMPACTION_TIERED,
                                   .level0_run_count = 4,
                                   .level1_size_bytes = 4 * DRAWN_BYTES,
                                   .level_size_ratio = 4};
    levels = draw(&drawn, "");
    ask(&question, levels, 0, 1);
    question.request.shape = &tiers;
    assert_near(bb_rates_for_run(&question.request), 0.01 / 4);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void rates__only_run_gets_the_target(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    struct bb_levels *levels =
        draw(&drawn, "0: 3[a-z]~0.1\n1: 2[a-z]*7~0.00001\n3: 1[b-c]*100~0.5");
    ask(&question, levels, 3, 108);
    question.request.shape = NULL;
    for (uint64_t number = 1; number <= 3; number++)
        ask_without(&question, number);
    assert_near(bb_rates_for_run(&question.request), 0.01);
    assert_near(bb_rates_waste_after(&question.request, 0.01), 0.01);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void rates__never_beyond_what_others_leave(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "2: 1[a-z]*100~0.01");
    ask(&question, levels, 0, 100); /* its share would be a third */
    assert_near(bb_rates_for_run(&question.request), (0.0008 - 3 * BB_FILTER_RATE_MIN) / 2);
    ask(&question, levels, 1, 100);
    double rate = bb_rates_for_run(&question.request);
    assert_true(bb_rates_waste_after(&question.request, rate) <= 0.01 * BB_RATES_FILL);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* Flushes may continue without a compaction: each one beyond the planned count takes part of the
 * rest. */
static void rates__flushes_never_take_all_that_is_left(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    struct bb_levels *levels =
        draw(&drawn, "0: 4[a-z]~0.0025 3[a-z]~0.0025 2[a-z]~0.0025 1[a-z]~0.0025");
    ask(&question, levels, 0, 1);
    assert_near(bb_rates_for_run(&question.request), 0.0008 / 3.5);
    bb_levels_unref(levels);
    levels = draw(&drawn, "0: 3[a-z]~0.0025 2[a-z]~0.003 1[a-z]~0.005");
    ask(&question, levels, 0, 1);
    assert_near(bb_rates_for_run(&question.request), 0.0003 / 3);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* If the target is exceeded already, new tables with filters of 24 bits do not help. */
static void rates__an_exceeded_target_costs_no_more_than_some_bits(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "2: 1[a-z]*100~0.5");
    ask(&question, levels, 0, 1);
    assert_near(bb_rates_for_run(&question.request), 0.01 * 1 / 104 / 16);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void rates__a_part_balances_its_run(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    const uint64_t gone = 9;
    struct bb_levels *levels = NULL;
    struct bb_levels *before =
        draw(&drawn, "0: 9[a-z]\n1: 1[a-d]*40~0.0085 2[e-h]*40~0.0095 3[i-z]*40~0.5");
    assert_ok(redraw(&drawn, before, &gone, 1, "", &levels));
    assert_int_equal(levels->level0_run_keys, DRAWN_KEYS);
    /* A third of the only run is rewritten; four runs of level 0 are to come, like the last one. */
    struct bb_shape large = question_shape;
    large.level1_size_bytes = 400 * DRAWN_BYTES;
    ask(&question, levels, 1, 40);
    question.request.shape = &large;
    ask_without(&question, 3);
    double rate = bb_rates_for_run(&question.request);
    double mean = 0.01 * 120 / 124;
    assert_near(rate, 3 * mean - 0.0085 - 0.0095);
    assert_near(bb_rates_waste_after(&question.request, rate), mean);
    bb_levels_unref(before);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* Keys beyond the size of a level move into the next one: a run that they leave is planned for the
 * geometric mean of its present size and the level's, a run that they enter for them too. */
static void rates__a_surplus_moves_into_the_next_level(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 1[a-d]*4~0.001 2[e-z]*5~0.001\n2: 3[a-z]*7~0.001");
    ask(&question, levels, 1, 5);
    ask_without(&question, 2);
    double planned = 0.01 * sqrt(9 * 4) / (9 + 7);
    assert_near(bb_rates_for_run(&question.request),
                fmin((9 * planned - 4 * 0.001) / 5, 1.5 * planned));
    ask(&question, levels, 2, 7);
    ask_without(&question, 3);
    assert_near(bb_rates_for_run(&question.request), 0.01 * (7 + 5) / (9 + 7));
    bb_levels_unref(levels);
    /* Regression: a level far above its size, as after its size was lowered, was planned for few of
     * its keys, and its tables kept filters that were much too large. */
    levels = draw(&drawn, "1: 1[a-z]*100~0.001");
    ask(&question, levels, 1, 100);
    ask_without(&question, 1);
    assert_near(bb_rates_for_run(&question.request), 0.01 / 2);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* The output may have fewer keys than the input: the worse of both must keep the target. */
static void rates__fewer_keys_than_expected(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    struct bb_levels *levels =
        draw(&drawn, "1: 1[a-d]*40~0.02 3[i-z]*40~0.001\n0: 4[i-z]*40~0.0001");
    ask(&question, levels, 1, 80);
    question.request.output_keys_min = 40 * DRAWN_KEYS;
    ask_without(&question, 3);
    ask_without(&question, 4);
    double rate = bb_rates_for_run(&question.request);
    const double limit = 0.01 * BB_RATES_FILL;
    assert_true((0.02 + rate) / 2 <= limit * (1 + 1e-9));
    assert_true((0.02 + rate * 2) / 3 <= limit * (1 + 1e-9));
    assert_near(bb_rates_waste_after(&question.request, rate), (0.02 + rate) / 2);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void rates__ends_of_the_scale(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "");
    ask(&question, levels, 1, 10);
    question.request.shape = NULL;
    question.request.target = 1; /* a wasted request each time is allowed */
    assert_near(bb_rates_for_run(&question.request), 1);
    question.request.target = 0.75;
    assert_near(bb_rates_for_run(&question.request), BB_FILTER_RATE_MAX);
    question.request.target = 1e-9;
    assert_near(bb_rates_for_run(&question.request), BB_FILTER_RATE_MIN);
    question.request.output_keys = 0;
    question.request.target = 0.01;
    assert_near(bb_rates_for_run(&question.request), 0.01);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* ---- loads ---- */

#define FLUSHES 110

static void check_step(const struct simulation *simulation)
{
    if (simulation->worst > BB_RATES_SLACK)
        fail_msg("the rates add up to %.4f times the target", simulation->worst);
}

static void check_full(struct simulation *simulation)
{
    double target = simulation->options.target_wasted_reads;
    simulate_full_compaction(simulation);
    if (bb_levels_key_count(simulation->levels) > 0)
        assert_true(fabs(rates_expected(simulation->levels) - target) <= 0.05 * target);
    simulate_compactions(simulation);
}

static void flush_some(struct simulation *simulation, const struct form *form, enum load load,
                       struct bb_rng *rng, uint64_t flush)
{
    size_t count = 0;
    uint64_t *entries = draw_flush(form, load, rng, flush, &count);
    simulate_flush(simulation, entries, count);
    check_step(simulation);
    /* Sometimes level 0 is merged before it has as many runs as are planned for. */
    simulation->options.level0_run_count_due = flush % 9 < 3 ? (form->run_count + 2) / 3 : 0;
    /* Compactions sometimes lag. */
    if (!bb_rng_one_in(rng, 5))
        simulate_compactions(simulation);
    check_step(simulation);
    free(entries);
}

static void run_load(const struct form *form, enum load load, uint64_t seed)
{
    struct simulation *simulation = simulation_of(form);
    struct bb_rng rng;
    bb_rng_init(&rng, seed);
    for (uint64_t flush = 0; flush < FLUSHES; flush++) {
        flush_some(simulation, form, load, &rng, flush);
        if (form->full_every > 0 && flush % form->full_every == form->full_every - 1)
            check_full(simulation);
    }
    simulate_compactions(simulation);
    double excess = simulation_excess_bits(simulation);
    printf(
        "%-10s %-8s runs %u, ratio %2u, target %-6g: worst sum %.3f, now %.3f; %.2f bits over the "
        "least; %llu merges, "
        "%llu moves, %llu for rates\n",
        load_names[load], style_names[form->style], form->run_count, form->size_ratio, form->target,
        simulation->worst, simulation_waste(simulation) / form->target, excess,
        (unsigned long long)simulation->merges, (unsigned long long)simulation->moves,
        (unsigned long long)simulation->excesses);
    /* A level of several runs reserves a share for the runs that it does not have yet. */
    bool is_tiered = form->style != BB_COMPACTION_LEVELED;
    assert_true(excess < (is_moved(load) ? 3.5 : is_tiered ? 2.5 : 1));
    assert_true(simulation->excesses <= 2);
    check_full(simulation);
    simulation_destroy(simulation);
}

static void rates__keep_the_target_at_every_step(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("rates__keep_the_target_at_every_step", 31);
    for (int load = 0; load < LOAD_COUNT; load++) {
        for (size_t i = 0; i < BB_ARRAY_LENGTH(forms); i++)
            run_load(&forms[i], (enum load)load, seed + (uint64_t)load * 100 + i);
    }
}

static void rates__keep_the_target_in_tiers(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("rates__keep_the_target_in_tiers", 77);
    for (int load = 0; load < LOAD_COUNT; load++) {
        for (size_t i = 0; i < BB_ARRAY_LENGTH(tier_forms); i++)
            run_load(&tier_forms[i], (enum load)load, seed + (uint64_t)load * 100 + i);
    }
}

/* The target becomes ten times lower: the tables with the largest excess are rewritten until it is
 * kept. */
static void rates__a_stricter_target_is_kept_in_the_end(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("rates__a_stricter_target_is_kept_in_the_end", 8));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(forms); i++) {
        struct simulation *simulation = simulation_of(&forms[i]);
        for (uint64_t flush = 0; flush < 60; flush++)
            flush_some(simulation, &forms[i], LOAD_UNIFORM, &rng, flush);
        simulation->options.target_wasted_reads /= 10;
        simulate_compactions(simulation);
        assert_true(simulation_waste(simulation) <=
                    BB_RATES_SLACK * simulation->options.target_wasted_reads);
        assert_true(simulation->excesses > 0);
        simulation->worst = 0;
        for (uint64_t flush = 60; flush < 90; flush++)
            flush_some(simulation, &forms[i], LOAD_UNIFORM, &rng, flush);
        simulation_destroy(simulation);
    }
}

/* Regression: of hundreds of tables in order, the deepest run seemed to contain all newer keys, and
 * nearly every table was rewritten for its rate. */
static void rates__many_tables_in_order_are_not_rewritten(void **state)
{
    (void)state;
    struct form form = {4, 2, 5, 251, 22, 0.05, 43, BB_COMPACTION_LEVELED};
    struct simulation *simulation = simulation_of(&form);
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("rates__many_tables_in_order_are_not_rewritten", 2684));
    for (uint64_t flush = 0; flush < 90; flush++) {
        flush_some(simulation, &form, LOAD_SEQUENTIAL, &rng, flush);
        if (flush % form.full_every == form.full_every - 1)
            check_full(simulation);
    }
    assert_int_equal(simulation->excesses, 0);
    assert_true(simulation->moves > 100 && simulation->merges < 100);
    simulation_destroy(simulation);
}

static void rates__strictest_target(void **state)
{
    (void)state;
    struct form form = {4, 10, 4, 300, 300, 1e-6, 0, BB_COMPACTION_LEVELED};
    struct simulation *simulation = simulation_of(&form);
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("rates__strictest_target", 3));
    for (uint64_t flush = 0; flush < 60; flush++)
        flush_some(simulation, &form, LOAD_UNIFORM, &rng, flush);
    simulation_destroy(simulation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates__expected_adds_runs_and_weighs_tables),
        cmocka_unit_test(rates__statistics_add_the_predicted_rates),
        cmocka_unit_test(rates__first_runs_share_with_those_to_come),
        cmocka_unit_test(rates__only_run_gets_the_target),
        cmocka_unit_test(rates__never_beyond_what_others_leave),
        cmocka_unit_test(rates__flushes_never_take_all_that_is_left),
        cmocka_unit_test(rates__an_exceeded_target_costs_no_more_than_some_bits),
        cmocka_unit_test(rates__a_part_balances_its_run),
        cmocka_unit_test(rates__a_surplus_moves_into_the_next_level),
        cmocka_unit_test(rates__fewer_keys_than_expected),
        cmocka_unit_test(rates__ends_of_the_scale),
        cmocka_unit_test(rates__keep_the_target_at_every_step),
        cmocka_unit_test(rates__keep_the_target_in_tiers),
        cmocka_unit_test(rates__a_stricter_target_is_kept_in_the_end),
        cmocka_unit_test(rates__many_tables_in_order_are_not_rewritten),
        cmocka_unit_test(rates__strictest_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
