/* Goal: a run covers the keys between the bounds of its tables, and wastes requests only for them.
 * Method: drawings of levels in, shares and waste out. */
#include "tests/unit/compaction/drawing.h"

#include <math.h>

#include "compaction/levels/cover.h"

#define RUNS_MAX 8

/* shares: of the runs of all levels, newest first. */
static void assert_shares(const struct bb_comparator *comparator, const char *drawing,
                          const double *shares)
{
    struct drawn_env drawn;
    double waste = 0;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw_ordered(&drawn, comparator, drawing);
    for (size_t i = 0; i < levels->turn_count; i++) {
        struct bb_cover cover = bb_cover_of(levels, levels->turns[i].run);
        if (!(fabs(cover.share - shares[i]) <= 1e-9))
            fail_msg("run %zu of %s: %.12g, expected %.12g", i, drawing, cover.share, shares[i]);
        assert_true(fabs(cover.waste - shares[i] * DRAWN_RATE) <= 1e-9);
        assert_true(fabs(cover.planned_waste - shares[i] * DRAWN_RATE) <= 1e-9);
        waste += cover.planned_waste;
    }
    assert_true(fabs(bb_cover_planned_waste(levels) - waste) <= 1e-12);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void assert_covers(const char *drawing, const double *shares)
{
    assert_shares(NULL, drawing, shares);
}

static void cover__of_runs_with_all_keys(void **state)
{
    (void)state;
    assert_covers("0: 9[a-z]*3 8[a-z]\n1: 1[a-l]*5 2[m-z]*4\n", (double[]){1, 1, 1});
    /* Narrow gaps at the ends have hardly any keys. */
    assert_covers("0: 9[af-zt]*10\n1: 1[a-zz]*10", (double[]){1, 1});
    assert_covers("", NULL);
}

/* Each key is in one run. */
static void cover__of_keys_in_order(void **state)
{
    (void)state;
    assert_covers("0: 9[s-z]*1\n1: 5[j-m]*2 6[n-r]*2\n2: 1[a-e]*3 2[f-i]*2\n",
                  (double[]){0.1, 0.4, 0.5});
}

/* A newer run of ten keys is spread over all letters: 4 / 25 of them are between a and e. */
static void cover__counts_the_keys_of_other_runs(void **state)
{
    (void)state;
    assert_covers("0: 9[a-z]*10\n1: 1[a-e]*2\n2: 2[q-z]*8\n",
                  (double[]){1, (2 + 1.6) / 20, (8 + 3.6) / 20});
}

/* One of four tables has descended: the receiver and the other runs share the keys. A twelfth of
 * the newer run is before the older one. */
static void cover__of_a_descent(void **state)
{
    (void)state;
    assert_covers("1: 4[n-z]*1 | 3[o-z]*2\n2: 9[a-m]*1\n",
                  (double[]){0.75, (2 + 11.0 / 12) / 4, 0.25});
}

/* The gap from e to v is 17 of 25 letters, and the others are one. */
static void cover__leaves_out_wide_gaps(void **state)
{
    (void)state;
    assert_covers("1: 1[a-e]*1 2[v-z]*1\n2: 3[a-h]*9 4[i-q]*9 5[r-z]*9\n",
                  (double[]){(2 + 9.0 * 4 / 7 + 9.0 * 4 / 8) / 29, 1});
}

/* The parts of a run of 300 tables add up to all. The lower half of the keys is in a third of the
 * tables, and has the higher rate. */
static void cover__of_many_tables(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_level_change changes[300];
    struct bb_levels *empty = NULL;
    struct bb_levels *levels = NULL;
    drawn_env_init(&drawn);
    for (size_t i = 0; i < 300; i++) {
        char word[64];
        const char *text = word;
        snprintf(word, sizeof(word), "%zu[%04zu-%04zu]*%d~%g ", i + 1, 10 * i, 10 * i + 9,
                 i < 100 ? 2 : 1, i < 100 ? 0.5 : 0.1);
        changes[i] = (struct bb_level_change){.level = 1, .file = draw_table(&drawn, &text)};
    }
    assert_ok(bb_levels_create_empty(NULL, &empty));
    assert_ok(bb_levels_apply(empty, NULL, 0, changes, 300, &levels));
    struct bb_cover cover = bb_cover_of(levels, bb_levels_run(levels, 1, 0));
    assert_true(fabs(cover.share - 1) < 0.01 && fabs(cover.planned_waste - 0.3) < 0.005);
    for (size_t i = 0; i < 300; i++)
        bb_table_file_unref(changes[i].file);
    bb_levels_unref(levels);
    bb_levels_unref(empty);
    drawn_env_deinit(&drawn);
}

/* The waste is from the predicted rates, the planned waste from the target rates. */
static void cover__wastes_what_is_predicted(void **state)
{
    (void)state;
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 1[a-m]*3~0.01^0.02 2[n-z]*3~0.01^0.04\n");
    struct bb_cover cover = bb_cover_of(levels, bb_levels_run(levels, 1, 0));
    assert_true(fabs(cover.waste - 0.03) < 1e-9 && fabs(cover.planned_waste - 0.01) < 1e-9);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* Regression: the shares were not numbers, and nor was expected_wasted_reads. */
static void cover__of_range_tombstones_is_everything(void **state)
{
    (void)state;
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 4[n-z]*0 | 3[o-z]*0\n2: 9[a-m]*0\n");
    for (size_t i = 0; i < levels->turn_count; i++)
        assert_true(bb_cover_of(levels, levels->turns[i].run).share == 1);
    assert_true(bb_cover_planned_waste(levels) == 0);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static int compare_reversed(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

/* Under another order bytes tell nothing: a part of a table counts as the whole, and gaps are
 * covered. */
static void cover__with_a_comparator(void **state)
{
    (void)state;
    const struct bb_comparator reversed = {.compare = compare_reversed, .name = "reversed"};
    assert_shares(&reversed, "0: 9[z-a]*10\n1: 1[z-v]*1 2[e-a]*1\n2: 3[e-c]*8\n",
                  (double[]){1, 1, (10 + 1 + 8) / 20.0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cover__of_runs_with_all_keys),
        cmocka_unit_test(cover__of_keys_in_order),
        cmocka_unit_test(cover__counts_the_keys_of_other_runs),
        cmocka_unit_test(cover__of_a_descent),
        cmocka_unit_test(cover__leaves_out_wide_gaps),
        cmocka_unit_test(cover__of_many_tables),
        cmocka_unit_test(cover__wastes_what_is_predicted),
        cmocka_unit_test(cover__of_range_tombstones_is_everything),
        cmocka_unit_test(cover__with_a_comparator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
