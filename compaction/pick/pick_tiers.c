/* See pick_tiers.h. */
#include "compaction/pick/pick_tiers.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "compaction/levels/hull.h"
#include "compaction/pick/pick_slice.h"

/* Runs whose total size is at least this part of a unit run of the next level move there. */
#define UNIT_MIN 0.5
/* Descending runs continue while they overlap at most this part of their bytes in a receiver that
 * began with their descent. */
#define OVERLAP_MAX 0.5

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

/* True when runs first ... end - 1 have no keys in common. */
static bool are_disjoint(const struct bb_levels *levels, const struct bb_level *level, size_t first,
                         size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct bb_run *run = &level->runs[i];
        struct bb_hull hull = {.comparator = levels->comparator};
        size_t begin = 0;
        size_t past = 0;
        bb_hull_add_run(&hull, run, run->count);
        for (size_t j = first; j < i && begin == past; j++)
            bb_hull_find_overlap(&hull, &level->runs[j], &begin, &past);
        if (begin < past)
            return false;
    }
    return true;
}

/* Takes runs first ... end - 1 of a level. If they have no keys in common they form one run without
 * a rewrite: their rates were summed before, now their mean counts. */
static void take(const struct bb_levels *levels, int number, size_t first, size_t end,
                 struct bb_plan *plan)
{
    const struct bb_level *level = &levels->levels[number];
    for (size_t i = first; i < end; i++)
        bb_plan_add_run(plan, number, &level->runs[i]);
    plan->is_move = are_disjoint(levels, level, first, end);
}

static enum bb_status merge_in_place(const struct bb_levels *levels, int number, size_t count,
                                     struct bb_plan *plan)
{
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_RUNS, number);
    if (status != BB_OK)
        return status;
    plan->output_run = levels->levels[number].runs[count - 1].number;
    take(levels, number, 0, count, plan);
    return BB_OK;
}

/* ---- to the next level ---- */

/* The bytes of the receiver that the descending runs overlap. */
static double overlap_bytes(const struct bb_descent *descent)
{
    struct bb_hull hull = {.comparator = descent->levels->comparator};
    size_t first = 0;
    size_t end = 0;
    if (descent->receiver == NULL)
        return 0;
    for (size_t i = 0; i < descent->run_count; i++)
        bb_hull_add_run(&hull, &descent->runs[i], descent->runs[i].count);
    bb_hull_find_overlap(&hull, descent->receiver, &first, &end);
    return (double)bb_run_bytes(descent->receiver, first, end);
}

/* The only run of the next level, if that level should have one only; NULL otherwise. */
static const struct bb_run *only_run(const struct bb_levels *levels, const struct bb_shape *shape,
                                     int number)
{
    int deepest = bb_levels_deepest(levels);
    int last = deepest > number ? deepest : number + 1;
    bool is_only =
        levels->levels[number + 1].run_count == 1 && !bb_shape_is_tiered(shape, number + 1, last);
    return is_only ? bb_levels_run(levels, number + 1, 0) : NULL;
}

/* True when runs of the level descend already. In a level of several runs, their descent has
 * written most of the receiver. Other runs that look like this would rewrite an old receiver. */
static bool has_begun(const struct bb_levels *levels, const struct bb_shape *shape, int number,
                      struct bb_descent *ret_descent)
{
    return bb_descent_find(levels, number, ret_descent) &&
           (only_run(levels, shape, number) != NULL ||
            overlap_bytes(ret_descent) <= OVERLAP_MAX * (double)ret_descent->file_bytes);
}

/* Moves runs that overlap nothing, and merges a slice of others. */
static enum bb_status descend(const struct bb_descent *descent, const struct bb_shape *shape,
                              struct bb_plan *plan)
{
    const struct bb_levels *levels = descent->levels;
    int below = descent->level + 1;
    size_t end = descent->first + descent->run_count;
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_LEVEL_SIZE, below);
    if (status != BB_OK)
        return status;
    plan->output_run =
        descent->receiver != NULL ? descent->receiver->number : bb_plan_new_run(levels, below);
    if (overlap_bytes(descent) > 0 ||
        !are_disjoint(levels, &levels->levels[descent->level], descent->first, end))
        bb_pick_slice(descent, shape, plan);
    else
        take(levels, descent->level, descent->first, end, plan);
    return BB_OK;
}

enum bb_status bb_pick_tiers(const struct bb_levels *levels, const struct bb_pick_options *options,
                             int number, struct bb_plan *plan)
{
    BB_DEBUG_ASSERT(number > 0 && number < BB_LEVEL_COUNT);
    BB_DEBUG_ASSERT(levels->levels[number].run_count > 0);
    uint64_t bytes = 0;
    struct bb_descent descent;
    const struct bb_level *level = &levels->levels[number];
    const struct bb_shape *shape = &options->shape;
    if (has_begun(levels, shape, number, &descent))
        return descend(&descent, shape, plan);
    size_t count = count_taken(level, &bytes);
    bool is_level = count == level->run_count && number < BB_LEVEL_COUNT - 1;
    double unit = is_level ? bb_shape_unit_bytes(shape, number + 1) : 0;
    bool is_down = is_level && (double)bytes >= UNIT_MIN * unit;
    if (!is_down && bb_shape_is_tiered(shape, number, bb_levels_deepest(levels)))
        return merge_in_place(levels, number, count, plan);
    descent = bb_descent_of(levels, number, 0, only_run(levels, shape, number));
    return descend(&descent, shape, plan);
}

enum bb_status bb_pick_tiers_unite(const struct bb_levels *levels, int number, struct bb_plan *plan)
{
    size_t count = levels->levels[number].run_count;
    BB_ASSERT(count > 1);
    return merge_in_place(levels, number, count, plan);
}
