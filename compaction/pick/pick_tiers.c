/* See pick_tiers.h. */
#include "compaction/pick/pick_tiers.h"

#include "base/assert.h"
#include "base/bytes.h"

/* Runs whose total size is at least this part of a unit run of the next level move there. */
#define UNIT_MIN 0.5

static struct bb_bytes smallest(const struct bb_run *run)
{
    return bb_table_file_smallest(run->files[0]);
}

static struct bb_bytes largest(const struct bb_run *run)
{
    return bb_table_file_largest(run->files[run->count - 1]);
}

/* The number of newest runs to take. */
static size_t count_taken(const struct bb_level *level, uint64_t *ret_bytes)
{
    size_t count = 0;
    uint64_t bytes = 0;
    while (count < level->run_count && (count < 2 || level->runs[count].file_bytes <= bytes))
        bytes += level->runs[count++].file_bytes;
    *ret_bytes = bytes;
    return count;
}

static bool are_disjoint(const struct bb_levels *levels, const struct bb_level *level, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct bb_run *a = &level->runs[i];
            const struct bb_run *b = &level->runs[j];
            if (bb_key_compare(levels->comparator, largest(a), smallest(b)) >= 0 &&
                bb_key_compare(levels->comparator, largest(b), smallest(a)) >= 0)
                return false;
        }
    }
    return true;
}

/* Takes the newest runs of a level. If they have no keys in common they form one run without a
 * rewrite: their rates were summed before, now their mean counts. */
static void take(const struct bb_levels *levels, int number, size_t count, struct bb_plan *plan)
{
    const struct bb_level *level = &levels->levels[number];
    for (size_t i = 0; i < count; i++)
        bb_plan_add_run(plan, number, &level->runs[i]);
    plan->is_move = are_disjoint(levels, level, count);
}

static enum bb_status merge_in_place(const struct bb_levels *levels, enum bb_plan_reason reason,
                                     int number, size_t count, struct bb_plan *plan)
{
    enum bb_status status = bb_plan_init(plan, levels, reason, number);
    if (status != BB_OK)
        return status;
    plan->output_run = levels->levels[number].runs[count - 1].number;
    take(levels, number, count, plan);
    return BB_OK;
}

static void hull_of(const struct bb_levels *levels, const struct bb_level *level,
                    struct bb_bytes *ret_low, struct bb_bytes *ret_high)
{
    struct bb_bytes low = smallest(&level->runs[0]);
    struct bb_bytes high = largest(&level->runs[0]);
    for (size_t i = 1; i < level->run_count; i++) {
        const struct bb_run *run = &level->runs[i];
        low = bb_key_compare(levels->comparator, smallest(run), low) < 0 ? smallest(run) : low;
        high = bb_key_compare(levels->comparator, largest(run), high) > 0 ? largest(run) : high;
    }
    *ret_low = low;
    *ret_high = high;
}

/* Merges all runs of the level. */
static enum bb_status merge_down(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, int number,
                                 struct bb_plan *plan)
{
    const struct bb_level *level = &levels->levels[number];
    struct bb_bytes low;
    struct bb_bytes high;
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_LEVEL_SIZE, number + 1);
    if (status != BB_OK)
        return status;
    take(levels, number, level->run_count, plan);
    hull_of(levels, level, &low, &high);
    size_t count = plan->input_count;
    bb_plan_aim(plan, levels, &options->shape, low, high);
    plan->is_move = plan->is_move && count == plan->input_count;
    return BB_OK;
}

enum bb_status bb_pick_tiers(const struct bb_levels *levels, const struct bb_pick_options *options,
                             int number, struct bb_plan *plan)
{
    BB_DEBUG_ASSERT(number > 0 && number < BB_LEVEL_COUNT);
    BB_DEBUG_ASSERT(levels->levels[number].run_count > 0);
    uint64_t bytes = 0;
    const struct bb_level *level = &levels->levels[number];
    int last = bb_levels_deepest(levels);
    size_t count = count_taken(level, &bytes);
    bool is_level = count == level->run_count && number < BB_LEVEL_COUNT - 1;
    double unit = is_level ? bb_shape_unit_bytes(&options->shape, number + 1) : 0;
    bool is_down = is_level && (double)bytes >= UNIT_MIN * unit;
    if (is_down || !bb_shape_is_tiered(&options->shape, number, last))
        return merge_down(levels, options, number, plan);
    return merge_in_place(levels, BB_PLAN_RUNS, number, count, plan);
}

enum bb_status bb_pick_tiers_unite(const struct bb_levels *levels, int number, struct bb_plan *plan)
{
    size_t count = levels->levels[number].run_count;
    BB_ASSERT(count > 1);
    return merge_in_place(levels, BB_PLAN_RUNS, number, count, plan);
}
