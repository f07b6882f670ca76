/* Goal: with a memory budget the filters' bytes stay close to it: at most 5 % more while a store
 * grows, after a full compaction 8 % less to 2 % more; budgets that are too small or too large have
 * a defined result. Method: loads on simulated stores (load.h) whose filters have the bytes of
 * ribbons, budgets of 2 to 14 bits for each final key. */
#include "tests/unit/compaction/drawing.h"
#include "tests/unit/compaction/load.h"

#include "base/assert.h"
#include "compaction/pick/plan_rates.h"
#include "compaction/rates/forecast.h"
#include "tests/unit/compaction/rates_sum.h"

static const struct bb_shape shape = {
    .level0_run_count = 4, .level1_size_bytes = 4 * DRAWN_BYTES, .level_size_ratio = 10};

/* ---- the ends ---- */

/* The rate and the target of a single run with that many bits for each of its keys. */
static double single_run_rate(double bits_per_key, double *ret_target)
{
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "");
    struct bb_filter_budget budget = {.bytes = (uint64_t)(bits_per_key * 1e6 / 8),
                                      .cost = simulated_cost};
    struct bb_rate_request request = {.levels = levels,
                                      .output_level = 2,
                                      .output_keys = 1000000,
                                      .target = 0.01,
                                      .budget = &budget};
    double rate = bb_rates_for_run(&request);
    *ret_target = bb_rates_target(&request);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
    return rate;
}

static void rates_budget__of_a_single_run(void **state)
{
    (void)state;
    double target = 0;
    for (double bits = 1.6; bits < 20; bits *= 1.1) {
        double rate = single_run_rate(bits, &target);
        double used = bb_filter_cost_bits(&simulated_cost, rate);
        assert_true(used <= bits && used > bits - 0.01);
        assert_true(fabs(target - rate) <= 1e-9 * rate);
    }
    /* Not enough for the smallest filter: no filter. */
    assert_true(single_run_rate(1.5, &target) == 1);
    assert_true(target == 1);
    assert_true(single_run_rate(0.01, &target) == 1);
    /* More than is useful. */
    assert_true(single_run_rate(50, &target) == BB_FORECAST_TARGET_MIN);
    assert_true(target == BB_FORECAST_TARGET_MIN);
}

/* Two runs, one bit for each key: the large one does without. The target is more than one wasted
 * read, and less than two. */
static void rates_budget__of_less_than_a_filter(void **state)
{
    (void)state;
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 1[a-z]*4~1\n2: 2[a-z]*36~1");
    struct bb_filter_budget budget = {.bytes = 40 * DRAWN_KEYS / 8, .cost = simulated_cost};
    struct bb_rate_request request = {
        .levels = levels, .output_level = 2, .shape = &shape, .budget = &budget};
    double target = bb_rates_target(&request);
    assert_true(target > 1 && target < 2);
    struct bb_table_file *file = bb_levels_table(levels, 2, 0);
    const int level = 2;
    request.removed = &file;
    request.removed_levels = &level;
    request.removed_count = 1;
    request.output_keys = file->meta.key_count;
    assert_true(bb_rates_for_run(&request) == 1);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* ---- rewriting excess ---- */

static void rates_budget__what_saves_most_is_rewritten(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_plan plan = {0};
    struct bb_level_change changes[DRAWN_TABLES_MAX];
    drawn_env_init(&drawn);
    struct bb_levels *empty = NULL;
    struct bb_levels *levels = NULL;
    assert_ok(bb_levels_create_empty(NULL, &empty));
    size_t count = draw_changes(&drawn, "2: 1[a-d]*4~0.01 2[e-h]*8~0.0001 3[i-z]*8~0.001", changes);
    for (size_t i = 0; i < count; i++) {
        struct bb_table_meta *meta = &changes[i].file->meta;
        double bits = bb_filter_cost_bits(&simulated_cost, meta->filter_rate);
        meta->filter_bytes = (uint64_t)(bits * (double)meta->key_count / 8);
    }
    assert_ok(bb_levels_apply(empty, NULL, 0, changes, count, &levels));
    release_changes(changes, count);
    const struct bb_filter_cost_tables tables = {.kind = BB_FILTER_RIBBON,
                                                 .table_filter_bits = BB_TABLE_FILTER_NONE};
    struct bb_pick_options options = {
        .shape = shape,
        .has_filters = true,
        .budget = {.bytes = 20 * DRAWN_KEYS, .cost = bb_filter_cost_calibrate(levels, &tables)}};
    /* 12 bits per key, where 8 are allowed. */
    assert_ok(bb_pick(levels, &options, &plan));
    assert_int_equal(plan.reason, BB_PLAN_RATE_EXCESS);
    assert_int_equal(plan.input_count, 1);
    assert_int_equal(plan.inputs[0]->number, 2);
    double rate = bb_plan_rates_for(levels, &options, &plan);
    assert_true(rate > 0.002 && rate < 0.05);
    bb_plan_deinit(&plan);
    /* Within the budget no work is due, at any rates. */
    options.budget.bytes = 2 * 20 * DRAWN_KEYS;
    assert_ok(bb_pick(levels, &options, &plan));
    assert_int_equal(plan.reason, BB_PLAN_NOTHING);
    bb_levels_unref(empty);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* ---- loads ---- */

#define FLUSHES 100

struct use {
    double worst;  /* highest share of the budget used by filters while no work was due */
    double mean;   /* of all these moments */
    double loaded; /* in the end */
    double compacted;
    double rate; /* of the single run then */
};

static double share_of_budget(const struct simulation *simulation)
{
    double bytes = 0;
    double keys = (double)bb_levels_key_count(simulation->levels);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        bytes += (double)simulation->levels->levels[level].filter_bytes;
    /* In a store of one small table, rounding the filters to bytes matters. */
    bytes -= 1;
    return 8 * bytes / bb_filter_budget_bits(&simulation->options.budget, keys);
}

/* Updates and deletions leave fewer keys than went in: the second time it is known how many. */
static void compact_twice(struct simulation *simulation)
{
    for (int i = 0; i < 2; i++) {
        simulate_full_compaction(simulation);
        simulate_compactions(simulation);
    }
}

enum budget {
    BUDGET_BYTES,
    BUDGET_BITS_PER_KEY,
};

static void set_budget(struct simulation *simulation, const struct form *form, enum budget budget,
                       double bits_per_key)
{
    if (budget == BUDGET_BYTES)
        simulation->options.budget.bytes =
            (uint64_t)(bits_per_key * (double)(FLUSHES * form->run_keys) / 8);
    else {
        simulation->options.budget.bits_per_key = bits_per_key;
        simulation->options.budget.cost = simulated_cost;
        simulation->options.budget.level0_runs = ceil(form->run_count / 3.0);
    }
}

static void run_load(const struct form *form, enum load load, enum budget budget,
                     double bits_per_key, uint64_t seed, struct use *use)
{
    struct simulation *simulation = simulation_of(form);
    struct bb_rng rng;
    *use = (struct use){0};
    set_budget(simulation, form, budget, bits_per_key);
    bb_rng_init(&rng, seed);
    for (uint64_t flush = 0; flush < FLUSHES; flush++) {
        size_t count = 0;
        uint64_t *entries = draw_flush(form, load, &rng, flush, &count);
        simulate_flush(simulation, entries, count);
        simulate_compactions(simulation);
        use->loaded = share_of_budget(simulation);
        use->worst = fmax(use->worst, use->loaded);
        use->mean += use->loaded / FLUSHES;
        free(entries);
    }
    uint64_t written = simulation->written_keys;
    double keys = (double)bb_levels_key_count(simulation->levels);
    uint64_t excesses = simulation->excesses;
    compact_twice(simulation);
    use->compacted = share_of_budget(simulation);
    use->rate = rates_expected(simulation->levels);
    printf("%-10s runs %u, ratio %2u, %4.1f bits: worst %.3f, mean %.3f, loaded %.3f, compacted "
           "%.3f; %llu merges, %llu moves, %llu for the budget; %.1f keys written for each\n",
           load_names[load], form->run_count, form->size_ratio, bits_per_key, use->worst, use->mean,
           use->loaded, use->compacted, (unsigned long long)simulation->merges,
           (unsigned long long)simulation->moves, (unsigned long long)excesses,
           (double)written / keys);
    simulation_destroy(simulation);
}

static void rates_budget__is_kept_while_a_store_grows(void **state)
{
    (void)state;
    static const double budgets[] = {2, 3, 5, 7, 10, 14};
    uint64_t seed = bb_rng_seed("rates_budget__is_kept_while_a_store_grows", 12);
    for (int load = 0; load < LOAD_COUNT; load++) {
        for (size_t i = 0; i < BB_ARRAY_LENGTH(budgets); i++) {
            struct use use;
            const struct form *form = &forms[(i + (size_t)load) % BB_ARRAY_LENGTH(forms)];
            run_load(form, (enum load)load, BUDGET_BYTES, budgets[i], seed++, &use);
            assert_true(use.worst <= 1.05);
            /* When fewer keys remain than were written, the budget may be more than is useful. */
            assert_true(use.compacted <= 1.02);
            assert_true(use.compacted >= 0.92 || use.rate <= 1.06 * BB_FORECAST_TARGET_MIN);
        }
    }
}

/* Here a store uses it while it grows, too. */
static void rates_budget__of_bits_per_key_is_kept_while_a_store_grows(void **state)
{
    (void)state;
    static const double budgets[] = {2, 3, 5, 7, 10, 14};
    uint64_t seed = bb_rng_seed("rates_budget__of_bits_per_key", 12);
    size_t form_count = BB_ARRAY_LENGTH(forms) + BB_ARRAY_LENGTH(tier_forms);
    for (int load = 0; load < LOAD_COUNT; load++) {
        for (size_t i = 0; i < BB_ARRAY_LENGTH(budgets); i++) {
            struct use use;
            size_t number = (2 * i + (size_t)load) % form_count;
            const struct form *form = number < BB_ARRAY_LENGTH(forms)
                                          ? &forms[number]
                                          : &tier_forms[number - BB_ARRAY_LENGTH(forms)];
            run_load(form, (enum load)load, BUDGET_BITS_PER_KEY, budgets[i], seed++, &use);
            assert_true(use.worst <= 1.05);
            assert_true(use.mean >= (budgets[i] < 7 ? 0.7 : 0.9));
            assert_true(use.compacted >= 0.92 && use.compacted <= 1.02);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_budget__of_a_single_run),
        cmocka_unit_test(rates_budget__of_less_than_a_filter),
        cmocka_unit_test(rates_budget__what_saves_most_is_rewritten),
        cmocka_unit_test(rates_budget__is_kept_while_a_store_grows),
        cmocka_unit_test(rates_budget__of_bits_per_key_is_kept_while_a_store_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
