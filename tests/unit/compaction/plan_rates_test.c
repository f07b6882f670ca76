/* Goal: the rate of a merge depends on its inputs by runs, not by tables. Method: the same records
 * drawn as one table for each run, and as several. */
#include "tests/unit/compaction/drawing.h"

#include "compaction/pick/pick.h"
#include "compaction/pick/plan.h"
#include "compaction/pick/plan_rates.h"
#include "compaction/rates/rates.h"

#include <math.h>

static const struct bb_pick_options options = {
    .shape = {.level0_run_count = 4, .level1_size_bytes = 4 * DRAWN_BYTES, .level_size_ratio = 10},
    .has_filters = true,
    .target_wasted_reads = 0.01};

/* The rate of a merge of level 1 and the tables of level 2 up to key m, where the rest of level 2
 * has used up more than its share of the target. tombstones: in the first table of level 1. */
static double merged_rate_with(const char *drawing, uint64_t tombstones)
{
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, drawing);
    struct bb_plan plan = {0};
    bb_levels_table(levels, 1, 0)->meta.tombstone_count = tombstones;
    assert_ok(bb_plan_init(&plan, levels, BB_PLAN_LEVEL_SIZE, 2));
    for (int level = 1; level <= 2; level++)
        bb_plan_add_overlap(&plan, levels, level, bb_levels_run(levels, level, 0),
                            bb_bytes_of_text("a"), bb_bytes_of_text("m"));
    double rate = bb_plan_rates_for(levels, &options, &plan);
    bb_plan_deinit(&plan);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
    return rate;
}

static double merged_rate(const char *drawing)
{
    return merged_rate_with(drawing, 0);
}

/* The merge has at least the keys of its largest run, since a run has no key twice. */
static void plan_rates__the_tables_of_a_run_add_up(void **state)
{
    (void)state;
    double expected = merged_rate("1: 1[a-m]*8 9[n-z]~0.0001\n2: 2[a-m]*36 3[n-z]*10~0.03");
    assert_true(expected > 0 && expected < 0.01);
    double parted = merged_rate("1: 1[a-m]*8 9[n-z]~0.0001\n2: 2[a-e]*18 4[f-m]*18 3[n-z]*10~0.03");
    assert_true(fabs(parted - expected) < 1e-9);
    parted = merged_rate("1: 1[a-e]*4 5[f-m]*4 9[n-z]~0.0001\n2: 2[a-m]*36 3[n-z]*10~0.03");
    assert_true(fabs(parted - expected) < 1e-9);
    /* Fewer keys in the largest run give another rate, so equal rates prove equal counts. */
    double other = merged_rate("1: 1[a-m]*22 9[n-z]~0.0001\n2: 2[a-m]*22 3[n-z]*10~0.03");
    assert_true(fabs(other - expected) > 1e-3);
}

/* Regression: merges that dropped deletions left fewer keys than planned, so that the other tables
 * of the run weighed more, and the sum of the rates exceeded 1.1 times the target. */
static void plan_rates__deletions_leave_fewer_keys(void **state)
{
    (void)state;
    const char *drawing = "1: 1[a-m]*8 9[n-z]~0.0001\n2: 2[a-m]*36 3[n-z]*10~0.03";
    double limit = 0.01 * BB_RATES_FILL - 0.0001;
    double rate = merged_rate_with(drawing, 8 * DRAWN_KEYS);
    assert_true((rate * 28 + 0.03 * 10) / 38 <= limit);
    assert_true((rate * 28 + 0.03 * 10) / 38 > limit * 0.999);
    assert_true((merged_rate(drawing) * 28 + 0.03 * 10) / 38 > limit * 1.02);
    /* More deletions than keys: one key may remain, and the limit cannot be kept. */
    rate = merged_rate_with(drawing, 40 * DRAWN_KEYS);
    assert_true(rate >= BB_FILTER_RATE_MIN && rate < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_rates__the_tables_of_a_run_add_up),
        cmocka_unit_test(plan_rates__deletions_leave_fewer_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
