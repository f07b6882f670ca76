/* Goal: of the runs of a tiered level, the newest are merged as long as the next one is not larger
 * than all of them together. A full last level of lazy leveling moves before any merge into it.
 * Method: drawings of levels in, the merged tables out. */
#include "tests/unit/compaction/drawing.h"

#include "compaction/pick/pick.h"
#include "compaction/pick/pick_tiers.h"

/* A unit of the deeper level is very large, so that runs are merged in place. */
static const struct bb_pick_options options = {
    .shape = {.level0_run_count = 4,
              .level1_size_bytes = 1000 * (uint64_t)DRAWN_BYTES,
              .level_size_ratio = 4,
              .style = BB_COMPACTION_TIERED}};

/* expected: numbers of tables, with a space after each. */
static void assert_merged(const char *drawing, const char *expected)
{
    struct drawn_env drawn;
    struct bb_plan plan = {0};
    struct bb_buf text = {0};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw_ordered(&drawn, NULL, drawing);
    assert_ok(bb_pick_tiers(levels, &options, 1, &plan));
    assert_int_equal(plan.output_level, 1);
    for (size_t i = 0; i < plan.input_count; i++)
        assert_ok(bb_buf_print(&text, "%" PRIu64 " ", plan.inputs[i]->number));
    assert_ok(bb_buf_append(&text, "", 1));
    assert_string_equal((const char *)text.data, expected);
    bb_buf_deinit(&text);
    bb_plan_deinit(&plan);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void tiers__as_large_as_the_newer_ones_together_is_merged(void **state)
{
    (void)state;
    assert_merged("1: 9[a-z]*1 | 8[a-z]*1 | 7[a-z]*2 | 6[a-z]*100", "9 8 7 ");
    assert_merged("1: 9[a-z]*1 | 8[a-z]*1 | 7[a-z]*3 | 6[a-z]*100", "9 8 ");
    assert_merged("1: 9[a-z]*1 | 8[a-z]*5 | 7[a-z]*6 | 6[a-z]*12", "9 8 7 6 ");
}

/* A full level 1 has 8 units of a table. Level 0 has the higher score. */
static void assert_lazy(const char *drawing, int output_level, bool is_move)
{
    struct bb_pick_options lazy = options;
    struct drawn_env drawn;
    struct bb_plan plan = {0};
    lazy.shape.style = BB_COMPACTION_LAZY_LEVELING;
    lazy.shape.level1_size_bytes = 2 * (uint64_t)DRAWN_BYTES;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw_ordered(&drawn, NULL, drawing);
    assert_true(bb_pick_score(levels, &lazy, 0) > bb_pick_score(levels, &lazy, 1));
    assert_ok(bb_pick(levels, &lazy, &plan));
    assert_int_equal(plan.output_level, output_level);
    assert_int_equal(plan.is_move, is_move);
    bb_plan_deinit(&plan);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void tiers__a_full_last_level_moves_before_a_merge_into_it(void **state)
{
    (void)state;
    assert_lazy("0: 9[a-z] 8[a-z] 7[a-z] 6[a-z] 5[a-z] 4[a-z]\n1: 1[a-m]*5 2[n-z]*4\n", 2, true);
    assert_lazy("0: 9[a-z] 8[a-z] 7[a-z] 6[a-z] 5[a-z] 4[a-z]\n1: 1[a-m]*5 2[n-z]*2\n", 1, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiers__as_large_as_the_newer_ones_together_is_merged),
        cmocka_unit_test(tiers__a_full_last_level_moves_before_a_merge_into_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
