/* Goal: a store over its budget reduces its memory until it meets the budget, and then stops.
 * Method: drawn levels of several runs whose tables differ in size and rates; picked tables get
 * their new rate, repeatedly, until no work is due. */
#include "tests/unit/compaction/drawing.h"

#include "base/assert.h"
#include "compaction/pick/pick.h"
#include "compaction/pick/plan_rates.h"
#include "compaction/rates/rates.h"

#define PICKS_MAX 100

static const struct bb_filter_cost cost = {
    .kind = BB_FILTER_RIBBON, .slope = 1.012, .overhead_bits = 0.5};

static const struct bb_shape shape = {.level0_run_count = 4,
                                      .level1_size_bytes = 8 * DRAWN_BYTES,
                                      .level_size_ratio = 4,
                                      .style = BB_COMPACTION_TIERED};

struct scene {
    struct drawn_env drawn;
    struct bb_levels *levels;
    struct bb_pick_options options;
};

static void set_filter_bytes(struct bb_level_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bb_table_meta *meta = &changes[i].file->meta;
        double bits = bb_filter_cost_bits(&cost, meta->filter_rate);
        meta->filter_bytes = (uint64_t)(bits * (double)meta->key_count / 8);
    }
}

/* The levels with the tables of the drawing, and without the removed one (0: none). */
static void change(struct scene *scene, uint64_t removed, const char *text)
{
    struct bb_level_change changes[DRAWN_TABLES_MAX];
    struct bb_levels *after = NULL;
    size_t count = draw_changes(&scene->drawn, text, changes);
    set_filter_bytes(changes, count);
    assert_ok(bb_levels_apply(scene->levels, &removed, removed != 0, changes, count, &after));
    release_changes(changes, count);
    bb_levels_unref(scene->levels);
    scene->levels = after;
}

static void scene_init(struct scene *scene, const char *text, uint64_t budget_bytes)
{
    drawn_env_init(&scene->drawn);
    assert_ok(bb_levels_create_empty(NULL, &scene->levels));
    change(scene, 0, text);
    scene->options = (struct bb_pick_options){
        .shape = shape, .has_filters = true, .budget = {.bytes = budget_bytes, .cost = cost}};
}

static void scene_deinit(struct scene *scene)
{
    bb_levels_unref(scene->levels);
    drawn_env_deinit(&scene->drawn);
}

static uint64_t filter_bytes(const struct scene *scene)
{
    uint64_t bytes = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        bytes += scene->levels->levels[level].filter_bytes;
    return bytes;
}

/* The picked table under a new number and with its new rate, where it was. */
static void rewrite(struct scene *scene, const struct bb_plan *plan, uint64_t number)
{
    char text[200];
    const struct bb_table_file *file = plan->inputs[0];
    const struct bb_table_meta *meta = &file->meta;
    /* The number of '|' after a drawn table selects its run. */
    static const char separators[] = "||||||||";
    assert_true(plan->output_run < sizeof(separators));
    snprintf(
        text, sizeof(text), "%d: %" PRIu64 "[%.*s-%.*s]*%" PRIu64 "~%.17g%.*s", plan->output_level,
        number, (int)meta->smallest.size, (const char *)meta->smallest.data,
        (int)meta->largest.size, (const char *)meta->largest.data, meta->key_count / DRAWN_KEYS,
        bb_plan_rates_for(scene->levels, &scene->options, plan), (int)plan->output_run, separators);
    change(scene, file->number, text);
}

/* Picks until no work is due; each pick reduces memory. */
static void come_to_rest(struct scene *scene)
{
    bool is_at_rest = false;
    for (uint64_t i = 0; i < PICKS_MAX && !is_at_rest; i++) {
        struct bb_plan plan = {0};
        uint64_t before = filter_bytes(scene);
        assert_ok(bb_pick(scene->levels, &scene->options, &plan));
        is_at_rest = plan.reason == BB_PLAN_NOTHING;
        if (!is_at_rest) {
            assert_int_equal(plan.reason, BB_PLAN_RATE_EXCESS);
            assert_int_equal(plan.input_count, 1);
            rewrite(scene, &plan, 1000 + i);
            assert_true(filter_bytes(scene) < before);
        }
        bb_plan_deinit(&plan);
    }
    assert_true(is_at_rest);
}

/* Level 1 as three runs of tables of these sizes: one less than are merged. */
static void draw_runs(const uint64_t *sizes, size_t count, struct bb_buf *ret_text)
{
    assert_ok(bb_buf_print(ret_text, "1:"));
    for (size_t run = 0; run < 3; run++) {
        for (size_t i = 0; i < count; i++)
            assert_ok(bb_buf_print(ret_text, " %zu[%c0-%c9]*%" PRIu64 "~0.001", 1 + run * count + i,
                                   (int)('a' + i), (int)('a' + i), sizes[i]));
        assert_ok(bb_buf_print(ret_text, "%s", run < 2 ? " |" : ""));
    }
    assert_ok(bb_buf_append(ret_text, "", 1));
}

static void check(const uint64_t *sizes, size_t count)
{
    struct scene scene;
    struct bb_buf text = {0};
    const uint64_t budget_bytes = 40 * DRAWN_KEYS;
    draw_runs(sizes, count, &text);
    scene_init(&scene, (const char *)text.data, budget_bytes);
    assert_true((double)filter_bytes(&scene) > 1.02 * (double)budget_bytes);
    come_to_rest(&scene);
    assert_true((double)filter_bytes(&scene) <= 1.02 * (double)budget_bytes);
    scene_deinit(&scene);
    bb_buf_deinit(&text);
}

/* Regression: the new rate of a run's first table was used for all: small ones were rewritten
 * forever. And a table got filters for a run's share: those for small ones were far too large,
 * and no memory could be saved on them. */
static void pick_excess__over_budget_of_tables_of_all_sizes(void **state)
{
    (void)state;
    static const uint64_t large_first[] = {10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const uint64_t large_last[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10};
    static const uint64_t equal[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    check(large_first, BB_ARRAY_LENGTH(large_first));
    check(large_last, BB_ARRAY_LENGTH(large_last));
    check(equal, BB_ARRAY_LENGTH(equal));
}

/* A table with only range tombstones does not show the rate of the others. */
static void pick_excess__over_budget_after_a_table_without_keys(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    check(sizes, BB_ARRAY_LENGTH(sizes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pick_excess__over_budget_of_tables_of_all_sizes),
        cmocka_unit_test(pick_excess__over_budget_after_a_table_without_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
