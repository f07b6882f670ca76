/* See plan.h. */
#include "compaction/pick/plan.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "compaction/levels/hull.h"

/* Space for this many tables. On failure the plan is empty. */
static enum bb_status reserve(struct bb_plan *plan, size_t count)
{
    plan->inputs = bb_alloc_zeroed(count + 1, sizeof(struct bb_table_file *));
    plan->input_levels = bb_alloc_zeroed(count + 1, sizeof(int));
    plan->input_runs = bb_alloc_zeroed(count + 1, sizeof(uint64_t));
    if (plan->inputs != NULL && plan->input_levels != NULL && plan->input_runs != NULL)
        return BB_OK;
    bb_plan_deinit(plan);
    return bb_fail(BB_NO_MEMORY, "no memory for a plan over %zu tables", count);
}

enum bb_status bb_plan_init(struct bb_plan *plan, const struct bb_levels *levels,
                            enum bb_plan_reason reason, int output_level)
{
    BB_DEBUG_ASSERT(output_level >= 0 && output_level < BB_LEVEL_COUNT);
    size_t count = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        count += levels->levels[level].count;
    *plan = (struct bb_plan){.reason = reason, .output_level = output_level};
    return reserve(plan, count);
}

void bb_plan_deinit(struct bb_plan *plan)
{
    for (size_t i = 0; i < plan->input_count + plan->later_count; i++)
        bb_table_file_unref(plan->inputs[i]);
    bb_free(plan->inputs);
    bb_free(plan->input_levels);
    bb_free(plan->input_runs);
    *plan = (struct bb_plan){0};
}

static void put(struct bb_plan *plan, size_t place, int level, uint64_t run,
                struct bb_table_file *file)
{
    BB_DEBUG_ASSERT(plan->inputs != NULL && level >= 0 && level < BB_LEVEL_COUNT);
    plan->input_levels[place] = level;
    plan->input_runs[place] = run;
    plan->inputs[place] = bb_table_file_ref(file);
}

enum bb_status bb_plan_copy(const struct bb_plan *plan, struct bb_plan *ret_copy)
{
    *ret_copy = (struct bb_plan){.reason = plan->reason,
                                 .output_level = plan->output_level,
                                 .output_run = plan->output_run,
                                 .is_move = plan->is_move,
                                 .is_full = plan->is_full};
    enum bb_status status = reserve(ret_copy, plan->input_count);
    for (size_t i = 0; i < plan->input_count && status == BB_OK; i++)
        put(ret_copy, ret_copy->input_count++, plan->input_levels[i], plan->input_runs[i],
            plan->inputs[i]);
    return status;
}

void bb_plan_add(struct bb_plan *plan, int level, uint64_t run, struct bb_table_file *file)
{
    BB_DEBUG_ASSERT(plan->input_count == 0 || plan->input_levels[plan->input_count - 1] <= level);
    BB_DEBUG_ASSERT(plan->later_count == 0);
    put(plan, plan->input_count++, level, run, file);
}

void bb_plan_add_later(struct bb_plan *plan, int level, uint64_t run, struct bb_table_file *file)
{
    put(plan, plan->input_count + plan->later_count++, level, run, file);
}

void bb_plan_add_run(struct bb_plan *plan, int level, const struct bb_run *run)
{
    BB_DEBUG_ASSERT(run->count > 0);
    for (size_t i = 0; i < run->count; i++)
        bb_plan_add(plan, level, run->number, run->files[i]);
}

void bb_plan_add_overlap(struct bb_plan *plan, const struct bb_levels *levels, int level,
                         const struct bb_run *run, struct bb_bytes low, struct bb_bytes high)
{
    size_t first = 0;
    size_t end = 0;
    bb_run_find_overlap(run, levels->comparator, low, high, &first, &end);
    for (size_t i = first; i < end; i++)
        bb_plan_add(plan, level, run->number, run->files[i]);
}

uint64_t bb_plan_new_run(const struct bb_levels *levels, int level)
{
    const struct bb_level *there = &levels->levels[level];
    return there->run_count == 0 ? 0 : there->runs[0].number + 1;
}

void bb_plan_aim(struct bb_plan *plan, const struct bb_levels *levels, const struct bb_shape *shape,
                 struct bb_bytes low, struct bb_bytes high)
{
    BB_DEBUG_ASSERT(plan->output_level > 0);
    int number = plan->output_level;
    int deepest = bb_levels_deepest(levels);
    int last = deepest > number ? deepest : number;
    const struct bb_level *level = &levels->levels[number];
    bool is_only = level->run_count <= 1 && !bb_shape_is_tiered(shape, number, last);
    plan->output_run = bb_plan_new_run(levels, number);
    if (!is_only || level->run_count == 0)
        return;
    plan->output_run = level->runs[0].number;
    bb_plan_add_overlap(plan, levels, number, &level->runs[0], low, high);
}

enum bb_status bb_plan_level0(struct bb_plan *plan, const struct bb_levels *levels,
                              const struct bb_shape *shape, enum bb_plan_reason reason)
{
    const struct bb_level *level = &levels->levels[0];
    struct bb_hull hull = {.comparator = levels->comparator};
    BB_DEBUG_ASSERT(level->count > 0);
    enum bb_status status = bb_plan_init(plan, levels, reason, 1);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < level->run_count; i++) {
        bb_hull_add(&hull, level->files[i]);
        bb_plan_add_run(plan, 0, &level->runs[i]);
    }
    bb_plan_aim(plan, levels, shape, hull.low, hull.high);
    return BB_OK;
}

double bb_plan_moved_rate(const struct bb_plan *plan)
{
    BB_DEBUG_ASSERT(plan->input_count > 0);
    double rate_keys = 0;
    double keys = 0;
    for (size_t i = 0; i < plan->input_count; i++) {
        double count = (double)plan->inputs[i]->meta.key_count;
        rate_keys += plan->inputs[i]->filter_rate * count;
        keys += count;
    }
    return keys == 0 ? 0 : rate_keys / keys;
}
