/* See pick_table.h. */
#include "compaction/pick/pick_table.h"

#include "base/assert.h"
#include "compaction/pick/plan_rates.h"

uint64_t bb_pick_table_overlap_bytes(const struct bb_levels *levels, int level,
                                     const struct bb_table_file *file)
{
    size_t first = 0;
    size_t end = 0;
    const struct bb_run *below = bb_levels_oldest_run(levels, level + 1);
    if (below == NULL)
        return 0;
    bb_run_find_overlap(below, levels->comparator, bb_table_file_smallest(file),
                        bb_table_file_largest(file), &first, &end);
    return bb_run_bytes(below, first, end);
}

enum bb_status bb_pick_table(const struct bb_levels *levels, const struct bb_pick_options *options,
                             enum bb_plan_reason reason, int number, size_t index,
                             struct bb_plan *plan, double *ret_waste)
{
    const struct bb_run *run = bb_levels_run(levels, number, 0);
    BB_DEBUG_ASSERT(number + 1 < BB_LEVEL_COUNT && index < run->count);
    struct bb_table_file *file = run->files[index];
    enum bb_status status = bb_plan_init(plan, levels, reason, number + 1);
    if (status != BB_OK)
        return status;
    bb_plan_add(plan, number, run->number, file);
    bb_plan_aim(plan, levels, &options->shape, bb_table_file_smallest(file),
                bb_table_file_largest(file));
    /* A rewrite may drop data that range tombstones cover. */
    plan->is_move = plan->input_count == 1 && file->meta.range_tombstone_count == 0;
    *ret_waste = bb_plan_rates_waste(levels, options, plan);
    if (plan->is_move && (!bb_plan_rates_keep_target(levels, options, plan, *ret_waste) ||
                          bb_plan_rates_save_by_rewriting(levels, options, plan))) {
        plan->is_move = false;
        *ret_waste = bb_plan_rates_waste(levels, options, plan);
    }
    return BB_OK;
}
