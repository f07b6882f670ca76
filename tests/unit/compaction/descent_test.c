/* Goal: a descent is seen from the tables. Method: drawings of levels in, runs out. */
#include "tests/unit/compaction/drawing.h"

#include "compaction/levels/descent.h"

#define NONE SIZE_MAX

/* first: of the descent of level 1, NONE without a descent. */
static void assert_descent(const char *drawing, size_t first)
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
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* One of four tables has descended. */
static void descent__of_some_runs(void **state)
{
    (void)state;
    assert_descent("1: 4[n-z]*1 | 3[o-z]*2\n2: 9[a-m]*1 | 1[a-z]*5\n", 0);
    /* A newer run waits. */
    assert_descent("1: 8[a-z]*3 | 4[n-z]*1 | 3[o-z]*2\n2: 9[a-m]*1\n", 1);
}

/* The last level of lazy leveling. Half of its tables are done, and hold few keys. */
static void descent__into_an_old_receiver(void **state)
{
    (void)state;
    assert_descent("1: 4[n-z]*1 | 3[o-z]*2\n2: 9[a-m]*50 2[n-z]*47\n", 0);
}

/* A slice ended before a gap in the keys of the descending runs, where the receiver has an older
 * table, or before the oldest run begins. A newer run with lower keys waits. */
static void descent__is_seen_beyond_a_gap(void **state)
{
    (void)state;
    assert_descent("1: 4[n-z]*1 | 3[o-z]*2\n2: 9[a-c]*2 1[d-f]*2 2[n-z]*1\n", 0);
    assert_descent("1: 4[g-z]*1 | 3[o-z]*2\n2: 9[a-c]*2 1[d-f]*2 2[g-z]*1\n", 0);
    assert_descent("1: 5[b-f]*3 | 4[g-z]*1 | 3[o-z]*2\n2: 9[a-c]*2 1[d-f]*2 2[g-z]*1\n", 1);
}

/* The newest run has begun below the end of its receiver. */
static void descent__begins_before_the_end_of_its_receiver(void **state)
{
    (void)state;
    assert_descent("1: 4[l-n]*1 5[o-z]*2 | 3[n-z]*2\n2: 9[a-k]*3 8[l-m]*2\n", 0);
}

static void descent__of_one_run(void **state)
{
    (void)state;
    assert_descent("1: 3[n-z]*1\n2: 9[a-m]*1\n", 0);
}

static void descent__not_below_older_tables(void **state)
{
    (void)state;
    assert_descent("1: 9[n-z]*1 | 8[o-z]*2\n2: 4[a-m]*1\n", NONE);
    assert_descent("1: 4[n-z]*1 | 3[a-z]*2\n2: 9[a-m]*1\n", NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descent__of_some_runs),
        cmocka_unit_test(descent__into_an_old_receiver),
        cmocka_unit_test(descent__is_seen_beyond_a_gap),
        cmocka_unit_test(descent__begins_before_the_end_of_its_receiver),
        cmocka_unit_test(descent__of_one_run),
        cmocka_unit_test(descent__not_below_older_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
