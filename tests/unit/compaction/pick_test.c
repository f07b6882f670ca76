/* Goal: the plan that is due is picked, with all the tables that it must take and no others.
 * Method: drawings of levels in, the plan as text out. */
#include "tests/unit/compaction/drawing.h"

#include "compaction/pick/pick.h"
#include "compaction/pick/plan_rates.h"

/* Level 1 is full with 4 drawn units, level 2 with 40; level 0 with 3 runs. */
static const struct bb_pick_options plain = {
    .shape = {.level0_run_count = 3, .level1_size_bytes = 4 * DRAWN_BYTES, .level_size_ratio = 10},
    .has_filters = true,
    .target_wasted_reads = 0.01};

static const char *reason_name(enum bb_plan_reason reason)
{
    static const char *const names[] = {"nothing", "runs", "size", "rates", "all"};
    return names[reason];
}

/* "runs -> 1: 0/5 0/4 1/2": reason, output level, level/number of each input. */
static void assert_plan(const struct bb_plan *plan, const char *expected)
{
    struct bb_buf text = {0};
    assert_ok(bb_buf_print(&text, "%s", plan->is_move ? "move" : reason_name(plan->reason)));
    if (plan->reason != BB_PLAN_NOTHING)
        assert_ok(bb_buf_print(&text, " -> %d:", plan->output_level));
    for (size_t i = 0; i < plan->input_count; i++)
        assert_ok(
            bb_buf_print(&text, " %d/%" PRIu64, plan->input_levels[i], plan->inputs[i]->number));
    assert_ok(bb_buf_append(&text, "", 1));
    assert_string_equal((const char *)text.data, expected);
    bb_buf_deinit(&text);
}

typedef enum bb_status pick_function(const struct bb_levels *, const struct bb_pick_options *,
                                     struct bb_plan *);

static void assert_picked(pick_function *pick, const struct bb_pick_options *options,
                          const struct bb_comparator *comparator, const char *drawing,
                          const char *expected)
{
    struct drawn_env drawn;
    struct bb_plan plan = {0};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw_ordered(&drawn, comparator, drawing);
    assert_ok(pick(levels, options, &plan));
    assert_plan(&plan, expected);
    bb_plan_deinit(&plan);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void assert_pick(const char *drawing, const char *expected)
{
    assert_picked(bb_pick, &plain, NULL, drawing, expected);
}

/* Level 0 is planned for more runs than it is merged from when no more come. */
static void pick__fewer_runs_than_planned_are_due(void **state)
{
    (void)state;
    struct bb_pick_options options = plain;
    const char *drawing = "0: 4[a-z] 3[a-z]\n1: 1[a-m] 2[n-z]";
    assert_pick(drawing, "nothing");
    options.level0_run_count_due = 3;
    assert_picked(bb_pick, &options, NULL, drawing, "nothing");
    options.level0_run_count_due = 2;
    assert_picked(bb_pick, &options, NULL, drawing, "runs -> 1: 0/4 0/3 1/1 1/2");
}

static void pick__nothing_is_due(void **state)
{
    (void)state;
    assert_pick("", "nothing");
    assert_pick("0: 2[a-z] 1[a-z]", "nothing");
    assert_pick("0: 9[a-z] 8[a-z]\n1: 1[a-z]*3\n2: 2[a-z]*39", "nothing");
    assert_pick("6: 1[a-z]*60000000", "nothing"); /* the last level cannot move down */
}

static void pick__level0_takes_all_runs_and_what_they_overlap(void **state)
{
    (void)state;
    assert_pick("0: 3[a-z] 2[a-z] 1[a-z]", "runs -> 1: 0/3 0/2 0/1");
    assert_pick("0: 7[d-e] 6[f-f] 5[e-h]\n"
                "1: 1[a-c] 2[ca-d] 4[h-h]",
                "runs -> 1: 0/7 0/6 0/5 1/2 1/4");
    assert_pick("0: 7[d-e] 6[f-f] 5[e-h]\n"
                "1: 3[f-g] 8[ha-z]",
                "runs -> 1: 0/7 0/6 0/5 1/3");
    assert_pick("0: 7[d-e] 6[f-f] 5[e-h]\n1: 1[a-c] 9[i-z]", "runs -> 1: 0/7 0/6 0/5");
    assert_pick("0: 9[k-l] 7[d-e] 6[x-y] 5[b-c]\n1: 1[a-z]", "runs -> 1: 0/9 0/7 0/6 0/5 1/1");
}

/* Tables of keys in order need no rewrite: they share no key with the other tables of levels 0 and
 * 1. */
static void pick__level0_moves_what_overlaps_nothing(void **state)
{
    (void)state;
    assert_pick("0: 3[g-i] 2[d-f] 1[a-c]", "move -> 1: 0/3 0/2 0/1");
    assert_pick("0: 9[m-o] 8[s-u] 7[p-r]\n1: 1[a-f] 2[g-l]\n2: 3[a-z]*9", "move -> 1: 0/9 0/8 0/7");
    /* The rest follows later. */
    assert_pick("0: 9[m-o] 8[a-c] 7[p-r]\n1: 1[a-f] 2[g-l]", "move -> 1: 0/9 0/7");
    assert_pick("0: 9[m-o] 8[o-q] 7[r-z]\n1: 1[a-f]", "move -> 1: 0/7");
    assert_pick("0: 9[m-o] 8[o-q] 7[a-z]\n1: 1[a-f]", "runs -> 1: 0/9 0/8 0/7 1/1");
}

/* They are merged if level 1 would have more than the target at some key, if there would be too
 * many small ones, and if a rewrite must make their companions. Level 1 of tiers has several
 * runs. */
static void pick__level0_moves_only_what_fits(void **state)
{
    (void)state;
    struct bb_pick_options options = plain;
    const char *drawing = "0: 3[g-i]~0.009 2[d-f]~0.009 1[a-c]~0.009";
    assert_pick(drawing, "move -> 1: 0/3 0/2 0/1");
    /* The mean of level 1 would be higher than the rates at g. */
    assert_pick("0: 3[g-i]~0.001 2[d-f]~0.009 1[a-c]~0.001\n2: 9[g-z]*9~0.008",
                "runs -> 1: 0/3 0/2 0/1");
    options.needs_companions = true;
    assert_picked(bb_pick, &options, NULL, drawing, "runs -> 1: 0/3 0/2 0/1");
    options.needs_companions = false;
    options.shape.style = BB_COMPACTION_LAZY_LEVELING;
    assert_picked(bb_pick, &options, NULL, drawing, "runs -> 1: 0/3 0/2 0/1");
    options.shape.style = BB_COMPACTION_TIERED;
    assert_picked(bb_pick, &options, NULL, drawing, "runs -> 1: 0/3 0/2 0/1");
    options.shape.style = BB_COMPACTION_LEVELED;
    options.shape.level1_size_bytes = 32 * DRAWN_BYTES;
    assert_picked(bb_pick, &options, NULL, drawing, "move -> 1: 0/3 0/2 0/1");
    options.shape.level1_size_bytes = 33 * DRAWN_BYTES;
    assert_picked(bb_pick, &options, NULL, drawing, "runs -> 1: 0/3 0/2 0/1");
}

static void pick__the_greatest_score_wins(void **state)
{
    (void)state;
    assert_pick("0: 5[a-z] 4[a-z] 3[a-z]\n1: 1[a-k]*4 2[m-z]*4", "move -> 2: 1/1");
    assert_pick("0: 5[a-z] 4[a-z] 3[a-z]\n1: 1[a-k] 2[m-z]*2", "runs -> 1: 0/5 0/4 0/3 1/1 1/2");
    assert_pick("1: 1[a-k]*2 2[m-z]*2\n2: 3[a-z]*80", "move -> 3: 2/3");
}

static void pick__the_least_overlap_for_its_size(void **state)
{
    (void)state;
    assert_pick("1: 1[a-d]*2 2[e-h]*2 3[i-l]*2\n"
                "2: 4[a-b]*3 5[f-g]*2 6[h-i]*1 7[k-z]*9",
                "size -> 2: 1/1 2/4");
    /* Twice the overlap, four times the size. */
    assert_pick("1: 1[a-d]*1 2[e-h]*4\n2: 4[a-b]*3 5[f-g]*3 6[h-z]*3", "size -> 2: 1/2 2/5 2/6");
    /* Equal, also in age: the first. */
    assert_pick("1: 1[a-d]*2 2[e-h]*2\n2: 4[a-b]*2 5[f-g]*2", "size -> 2: 1/1 2/4");
    /* All overlapping tables, from key to key. */
    assert_pick("1: 1[d-h]*5\n2: 4[a-c] 5[ca-d] 6[e-f] 7[h-h] 8[ha-z]",
                "size -> 2: 1/1 2/5 2/6 2/7");
}

static void pick__what_overlaps_nothing_is_moved(void **state)
{
    (void)state;
    assert_pick("1: 1[a-d]*2 2[e-h]*2\n2: 4[a-b]*2 5[i-k]*2", "move -> 2: 1/2");
    assert_pick("1: 1[a-d]*4", "move -> 2: 1/1");
    /* Equal: the oldest. */
    assert_pick("1: 1[a-d]*2@9 2[e-h]*2@7 3[i-k]*2@8", "move -> 2: 1/2");
    assert_pick("5: 1[a-d]*600000", "move -> 6: 5/1");
}

/* ---- the target ---- */

/* Two runs of 0.6 R each would be there, where there was one. */
static void pick__a_move_must_keep_the_target(void **state)
{
    (void)state;
    struct bb_pick_options options = plain;
    const char *drawing = "1: 1[a-d]*2~0.006 2[e-h]*2~0.006";
    assert_picked(bb_pick, &options, NULL, drawing, "size -> 2: 1/1");
    options.has_filters = false;
    assert_picked(bb_pick, &options, NULL, drawing, "move -> 2: 1/1");
    options.has_filters = true;
    options.target_wasted_reads = 0.012;
    assert_picked(bb_pick, &options, NULL, drawing, "move -> 2: 1/1");
    /* A greater waste elsewhere permits nothing. */
    assert_pick("1: 1[a-d]*2~0.006 2[e-h]*2~0.006\n6: 9[x-z]*9~0.02", "size -> 2: 1/1");
    /* Keys in order: nothing comes into the place of the first table. */
    options.target_wasted_reads = 0.01;
    assert_pick("1: 1[a-d]*2~0.006@1 2[e-h]*2~0.006@2", "move -> 2: 1/1");
    assert_pick("1: 1[a-d]*2~0.006@2 2[e-h]*2~0.006@1", "move -> 2: 1/2");
    /* The level's last table: the data changes its level, and the sum stays. */
    assert_pick("1: 1[a-d]*4~0.009", "move -> 2: 1/1");
}

/* When a low rate leaves level 1, its mean goes up to 0.009, and the deeper levels have their
 * 0.0055 already. */
static void pick__the_next_candidate_keeps_the_target(void **state)
{
    (void)state;
    assert_pick("1: 1[a-d]*2~0.0001 2[e-h]*2~0.009\n2: 4[x-z]*20~0.0055", "move -> 2: 1/2");
    assert_pick("1: 1[a-d]*2~0.0001 2[e-h]*2~0.009\n2: 4[e-f]*20~0.0001 5[x-z]*20~0.011",
                "size -> 2: 1/2 2/4");
}

/* With twenty tables that would exceed the target, except a single one, though it overlaps a
 * lot. */
static void pick__the_greatest_rate_is_the_last_resort(void **state)
{
    (void)state;
    struct bb_buf drawing = {0};
    assert_ok(bb_buf_print(&drawing, "1:"));
    for (int i = 1; i <= 20; i++)
        assert_ok(bb_buf_print(&drawing, " %d[a%02d-a%02d]*2~0.0001", i, i, i));
    assert_ok(
        bb_buf_print(&drawing, " 21[b-c]*2~0.08\n2: 22[b-bb]*30~0.0001\n6: 23[a-z]*3000~0.0065"));
    assert_ok(bb_buf_append(&drawing, "", 1));
    assert_pick((const char *)drawing.data, "size -> 2: 1/21 2/22");
    bb_buf_deinit(&drawing);
}

static void pick__an_excess_is_rewritten_in_its_place(void **state)
{
    (void)state;
    struct bb_pick_options options = plain;
    const char *drawing = "1: 1[a-d]~0.0001\n2: 4[a-f]*10~0.009 5[x-z]*10~0.03";
    assert_picked(bb_pick, &options, NULL, drawing, "rates -> 2: 2/5");
    options.has_filters = false;
    assert_picked(bb_pick, &options, NULL, drawing, "nothing");
    /* A run of level 0 must go down with all of them: rewritten in place, the new table would count
     * as the newest. */
    assert_pick("0: 9[a-z]~0.0001 8[b-c]~0.5\n1: 1[a-d]~0.0001", "rates -> 1: 0/9 0/8 1/1");
    /* Due work has priority. */
    assert_pick("0: 9[a-z] 8[b-c] 7[a-z]\n2: 5[x-z]*10~0.3", "runs -> 1: 0/9 0/8 0/7");
}

/* ---- rates of plans ---- */

static void pick__rate_of_a_plan(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_plan plan = {0};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "0: 4[a-z]~0.001 3[a-z]~0.001\n1: 2[a-z]~0.001");
    assert_ok(bb_pick_all(levels, &plain, &plan));
    assert_true(bb_plan_rates_for(levels, &plain, &plan) == 0.01);
    /* The same tables, but not by request: three more runs of level 0 are to come. 10 % of the
     * keys are planned for. */
    plan.is_full = false;
    double rate = bb_plan_rates_for(levels, &plain, &plan);
    assert_true(rate > 0.01 / 1.1 * 0.999 && rate < 0.01 / 1.1 * 1.001);
    bb_plan_deinit(&plan);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* ---- everything ---- */

static void assert_all(const char *drawing, const char *expected)
{
    assert_picked(bb_pick_all, &plain, NULL, drawing, expected);
}

static void pick_all__takes_everything(void **state)
{
    (void)state;
    assert_all("0: 1[a-z]", "all -> 1: 0/1");
    assert_all("0: 5[a-b] 4[c-d]\n1: 2[a-z]\n3: 1[a-c] 3[x-z]", "all -> 3: 0/5 0/4 1/2 3/1 3/3");
    assert_all("6: 1[a-z] 2[za-zz]", "all -> 6: 6/1 6/2");
}

/* In a level that is too small the run would have to move down immediately. */
static void pick_all__goes_where_there_is_space(void **state)
{
    (void)state;
    assert_all("0: 5[a-b]*3\n1: 2[a-z]*2", "all -> 2: 0/5 1/2");
    assert_all("1: 2[a-z]*2\n2: 3[a-z]*397", "all -> 3: 1/2 2/3");
    assert_all("1: 2[a-z]*2\n2: 3[a-z]*37", "all -> 2: 1/2 2/3");
}

static void pick_all__nothing_to_do(void **state)
{
    (void)state;
    assert_all("", "nothing");
    assert_all("2: 3[a-f]*10~0.01 4[g-z]*10~0.0101", "nothing");
    assert_all("2: 3[a-f]*10~0.01 4[g-z]*10~0.02", "all -> 2: 2/3 2/4");
    assert_all("2: 3[a-f]*10~0.001", "all -> 2: 2/3");
}

static void pick_all__old_versions_and_tombstones_are_work(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct drawn_env drawn;
        struct bb_plan plan = {0};
        drawn_env_init(&drawn);
        struct bb_levels *levels = draw(&drawn, "2: 3[a-f]*10~0.01");
        struct bb_table_meta *meta = &bb_levels_table(levels, 2, 0)->meta;
        *(kind == 0 ? &meta->tombstone_count : &meta->entry_count) += 1;
        assert_ok(bb_pick_all(levels, &plain, &plan));
        assert_plan(&plan, "all -> 2: 2/3");
        bb_plan_deinit(&plan);
        bb_levels_unref(levels);
        drawn_env_deinit(&drawn);
    }
}

static int compare_backward(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static void pick__under_a_comparator(void **state)
{
    (void)state;
    static const struct bb_comparator backward = {.name = "backward", .compare = compare_backward};
    assert_picked(bb_pick, &plain, &backward,
                  "0: 9[m-k] 8[p-n] 7[l-h]\n"
                  "1: 1[z-q] 2[pa-o] 3[h-h] 4[ga-a]",
                  "runs -> 1: 0/9 0/8 0/7 1/2 1/3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pick__nothing_is_due),
        cmocka_unit_test(pick__fewer_runs_than_planned_are_due),
        cmocka_unit_test(pick__level0_takes_all_runs_and_what_they_overlap),
        cmocka_unit_test(pick__level0_moves_what_overlaps_nothing),
        cmocka_unit_test(pick__level0_moves_only_what_fits),
        cmocka_unit_test(pick__the_greatest_score_wins),
        cmocka_unit_test(pick__the_least_overlap_for_its_size),
        cmocka_unit_test(pick__what_overlaps_nothing_is_moved),
        cmocka_unit_test(pick__a_move_must_keep_the_target),
        cmocka_unit_test(pick__the_next_candidate_keeps_the_target),
        cmocka_unit_test(pick__the_greatest_rate_is_the_last_resort),
        cmocka_unit_test(pick__an_excess_is_rewritten_in_its_place),
        cmocka_unit_test(pick__rate_of_a_plan),
        cmocka_unit_test(pick_all__takes_everything),
        cmocka_unit_test(pick_all__goes_where_there_is_space),
        cmocka_unit_test(pick_all__nothing_to_do),
        cmocka_unit_test(pick_all__old_versions_and_tombstones_are_work),
        cmocka_unit_test(pick__under_a_comparator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
