/* See pick_level0.h. */
#include "compaction/pick/pick_level0.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"

enum bb_status bb_pick_level0(const struct bb_levels *levels, const struct bb_pick_options *options,
                              enum bb_plan_reason reason, struct bb_plan *plan)
{
    BB_DEBUG_ASSERT(levels->levels[0].count > 0);
    const struct bb_level *level = &levels->levels[0];
    enum bb_status status = bb_plan_init(plan, levels, reason, 1);
    if (status != BB_OK)
        return status;
    struct bb_bytes low = bb_table_file_smallest(level->files[0]);
    struct bb_bytes high = bb_table_file_largest(level->files[0]);
    for (size_t i = 0; i < level->count; i++) {
        struct bb_table_file *file = level->files[i];
        struct bb_bytes first = bb_table_file_smallest(file);
        struct bb_bytes last = bb_table_file_largest(file);
        low = bb_key_compare(levels->comparator, first, low) < 0 ? first : low;
        high = bb_key_compare(levels->comparator, last, high) > 0 ? last : high;
        bb_plan_add(plan, 0, file->number, file);
    }
    bb_plan_aim(plan, levels, &options->shape, low, high);
    return BB_OK;
}
