/* Goal: a table is merged down when iterators have paid for reading it and what it overlaps, and
 * not before. Method: drawings of levels, charges by number of the table, the plan as text. */
#include "tests/unit/compaction/drawing.h"

#include "compaction/pick/pick.h"
#include "compaction/pick/pick_scans.h"

#define MIB UINT64_C(1048576)

static const struct bb_pick_options leveled = {
    .shape = {.level0_run_count = 4, .level1_size_bytes = 9 * DRAWN_BYTES, .level_size_ratio = 10},
    .has_filters = true,
    .target_wasted_reads = 0.01};

/* Level 0 with two runs, then single runs. Table 3 overlaps 2 MiB, table 4 overlaps nothing. */
static const char drawing[] = "0: 9[a-p] 8[c-k]\n"
                              "1: 3[a-f] 4[n-p] 5[s-z]\n"
                              "2: 6[a-c] 7[d-k] 2[s-z]*3\n";

struct charge {
    uint64_t number;
    uint64_t bytes;
};

/* "-> 1: 0/5 1/2": output level, level/number of each input; "move" first if it is one. */
static void print_plan(const struct bb_plan *plan, struct bb_buf *text)
{
    if (plan->reason == BB_PLAN_NOTHING) {
        assert_ok(bb_buf_print(text, "nothing"));
    } else {
        assert_int_equal(plan->reason, BB_PLAN_SCANS);
        assert_ok(bb_buf_print(text, "%s-> %d:", plan->is_move ? "move " : "", plan->output_level));
    }
    for (size_t i = 0; i < plan->input_count; i++)
        assert_ok(
            bb_buf_print(text, " %d/%" PRIu64, plan->input_levels[i], plan->inputs[i]->number));
    assert_ok(bb_buf_append(text, "", 1));
}

static void charge_tables(const struct bb_levels *levels, const struct charge *charges,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bb_table_file *file = bb_levels_find_number(levels, charges[i].number);
        assert_non_null(file);
        bb_table_file_charge(file, charges[i].bytes);
    }
}

static void assert_picked(const struct bb_pick_options *options, const char *text,
                          const struct charge *charges, size_t count, const char *expected)
{
    struct drawn_env drawn;
    struct bb_plan plan = {0};
    struct bb_buf printed = {0};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw_ordered(&drawn, NULL, text);
    charge_tables(levels, charges, count);
    assert_ok(bb_pick(levels, options, &plan));
    print_plan(&plan, &printed);
    assert_string_equal((const char *)printed.data, expected);
    bb_buf_deinit(&printed);
    bb_plan_deinit(&plan);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void assert_one(uint64_t number, uint64_t bytes, const char *expected)
{
    struct charge charge = {number, bytes};
    assert_picked(&leveled, drawing, &charge, 1, expected);
}

static void pick_scans__a_table_is_due_when_its_inputs_are_paid(void **state)
{
    (void)state;
    assert_picked(&leveled, drawing, NULL, 0, "nothing");
    assert_one(3, 4 * MIB - 1, "nothing");
    assert_one(3, 4 * MIB, "-> 2: 1/3 2/6 2/7");
    assert_one(5, 5 * MIB - 1, "nothing");
    assert_one(5, 5 * MIB, "-> 2: 1/5 2/2");
}

static void pick_scans__a_table_without_overlap_is_moved(void **state)
{
    (void)state;
    assert_one(4, 2 * MIB - 1, "nothing");
    assert_one(4, 2 * MIB, "move -> 2: 1/4");
}

static void pick_scans__the_charges_of_level0_add_up(void **state)
{
    (void)state;
    const struct charge few[] = {{9, 2 * MIB}, {8, 3 * MIB - 1}};
    const struct charge enough[] = {{9, 2 * MIB}, {8, 3 * MIB}};
    assert_picked(&leveled, drawing, few, 2, "nothing");
    assert_picked(&leveled, drawing, enough, 2, "-> 1: 0/9 0/8 1/3 1/4");
}

static void pick_scans__level0_alone_becomes_one_run(void **state)
{
    (void)state;
    const struct charge charge = {9, 3 * MIB};
    assert_picked(&leveled, "0: 9[a-p] 8[c-k]", &charge, 1, "-> 1: 0/9 0/8");
    assert_picked(&leveled, "0: 9[a-p]", &charge, 1, "nothing");
}

static void pick_scans__the_last_level_stays(void **state)
{
    (void)state;
    assert_one(2, 1000 * MIB, "nothing");
}

static void pick_scans__other_styles_keep_their_runs(void **state)
{
    (void)state;
    const struct charge charges[] = {{9, 100 * MIB}, {3, 100 * MIB}};
    struct bb_pick_options options = leveled;
    options.shape.style = BB_COMPACTION_TIERED;
    assert_picked(&options, drawing, charges, 2, "nothing");
    options.shape.style = BB_COMPACTION_LAZY_LEVELING;
    assert_picked(&options, "0: 9[a-p] 8[c-k]\n1: 3[a-f]", charges, 2, "nothing");
}

/* The environment tells the store when a charge has grown by the table's bytes. */
static void pick_scans__news_come_with_the_bytes_of_a_table(void **state)
{
    (void)state;
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw_ordered(&drawn, NULL, drawing);
    struct bb_table_file *file = bb_levels_find_number(levels, 2);
    bb_table_file_charge(file, 3 * MIB - 1);
    assert_false(atomic_load(&drawn.env.has_new_charges));
    bb_table_file_charge(file, 1);
    assert_true(atomic_exchange(&drawn.env.has_new_charges, false));
    bb_table_file_charge(file, 3 * MIB - 1);
    assert_false(atomic_load(&drawn.env.has_new_charges));
    bb_table_file_charge(file, 3 * MIB);
    assert_true(atomic_load(&drawn.env.has_new_charges));
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pick_scans__a_table_is_due_when_its_inputs_are_paid),
        cmocka_unit_test(pick_scans__a_table_without_overlap_is_moved),
        cmocka_unit_test(pick_scans__the_charges_of_level0_add_up),
        cmocka_unit_test(pick_scans__level0_alone_becomes_one_run),
        cmocka_unit_test(pick_scans__the_last_level_stays),
        cmocka_unit_test(pick_scans__other_styles_keep_their_runs),
        cmocka_unit_test(pick_scans__news_come_with_the_bytes_of_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
