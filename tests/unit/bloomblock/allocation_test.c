/* Goal: the rates of runs use minimal memory for the target, and keep the bounds. Method: closed
 * formulas where they exist; elsewhere small changes of two rates, which must not save memory;
 * random runs under every bound; comparison with the simple form. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bb/filter.h"
#include "tests/support/must_alloc.h"

#define RUNS_MAX        12
#define SIMPLE_RUNS_MAX 200

static double weight_of(const struct bb_filter_run *run)
{
    return (run->visit_share == 0 ? 1 : run->visit_share) *
           (run->read_cost == 0 ? 1 : run->read_cost);
}

static double wasted_reads(const struct bb_filter_run *runs, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += weight_of(&runs[i]) * runs[i].ret_rate;
    return sum;
}

static double memory_of(const struct bb_filter_run *runs, size_t count)
{
    double bits = 0;
    for (size_t i = 0; i < count; i++)
        bits -= (double)runs[i].key_count * log2(runs[i].ret_rate);
    return bits;
}

static void assert_near(double found, double expected)
{
    if (fabs(found - expected) <= 1e-9 * fabs(expected))
        return;
    print_error("found %.12g, expected %.12g\n", found, expected);
    fail();
}

static void allocation__rate_is_the_share_of_keys(void **state)
{
    (void)state;
    struct bb_filter_run runs[4] = {
        {.key_count = 90000}, {.key_count = 9000}, {.key_count = 900}, {.key_count = 100}};
    double achieved = 0;
    assert_ok(bb_filter_allocate(runs, 4, 0.01, &achieved));
    assert_near(achieved, 0.01);
    for (size_t i = 0; i < 4; i++)
        assert_near(runs[i].ret_rate, 0.01 * (double)runs[i].key_count / 100000);
}

static void allocation__costs_and_visits_weigh(void **state)
{
    (void)state;
    struct bb_filter_run runs[3] = {{.key_count = 1000, .read_cost = 4},
                                    {.key_count = 1000, .visit_share = 0.25},
                                    {.key_count = 1000, .visit_share = 1, .read_cost = 1}};
    double achieved = 0;
    assert_ok(bb_filter_allocate(runs, 3, 0.03, &achieved));
    assert_near(runs[0].ret_rate, 0.0025);
    assert_near(runs[1].ret_rate, 0.04);
    assert_near(runs[2].ret_rate, 0.01);
    assert_near(achieved, 0.03);
}

static void allocation__large_runs_go_without(void **state)
{
    (void)state;
    struct bb_filter_run runs[2] = {{.key_count = 1000000}, {.key_count = 10}};
    double achieved = 0;
    assert_ok(bb_filter_allocate(runs, 2, 1.25, &achieved));
    assert_true(runs[0].ret_rate == 1);
    assert_near(runs[1].ret_rate, 0.25);
    assert_near(achieved, 1.25);
}

/* A share of 0.7 is no filter's rate: 1 would take all of the target and more. */
static void allocation__rates_between_half_and_one_become_a_half(void **state)
{
    (void)state;
    struct bb_filter_run run = {.key_count = 1000};
    double achieved = 0;
    assert_ok(bb_filter_allocate(&run, 1, 0.7, &achieved));
    assert_true(run.ret_rate == BB_FILTER_RATE_MAX && achieved == BB_FILTER_RATE_MAX);
    assert_ok(bb_filter_allocate(&run, 1, 1, &achieved));
    assert_true(run.ret_rate == 1 && achieved == 1);
}

/* Without a filter the large run takes all except 0.0001 of the target: the small one then needs 13
 * bits per key, which is less than one bit per key of the large run, or more. */
static void allocation__dropping_a_filter_pays_when_it_saves_memory(void **state)
{
    (void)state;
    struct bb_filter_run runs[2] = {{.key_count = 90000}, {.key_count = 1000}};
    double achieved = 0;
    assert_ok(bb_filter_allocate(runs, 2, 1.0001, &achieved));
    assert_true(runs[0].ret_rate == 1);
    assert_true(runs[1].ret_rate < 0.001);
    runs[0].key_count = 9000;
    assert_ok(bb_filter_allocate(runs, 2, 1.0001, &achieved));
    assert_true(runs[0].ret_rate == BB_FILTER_RATE_MAX);
    assert_true(runs[1].ret_rate == BB_FILTER_RATE_MAX);
}

static void allocation__small_runs_stop_at_the_lowest_rate(void **state)
{
    (void)state;
    struct bb_filter_run runs[3] = {{.key_count = UINT64_C(1) << 32}, {.key_count = 1}, {0}};
    double achieved = 0;
    assert_ok(bb_filter_allocate(runs, 3, 0.001, &achieved));
    assert_true(runs[1].ret_rate == BB_FILTER_RATE_MIN);
    assert_true(runs[2].ret_rate == BB_FILTER_RATE_MIN);
    assert_near(achieved, 0.001);
    /* An impossible target is reported, not hidden. */
    assert_ok(bb_filter_allocate(runs, 3, 1e-9, &achieved));
    assert_near(achieved, 3 * BB_FILTER_RATE_MIN);
}

static void allocation__refuses_what_has_no_meaning(void **state)
{
    (void)state;
    struct bb_filter_run runs[2] = {{.key_count = 1, .ret_rate = 7},
                                    {.key_count = 1, .ret_rate = 7}};
    double achieved = 7;
    static const double targets[] = {0, -1, 2.001, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(targets); i++)
        assert_status(bb_filter_allocate(runs, 2, targets[i], &achieved), BB_INVALID);
    assert_status(bb_filter_allocate(NULL, 0, 0.01, &achieved), BB_INVALID);
    static const double shares[] = {-0.1, 1.1, (double)NAN};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(shares); i++) {
        runs[1].visit_share = shares[i];
        assert_status(bb_filter_allocate(runs, 2, 0.1, &achieved), BB_INVALID);
        assert_message("run 1");
    }
    runs[1].visit_share = 0;
    runs[1].read_cost = (double)INFINITY;
    assert_status(bb_filter_allocate(runs, 2, 0.1, &achieved), BB_INVALID);
    assert_true(runs[0].ret_rate == 7 && runs[1].ret_rate == 7 && achieved == 7);
}

/* Moves a little of the target from one run to another, both inside the bounds. */
static void assert_no_exchange_saves(struct bb_filter_run *runs, size_t from, size_t to,
                                     size_t count)
{
    double before = memory_of(runs, count);
    double kept[2] = {runs[from].ret_rate, runs[to].ret_rate};
    double moved = kept[0] * 1e-3 * weight_of(&runs[from]);
    runs[from].ret_rate -= moved / weight_of(&runs[from]);
    runs[to].ret_rate += moved / weight_of(&runs[to]);
    if (runs[to].ret_rate <= BB_FILTER_RATE_MAX && runs[from].ret_rate >= BB_FILTER_RATE_MIN)
        assert_true(memory_of(runs, count) >= before * (1 - 1e-12));
    runs[from].ret_rate = kept[0];
    runs[to].ret_rate = kept[1];
}

static void assert_optimal(struct bb_filter_run *runs, size_t count, double target)
{
    double achieved = 0;
    bool at_the_bottom = true;
    assert_ok(bb_filter_allocate(runs, count, target, &achieved));
    assert_near(achieved, wasted_reads(runs, count));
    for (size_t i = 0; i < count; i++) {
        assert_true(runs[i].ret_rate == 1 || (runs[i].ret_rate >= BB_FILTER_RATE_MIN &&
                                              runs[i].ret_rate <= BB_FILTER_RATE_MAX));
        at_the_bottom = at_the_bottom && runs[i].ret_rate == BB_FILTER_RATE_MIN;
    }
    assert_true(achieved <= target * (1 + 1e-9) || at_the_bottom);
    for (size_t from = 0; from < count; from++)
        for (size_t to = 0; to < count; to++)
            if (from != to && runs[from].ret_rate < 1 && runs[to].ret_rate < 1)
                assert_no_exchange_saves(runs, from, to, count);
}

static void allocation__random_runs_are_optimal(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, key_seed);
    for (int round = 0; round < 3000; round++) {
        struct bb_filter_run runs[RUNS_MAX] = {{0}};
        size_t count = 1 + bb_rng_below(&rng, RUNS_MAX);
        for (size_t i = 0; i < count; i++) {
            runs[i].key_count = 1 + bb_rng_skewed(&rng, UINT64_C(1) << 32);
            if (bb_rng_one_in(&rng, 2))
                runs[i].visit_share = 1 / (double)(1 + bb_rng_below(&rng, 100));
            if (bb_rng_one_in(&rng, 2))
                runs[i].read_cost = (double)(1 + bb_rng_below(&rng, 100)) / 10;
        }
        double target = (double)count * exp2(-(double)bb_rng_below(&rng, 200) / 10);
        assert_optimal(runs, count, target);
    }
}

/* --- The simple form --- */

/* The rates that are not fixed yet. */
struct remainder {
    double keys;
    double target;
};

/* A rate that is not fixed is 0 during the work: no final one is. */
#define OPEN 0.0

static struct remainder remainder_of(const struct bb_filter_run *runs, size_t run_count,
                                     double target)
{
    struct remainder rest = {.target = target};
    for (size_t i = 0; i < run_count; i++) {
        double weight = weight_of(&runs[i]);
        if (runs[i].ret_rate == OPEN)
            rest.keys += (double)runs[i].key_count;
        else
            rest.target -= weight * runs[i].ret_rate;
    }
    return rest;
}

/* The ideal rate of a run: its share of the rest, by keys. */
static double share_of(const struct bb_filter_run *run, const struct remainder *rest)
{
    if (run->key_count == 0 || rest->target <= 0)
        return 0;
    return rest->target * (double)run->key_count / (rest->keys * weight_of(run));
}

/* The rate of a run whose ideal is above the maximum of a filter. */
static double capped_rate(const struct bb_filter_run *run, const struct remainder *rest,
                          double share)
{
    double weight = weight_of(run);
    double keys = (double)run->key_count;
    double others = rest->keys - keys;
    double left_without = rest->target - weight;
    double left_with = rest->target - weight * BB_FILTER_RATE_MAX;
    if (share >= 1)
        return 1;
    if (left_without <= 0)
        return BB_FILTER_RATE_MAX;
    double bits_of_filter = keys * -log2(BB_FILTER_RATE_MAX);
    return others * log2(left_with / left_without) < bits_of_filter ? 1 : BB_FILTER_RATE_MAX;
}

/* The open run with the highest or lowest share, NULL if no run is open. */
static struct bb_filter_run *extreme_run(struct bb_filter_run *runs, size_t run_count,
                                         const struct remainder *rest, bool greatest)
{
    struct bb_filter_run *found = NULL;
    for (size_t i = 0; i < run_count; i++) {
        if (runs[i].ret_rate != OPEN)
            continue;
        double share = share_of(&runs[i], rest);
        if (found == NULL ||
            (greatest ? share > share_of(found, rest) : share < share_of(found, rest)))
            found = &runs[i];
    }
    return found;
}

/* Fixes one run that is at a bound; false without such a run. */
static bool fix_one(struct bb_filter_run *runs, size_t run_count, double target)
{
    struct remainder rest = remainder_of(runs, run_count, target);
    struct bb_filter_run *run = extreme_run(runs, run_count, &rest, true);
    if (run == NULL)
        return false;
    double share = share_of(run, &rest);
    if (share > BB_FILTER_RATE_MAX) {
        run->ret_rate = capped_rate(run, &rest, share);
        return true;
    }
    run = extreme_run(runs, run_count, &rest, false);
    if (share_of(run, &rest) > BB_FILTER_RATE_MIN)
        return false;
    run->ret_rate = BB_FILTER_RATE_MIN;
    return true;
}

/* Looks for the run furthest outside each time: as many steps as the square of the runs. */
static void allocate_simply(struct bb_filter_run *runs, size_t run_count, double target)
{
    for (size_t i = 0; i < run_count; i++)
        runs[i].ret_rate = OPEN;
    while (fix_one(runs, run_count, target))
        continue;
    struct remainder rest = remainder_of(runs, run_count, target);
    for (size_t i = 0; i < run_count; i++)
        if (runs[i].ret_rate == OPEN)
            runs[i].ret_rate = share_of(&runs[i], &rest);
}

static struct bb_filter_run drawn_run(struct bb_rng *rng, bool is_round)
{
    struct bb_filter_run run = {.key_count = bb_rng_skewed(rng, UINT64_C(1) << 32)};
    double part = (double)(1 + bb_rng_below(rng, UINT64_C(1) << 40)) / (double)(UINT64_C(1) << 40);
    if (bb_rng_one_in(rng, 2))
        run.visit_share = is_round ? 1 / (double)(1 << bb_rng_below(rng, 8)) : part;
    if (bb_rng_one_in(rng, 2))
        run.read_cost = is_round ? (double)(1 << bb_rng_below(rng, 8)) : 10 * part * part;
    return run;
}

/* Exactly to the last digit: runs end at the same bounds, in the same order of ties, and the same
 * sums divide the rest. Round weights make ties and exactly reachable targets. */
static void allocation__rates_are_those_of_the_simple_form(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, key_seed);
    for (int round = 0; round < 3000; round++) {
        struct bb_filter_run runs[SIMPLE_RUNS_MAX], simple[SIMPLE_RUNS_MAX];
        size_t count = 1 + bb_rng_below(&rng, round % 10 == 0 ? SIMPLE_RUNS_MAX : 12);
        for (size_t i = 0; i < count; i++)
            simple[i] = runs[i] = drawn_run(&rng, round % 2 == 0);
        double target = (double)count * exp2(-(double)bb_rng_below(&rng, 250) / 10);
        double achieved = 0;
        assert_ok(bb_filter_allocate(runs, count, target, &achieved));
        allocate_simply(simple, count, target);
        for (size_t i = 0; i < count; i++) {
            assert_true(runs[i].key_count == simple[i].key_count &&
                        runs[i].visit_share == simple[i].visit_share &&
                        runs[i].read_cost == simple[i].read_cost);
            if (runs[i].ret_rate != simple[i].ret_rate)
                fail_msg("round %d: run %zu of %zu at %g has %.17g, simply %.17g", round, i, count,
                         target, runs[i].ret_rate, simple[i].ret_rate);
        }
    }
}

/* The simple form would take minutes. */
static void allocation__many_runs(void **state)
{
    (void)state;
    const size_t count = 100000;
    struct bb_filter_run *runs = bb_must_alloc_zeroed(count * sizeof(*runs));
    struct bb_rng rng;
    double achieved = 0;
    bb_rng_init(&rng, key_seed);
    for (size_t i = 0; i < count; i++)
        runs[i] = drawn_run(&rng, i % 2 == 0);
    assert_ok(bb_filter_allocate(runs, count, 0.1 * (double)count, &achieved));
    assert_near(achieved, wasted_reads(runs, count));
    assert_near(achieved, 0.1 * (double)count);
    free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocation__rate_is_the_share_of_keys),
        cmocka_unit_test(allocation__costs_and_visits_weigh),
        cmocka_unit_test(allocation__large_runs_go_without),
        cmocka_unit_test(allocation__rates_between_half_and_one_become_a_half),
        cmocka_unit_test(allocation__dropping_a_filter_pays_when_it_saves_memory),
        cmocka_unit_test(allocation__small_runs_stop_at_the_lowest_rate),
        cmocka_unit_test(allocation__refuses_what_has_no_meaning),
        cmocka_unit_test(allocation__random_runs_are_optimal),
        cmocka_unit_test(allocation__rates_are_those_of_the_simple_form),
        cmocka_unit_test(allocation__many_runs),
    };
    keys_init("allocation");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
