/* See pick_level0.h. */
#include "compaction/pick/pick_level0.h"

#include "base/assert.h"
#include "compaction/pick/plan_rates.h"

/* Smaller tables, as a part of the size of level 1, are merged: otherwise level 1 would collect
 * many small ones. By default it has 8 tables. */
#define MOVED_SIZE (1.0 / 32)

static bool overlaps(const struct bb_levels *levels, const struct bb_run *run,
                     const struct bb_table_file *file)
{
    return bb_run_overlaps(run, levels->comparator, bb_table_file_smallest(file),
                           bb_table_file_largest(file));
}

/* True when table `index` of level 0 can move to level 1. It must overlap no other table of level
 * 0: not an older one, because its data is newer, and not a newer one, because a merge of both is
 * due anyway. A rewrite may drop data that range tombstones cover, so a table with some does not
 * move. */
static bool can_move(const struct bb_levels *levels, const struct bb_pick_options *options,
                     size_t index)
{
    const struct bb_level *level0 = &levels->levels[0];
    struct bb_table_file *file = level0->files[index];
    double size_min = MOVED_SIZE * (double)options->shape.level1_size_bytes;
    if (file->meta.range_tombstone_count > 0 || (double)file->meta.file_size < size_min ||
        (options->needs_companions && bb_table_file_companion_number(file) == 0))
        return false;
    for (size_t i = 0; i < level0->run_count; i++) {
        if (i != index && overlaps(levels, &level0->runs[i], file))
            return false;
    }
    return levels->levels[1].run_count == 0 || !overlaps(levels, bb_levels_run(levels, 1, 0), file);
}

/* Moves all tables that can move. The plan has no inputs if none can. */
static enum bb_status plan_moves(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, struct bb_plan *plan)
{
    const struct bb_level *level1 = &levels->levels[1];
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_LEVEL0_RUNS, 1);
    if (status != BB_OK)
        return status;
    plan->is_move = true;
    plan->output_run = level1->run_count == 0 ? 0 : level1->runs[0].number;
    for (size_t i = 0; i < levels->levels[0].run_count; i++) {
        if (can_move(levels, options, i))
            bb_plan_add_run(plan, 0, bb_levels_run(levels, 0, i));
    }
    return BB_OK;
}

static bool is_useful(const struct bb_levels *levels, const struct bb_pick_options *options,
                      const struct bb_plan *plan)
{
    return plan->input_count > 0 &&
           bb_plan_rates_keep_target(levels, options, plan,
                                     bb_plan_rates_waste(levels, options, plan)) &&
           !bb_plan_rates_save_by_rewriting(levels, options, plan);
}

enum bb_status bb_pick_level0(const struct bb_levels *levels, const struct bb_pick_options *options,
                              struct bb_plan *ret_plan)
{
    BB_DEBUG_ASSERT(levels->levels[0].run_count > 0);
    if (bb_shape_is_leveled(&options->shape) && levels->levels[1].run_count <= 1) {
        enum bb_status status = plan_moves(levels, options, ret_plan);
        if (status != BB_OK || is_useful(levels, options, ret_plan))
            return status;
        bb_plan_deinit(ret_plan);
    }
    return bb_plan_level0(ret_plan, levels, &options->shape, BB_PLAN_LEVEL0_RUNS);
}
