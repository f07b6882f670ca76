/* See pick_scans.h. */
#include "compaction/pick/pick_scans.h"

#include "base/assert.h"
#include "compaction/pick/pick_table.h"

static uint64_t level0_charge(const struct bb_levels *levels)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < levels->levels[0].count; i++)
        bytes += bb_table_file_charge_bytes(levels->levels[0].files[i]);
    return bytes;
}

static uint64_t cost_of(const struct bb_plan *plan)
{
    uint64_t bytes = BB_PICK_SCANS_BYTES_MIN;
    for (size_t i = 0; i < plan->input_count; i++)
        bytes += plan->inputs[i]->meta.file_size;
    return bytes;
}

static enum bb_status pick_level0(const struct bb_levels *levels,
                                  const struct bb_pick_options *options, struct bb_plan *plan)
{
    uint64_t charge = level0_charge(levels);
    bool is_only_run = bb_levels_run_count(levels) == 1;
    if (charge < BB_PICK_SCANS_BYTES_MIN || charge < levels->levels[0].file_bytes || is_only_run)
        return BB_OK;
    enum bb_status status = bb_plan_level0(plan, levels, &options->shape, BB_PLAN_SCANS);
    if (status == BB_OK && charge < cost_of(plan)) {
        bb_plan_deinit(plan);
        *plan = (struct bb_plan){0};
    }
    return status;
}

static bool is_due(const struct bb_levels *levels, int level, const struct bb_table_file *file)
{
    uint64_t charge = bb_table_file_charge_bytes(file);
    uint64_t least = file->meta.file_size + BB_PICK_SCANS_BYTES_MIN;
    return charge >= least && charge - least >= bb_pick_table_overlap_bytes(levels, level, file);
}

static enum bb_status pick_level(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, int number,
                                 struct bb_plan *plan)
{
    const struct bb_level *level = &levels->levels[number];
    BB_DEBUG_ASSERT(level->run_count <= 1);
    double waste = 0;
    for (size_t i = 0; i < level->count; i++) {
        if (is_due(levels, number, level->files[i]))
            return bb_pick_table(levels, options, BB_PLAN_SCANS, number, i, plan, &waste);
    }
    return BB_OK;
}

enum bb_status bb_pick_scans(const struct bb_levels *levels, const struct bb_pick_options *options,
                             struct bb_plan *plan)
{
    int deepest = bb_levels_deepest(levels);
    if (!bb_shape_is_leveled(&options->shape))
        return BB_OK;
    enum bb_status status = pick_level0(levels, options, plan);
    for (int level = 1; level < deepest && status == BB_OK; level++) {
        if (plan->reason != BB_PLAN_NOTHING)
            break;
        status = pick_level(levels, options, level, plan);
    }
    return status;
}
