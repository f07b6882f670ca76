/* Goal: a descent is seen from the tables, and its runs and their receiver count for the keys that
 * they hold. Method: drawings of levels in, runs and shares out. */
#include "tests/unit/compaction/drawing.h"

#include <math.h>

#include "compaction/levels/descent.h"

#define NONE SIZE_MAX

/* first: of the descent of level 1, NONE without a descent. shares: of the runs of level 1, then of
 * the newest run of level 2. */
static void assert_descent(const char *drawing, size_t first, const double *shares)
{
    struct drawn_env drawn;
    struct bb_descent descent;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, drawing);
    assert_int_equal(bb_descent_find(levels, 1, &descent), first != NONE);
    if (first != NONE) {
        assert_int_equal(descent.first, first);
        assert_ptr_equal(descent.receiver, bb_levels_run(levels, 2, 0));
    }
    size_t count = levels->levels[1].run_count;
    for (size_t i = 0; i <= count; i++) {
        int level = i < count ? 1 : 2;
        const struct bb_run *run = bb_levels_run(levels, level, i < count ? i : 0);
        assert_true(fabs(bb_descent_share(levels, level, run) - shares[i]) < 1e-9);
    }
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* One of four tables has descended. */
static void descent__runs_and_receiver_share_the_keys(void **state)
{
    (void)state;
    assert_descent("1: 4[n-z]*1 | 3[o-z]*2\n2: 9[a-m]*1 | 1[a-z]*5\n", 0,
                   (double[]){0.75, 0.75, 0.25});
    /* A newer run waits. */
    assert_descent("1: 8[a-z]*3 | 4[n-z]*1 | 3[o-z]*2\n2: 9[a-m]*1\n", 1,
                   (double[]){1, 0.75, 0.75, 0.25});
}

/* Regression: the shares were not numbers, and nor was expected_wasted_reads. */
static void descent__of_range_tombstones_counts_in_full(void **state)
{
    (void)state;
    assert_descent("1: 4[n-z]*0 | 3[o-z]*0\n2: 9[a-m]*0\n", 0, (double[]){1, 1, 1});
}

/* The last level of lazy leveling. Half of its tables are done, and hold few keys. */
static void descent__an_old_receiver_has_all_keys(void **state)
{
    (void)state;
    assert_descent("1: 4[n-z]*1 | 3[o-z]*2\n2: 9[a-m]*50 2[n-z]*47\n", 0, (double[]){0.5, 0.5, 1});
}

/* A slice ended before a gap in the keys of the descending runs, where the receiver has an older
 * table, or before the oldest run begins. A newer run with lower keys waits. */
static void descent__is_seen_beyond_a_gap(void **state)
{
    (void)state;
    assert_descent("1: 4[n-z]*1 | 3[o-z]*2\n2: 9[a-c]*2 1[d-f]*2 2[n-z]*1\n", 0,
                   (double[]){0.5, 0.5, 1});
    assert_descent("1: 4[g-z]*1 | 3[o-z]*2\n2: 9[a-c]*2 1[d-f]*2 2[g-z]*1\n", 0,
                   (double[]){0.5, 0.5, 1});
    assert_descent("1: 5[b-f]*3 | 4[g-z]*1 | 3[o-z]*2\n2: 9[a-c]*2 1[d-f]*2 2[g-z]*1\n", 1,
                   (double[]){1, 0.5, 0.5, 1});
}

/* The newest run has begun below the end of its receiver: 4 of 10 keys are above it. */
static void descent__shares_the_keys_around_the_end_twice(void **state)
{
    (void)state;
    assert_descent("1: 4[l-n]*1 5[o-z]*2 | 3[n-z]*2\n2: 9[a-k]*3 8[l-m]*2\n", 0,
                   (double[]){0.7, 0.7, 0.6});
}

static void descent__of_one_run_counts_in_full(void **state)
{
    (void)state;
    assert_descent("1: 3[n-z]*1\n2: 9[a-m]*1\n", 0, (double[]){1, 1});
}

static void descent__not_below_older_tables(void **state)
{
    (void)state;
    assert_descent("1: 9[n-z]*1 | 8[o-z]*2\n2: 4[a-m]*1\n", NONE, (double[]){1, 1, 1});
    assert_descent("1: 4[n-z]*1 | 3[a-z]*2\n2: 9[a-m]*1\n", NONE, (double[]){1, 1, 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descent__runs_and_receiver_share_the_keys),
        cmocka_unit_test(descent__of_range_tombstones_counts_in_full),
        cmocka_unit_test(descent__an_old_receiver_has_all_keys),
        cmocka_unit_test(descent__is_seen_beyond_a_gap),
        cmocka_unit_test(descent__shares_the_keys_around_the_end_twice),
        cmocka_unit_test(descent__of_one_run_counts_in_full),
        cmocka_unit_test(descent__not_below_older_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
