/* See plan.h. */
#include "compaction/plan.h"

#include "base/alloc.h"
#include "base/status.h"

enum bb_status bb_plan_init(struct bb_plan *plan, const struct bb_levels *levels,
                            enum bb_plan_reason reason, int output_level)
{
    size_t count = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        count += levels->levels[level].count;
    *plan = (struct bb_plan){.reason = reason, .output_level = output_level};
    plan->inputs = bb_alloc_zeroed(count + 1, sizeof(struct bb_table_file *));
    plan->input_levels = bb_alloc_zeroed(count + 1, sizeof(int));
    if (plan->inputs != NULL && plan->input_levels != NULL)
        return BB_OK;
    bb_plan_deinit(plan);
    return bb_fail(BB_NO_MEMORY, "no memory for a plan over %zu tables", count);
}

void bb_plan_deinit(struct bb_plan *plan)
{
    for (size_t i = 0; i < plan->input_count; i++)
        bb_table_file_unref(plan->inputs[i]);
    bb_free(plan->inputs);
    bb_free(plan->input_levels);
    *plan = (struct bb_plan){0};
}

void bb_plan_add(struct bb_plan *plan, int level, struct bb_table_file *file)
{
    plan->input_levels[plan->input_count] = level;
    plan->inputs[plan->input_count++] = bb_table_file_ref(file);
}

void bb_plan_add_overlap(struct bb_plan *plan, const struct bb_levels *levels, int level,
                         struct bb_bytes low, struct bb_bytes high)
{
    size_t first = 0;
    size_t end = 0;
    bb_levels_find_overlap(levels, level, low, high, &first, &end);
    for (size_t i = first; i < end; i++)
        bb_plan_add(plan, level, levels->levels[level].files[i]);
}
