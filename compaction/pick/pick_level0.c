/* See pick_level0.h. */
#include "compaction/pick/pick_level0.h"

#include "base/assert.h"
#include "compaction/levels/hull.h"

enum bb_status bb_pick_level0(const struct bb_levels *levels, const struct bb_pick_options *options,
                              enum bb_plan_reason reason, struct bb_plan *plan)
{
    BB_DEBUG_ASSERT(levels->levels[0].count > 0);
    const struct bb_level *level = &levels->levels[0];
    struct bb_hull hull = {.comparator = levels->comparator};
    enum bb_status status = bb_plan_init(plan, levels, reason, 1);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < level->run_count; i++) {
        bb_hull_add(&hull, level->files[i]);
        bb_plan_add_run(plan, 0, &level->runs[i]);
    }
    bb_plan_aim(plan, levels, &options->shape, hull.low, hull.high);
    return BB_OK;
}
