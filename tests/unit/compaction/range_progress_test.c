/* Goal: the pieces of a requested range are as drawn in the header: level by level, never newer
 * data below older data, small, and finite. Method: drawings of levels as input, the piece as text
 * as output. */
#include "tests/unit/compaction/drawing.h"

#include "compaction/pick/range_progress.h"

#define NUMBER_END 1000

/* Without filters, and with levels that have space for all tables. */
static const struct bb_pick_options options = {
    .shape = {.level0_run_count = 4,
              .level1_size_bytes = 1000 * (uint64_t)DRAWN_BYTES,
              .level_size_ratio = 10}};

struct range {
    const char *low; /* NULL: open */
    const char *high;
    uint64_t bytes_max;
    int level;
    const char *done_to; /* NULL: no table of the level is done */
    bool done_is_exclusive;
    uint64_t number_end;
};

static void init(struct bb_range_progress *progress, const struct range *range)
{
    struct bb_bytes low = bb_bytes_of_text(range->low == NULL ? "" : range->low);
    struct bb_bytes high = bb_bytes_of_text(range->high == NULL ? "" : range->high);
    uint64_t number_end = range->number_end == 0 ? NUMBER_END : range->number_end;
    struct bb_key_range bounds = {.low = range->low == NULL ? NULL : &low,
                                  .high = range->high == NULL ? NULL : &high};
    assert_ok(bb_range_progress_init(progress, &bounds, number_end,
                                     range->bytes_max == 0 ? DRAWN_BYTES : range->bytes_max));
    progress->level = range->level;
    progress->has_done = range->done_to != NULL;
    progress->done_is_exclusive = range->done_is_exclusive;
    if (progress->has_done)
        assert_ok(bb_buf_assign(&progress->done_to, bb_bytes_of_text(range->done_to)));
}

/* "-> 1: 0/5 0/4 1/2", or "". */
static void print_plan(const struct bb_plan *plan, char *text, size_t size)
{
    text[0] = 0;
    if (plan->reason == BB_PLAN_NOTHING)
        return;
    assert_int_equal(plan->reason, BB_PLAN_RANGE);
    assert_false(plan->is_move);
    size_t used = (size_t)snprintf(text, size, "-> %d:", plan->output_level);
    for (size_t i = 0; i < plan->input_count; i++)
        used += (size_t)snprintf(text + used, size - used, " %d/%" PRIu64, plan->input_levels[i],
                                 plan->inputs[i]->number);
}

static void assert_piece(struct range range, const char *drawing, const char *expected)
{
    struct drawn_env drawn;
    struct bb_plan plan = {0};
    char text[256];
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, drawing);
    struct bb_range_progress progress;
    init(&progress, &range);
    assert_ok(bb_range_progress_pick(&progress, levels, &options, &plan));
    print_plan(&plan, text, sizeof(text));
    assert_string_equal(text, expected);
    bb_plan_deinit(&plan);
    bb_range_progress_deinit(&progress);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void range_progress__nothing_there(void **state)
{
    (void)state;
    assert_piece((struct range){0}, "", "");
    assert_piece((struct range){.low = "g"}, "0: 2[a-c]\n1: 1[d-f]\n", "");
    assert_piece((struct range){.high = "d"}, "1: 1[d-f]\n2: 2[d-f]\n", "");
}

static void range_progress__level_0(void **state)
{
    (void)state;
    /* Tables that overlap the range, and the tables they overlap below. */
    assert_piece((struct range){.low = "b", .high = "d"}, "0: 4[a-c] 3[e-g]\n1: 1[a-b] 2[f-h]\n",
                 "-> 1: 0/4 1/1");
    /* An older run under a taken one is included, a newer one is not. */
    assert_piece((struct range){.low = "a", .high = "b"}, "0: 5[c-d] 4[a-c] 3[b-f] 2[e-g] 1[x-z]\n",
                 "-> 1: 0/4 0/3 0/2");
    /* The high bound is exclusive, the low one inclusive. */
    assert_piece((struct range){.low = "c", .high = "e"}, "0: 3[e-g] 2[a-c]\n", "-> 1: 0/2");
    assert_piece((struct range){0}, "0: 3[e-g] 2[a-c]\n1: 1[k-l]\n", "-> 1: 0/3 0/2");
}

static void range_progress__deeper_levels(void **state)
{
    (void)state;
    static const char levels[] = "1: 1[a-b] 2[c-d] 3[e-f] 4[g-h]\n2: 5[a-c] 6[d-e] 7[g-h]\n";
    assert_piece((struct range){.low = "c", .high = "f"}, levels, "-> 2: 1/2 2/5 2/6");
    assert_piece((struct range){.low = "c", .high = "f", .level = 1, .done_to = "d"}, levels,
                 "-> 2: 1/3 2/6");
    assert_piece((struct range){.low = "c", .high = "f", .bytes_max = 10 * DRAWN_BYTES}, levels,
                 "-> 2: 1/2 1/3 2/5 2/6");
    /* Done up to a key that the next table has. */
    assert_piece((struct range){.level = 1, .done_to = "d", .done_is_exclusive = true}, levels,
                 "-> 2: 1/2 2/5 2/6");
    /* Deeper tables outside the range are no reason to go there. */
    assert_piece((struct range){.low = "f", .high = "g"}, levels, "");
    /* A level without tables in the range is skipped. */
    assert_piece((struct range){.low = "a", .high = "c"}, "1: 1[a-b]\n4: 2[b-c]\n", "-> 2: 1/1");
    assert_piece((struct range){.low = "a", .high = "c"}, "3: 1[a-b]\n4: 2[b-c]\n",
                 "-> 4: 3/1 4/2");
}

/* Several runs are one piece. Above the last level it is taken even if all its tables were written
 * after the request: the step from the level above wrote some of them. */
static void range_progress__levels_of_several_runs(void **state)
{
    (void)state;
    static const char levels[] = "1: 8[a-c] | 3[e-g] 4[p-z]\n2: 1[a-z]\n";
    assert_piece((struct range){.level = 1, .number_end = 9}, levels, "-> 2: 1/8 1/3 1/4 2/1");
    assert_piece((struct range){.level = 1, .number_end = 4, .high = "h"}, levels,
                 "-> 2: 1/8 1/3 2/1");
    assert_piece((struct range){.level = 1, .number_end = 3, .high = "h"}, levels,
                 "-> 2: 1/8 1/3 2/1");
    assert_piece((struct range){.level = 1, .number_end = 8, .low = "h", .high = "k"}, levels, "");
}

/* In the last level, tables from before the request are a reason, and tables of two runs. */
static void range_progress__a_last_level_of_several_runs(void **state)
{
    (void)state;
    static const char levels[] = "1: 8[a-c] | 3[b-g] 4[p-z]\n";
    assert_piece((struct range){.level = 1, .number_end = 9, .low = "p"}, levels, "-> 1: 1/4");
    assert_piece((struct range){.level = 1, .number_end = 4, .low = "p"}, levels, "");
    assert_piece((struct range){.level = 1, .number_end = 3, .high = "h"}, levels, "-> 1: 1/8 1/3");
    assert_piece((struct range){.level = 1, .number_end = 3, .low = "d", .high = "h"}, levels, "");
}

/* Gives a drawn table the properties of one with tombstones. */
static void add_tombstones(struct bb_levels *levels, uint64_t number)
{
    bb_levels_find_number(levels, number)->meta.tombstone_count = 1;
}

static void range_progress__the_last_level(void **state)
{
    (void)state;
    struct range range = {.low = "b", .high = "y", .bytes_max = 10 * DRAWN_BYTES, .number_end = 7};
    struct drawn_env drawn;
    struct bb_plan plan = {0};
    char text[256];
    drawn_env_init(&drawn);
    struct bb_levels *levels =
        draw(&drawn, "2: 1[a-a] 2[c-d] 3[e-f] 4[g-h] 5[i-j] 8[k-l] 6[z-z]\n");
    for (uint64_t number = 1; number <= 8; number++) {
        if (number != 4 && number != 7)
            add_tombstones(levels, number);
    }
    struct bb_range_progress progress;
    init(&progress, &range);
    /* Neighbours with tombstones that were there before: an output must not reach over table 4. */
    static const char *const pieces[] = {"-> 2: 2/2 2/3", "-> 2: 2/5", ""};
    for (size_t i = 0; i < 3; i++) {
        assert_ok(bb_range_progress_pick(&progress, levels, &options, &plan));
        print_plan(&plan, text, sizeof(text));
        assert_string_equal(text, pieces[i]);
        if (i < 2)
            bb_range_progress_finish(&progress, &plan);
        bb_plan_deinit(&plan);
    }
    bb_range_progress_deinit(&progress);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* The level is done up to the last table taken from it, which ends before the overlapping one. */
static void range_progress__done_up_to_the_upper_table(void **state)
{
    (void)state;
    struct range range = {.level = 1, .bytes_max = 1};
    struct drawn_env drawn;
    struct bb_plan plan = {0};
    char text[256];
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 1[a-c] 2[d-f]\n2: 3[b-e] 4[g-z]");
    struct bb_range_progress progress;
    init(&progress, &range);
    static const char *const pieces[] = {"-> 2: 1/1 2/3", "-> 2: 1/2 2/3"};
    for (size_t i = 0; i < 2; i++) {
        assert_ok(bb_range_progress_pick(&progress, levels, &options, &plan));
        print_plan(&plan, text, sizeof(text));
        assert_string_equal(text, pieces[i]);
        bb_range_progress_finish(&progress, &plan);
        assert_true(progress.has_done);
        assert_true(
            bb_bytes_equal(bb_buf_bytes(&progress.done_to), bb_bytes_of_text(i == 0 ? "c" : "f")));
        bb_plan_deinit(&plan);
    }
    bb_range_progress_deinit(&progress);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_progress__nothing_there),
        cmocka_unit_test(range_progress__level_0),
        cmocka_unit_test(range_progress__deeper_levels),
        cmocka_unit_test(range_progress__levels_of_several_runs),
        cmocka_unit_test(range_progress__a_last_level_of_several_runs),
        cmocka_unit_test(range_progress__the_last_level),
        cmocka_unit_test(range_progress__done_up_to_the_upper_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
