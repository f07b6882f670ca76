/* See range_progress.h. */
#include "compaction/pick/range_progress.h"

#include <math.h>

#include "base/bytes.h"
#include "base/status.h"
#include "compaction/levels/hull.h"
#include "compaction/pick/pick.h"
#include "compaction/pick/plan_rates.h"

/* A range with at least this part of all keys has nearly all. */
#define FULL_PART 0.9
/* A table of the last level keeps its filters if its rate is this close to the new one. */
#define CLOSE 0.05

enum bb_status bb_range_progress_init(struct bb_range_progress *progress,
                                      const struct bb_key_range *range, uint64_t number_end,
                                      uint64_t bytes_max)
{
    *progress = (struct bb_range_progress){.number_end = number_end, .bytes_max = bytes_max};
    return bb_kept_range_init(&progress->kept, range);
}

void bb_range_progress_deinit(struct bb_range_progress *progress)
{
    bb_kept_range_deinit(&progress->kept);
    bb_buf_deinit(&progress->done_to);
    *progress = (struct bb_range_progress){0};
}

static bool meets(const struct bb_range_progress *progress, const struct bb_levels *levels,
                  const struct bb_table_file *file)
{
    const struct bb_comparator *comparator = levels->comparator;
    const struct bb_key_range *range = &progress->kept.range;
    if (range->low != NULL && bb_table_file_ends_before(file, comparator, *range->low))
        return false;
    return range->high == NULL ||
           bb_key_compare(comparator, bb_table_file_smallest(file), *range->high) < 0;
}

/* The deepest level with tables that overlap the range. */
static int deepest_level(const struct bb_range_progress *progress, const struct bb_levels *levels)
{
    for (int number = BB_LEVEL_COUNT - 1; number > 0; number--) {
        const struct bb_level *level = &levels->levels[number];
        for (size_t i = 0; i < level->count; i++) {
            if (meets(progress, levels, level->files[i]))
                return number;
        }
    }
    return 0;
}

static void take(struct bb_plan *plan, int level, const struct bb_run *run,
                 struct bb_table_file *file, struct bb_hull *hull)
{
    bb_hull_add(hull, file);
    bb_plan_add(plan, level, run->number, file);
}

bool bb_range_progress_is_full(const struct bb_range_progress *progress,
                               const struct bb_levels *levels)
{
    double keys = 0;
    for (int number = 0; number < BB_LEVEL_COUNT; number++) {
        const struct bb_level *level = &levels->levels[number];
        for (size_t i = 0; i < level->count; i++)
            keys += meets(progress, levels, level->files[i])
                        ? (double)level->files[i]->meta.key_count
                        : 0;
    }
    return keys >= FULL_PART * (double)bb_levels_key_count(levels);
}

/* Where the request ends. */
struct goal {
    int level;
    bool is_full;
    double rate; /* of all tables, if the request is full; 0 without filters */
};

static bool has_taken(const struct bb_plan *plan, const struct bb_table_file *file)
{
    for (size_t i = 0; i < plan->input_count; i++) {
        if (plan->inputs[i] == file)
            return true;
    }
    return false;
}

/* Adds the tables that the request has not merged yet, and those in its last level: all of them get
 * the same rate. */
static void add_later(const struct bb_range_progress *progress, const struct bb_levels *levels,
                      const struct goal *goal, struct bb_plan *plan)
{
    for (int number = progress->level; number <= goal->level; number++) {
        const struct bb_level *level = &levels->levels[number];
        for (size_t r = 0; r < level->run_count; r++) {
            const struct bb_run *run = &level->runs[r];
            for (size_t i = 0; i < run->count; i++) {
                if (meets(progress, levels, run->files[i]) && !has_taken(plan, run->files[i]))
                    bb_plan_add_later(plan, number, run->number, run->files[i]);
            }
        }
    }
}

static enum bb_status find_goal(const struct bb_range_progress *progress,
                                const struct bb_levels *levels,
                                const struct bb_pick_options *options, struct goal *ret_goal)
{
    struct bb_plan plan = {0};
    int deepest = deepest_level(progress, levels);
    struct goal goal = {.level = deepest, .is_full = bb_range_progress_is_full(progress, levels)};
    int for_all = bb_pick_level_for_all(levels, options);
    if (goal.is_full && deepest < for_all && bb_levels_key_count(levels) > 0)
        goal.level = for_all;
    *ret_goal = goal;
    if (!goal.is_full || !options->has_filters || goal.level == 0)
        return BB_OK;
    enum bb_status status = bb_plan_init(&plan, levels, BB_PLAN_RANGE, goal.level);
    if (status != BB_OK)
        return status;
    const struct bb_run *oldest = bb_levels_oldest_run(levels, goal.level);
    plan.output_run = oldest == NULL ? 0 : oldest->number;
    plan.is_full = true;
    add_later(progress, levels, &goal, &plan);
    ret_goal->rate = bb_plan_rates_for(levels, options, &plan);
    bb_plan_deinit(&plan);
    return BB_OK;
}

/* Takes tables from the newest run to the oldest, and with each table those of older runs that
 * overlap it: a table must not move below an older one with the same keys. progress NULL: only
 * tables that overlap the hull. */
static void take_runs(const struct bb_range_progress *progress, const struct bb_levels *levels,
                      int number, struct bb_plan *plan, struct bb_hull *hull)
{
    const struct bb_level *level = &levels->levels[number];
    for (size_t r = 0; r < level->run_count; r++) {
        const struct bb_run *run = &level->runs[r];
        for (size_t i = 0; i < run->count; i++) {
            struct bb_table_file *file = run->files[i];
            bool is_wanted = progress != NULL && meets(progress, levels, file);
            if (is_wanted || bb_hull_meets(hull, file))
                take(plan, number, run, file, hull);
        }
    }
}

/* True for tables whose largest key is up to done_to. If done_to is exclusive, a table that has
 * this key itself as its largest begins there, and is not done. */
static bool is_done(const struct bb_range_progress *progress,
                    const struct bb_comparator *comparator, const struct bb_table_file *file)
{
    if (!progress->has_done)
        return false;
    int order =
        bb_key_compare(comparator, bb_table_file_largest(file), bb_buf_bytes(&progress->done_to));
    return order < 0 ||
           (order == 0 && (file->meta.largest_is_exclusive || !progress->done_is_exclusive));
}

static bool has_other_rate(const struct goal *goal, const struct bb_table_file *file)
{
    return goal->rate > 0 && fabs(file->filter_rate - goal->rate) > CLOSE * goal->rate;
}

static bool is_due(const struct bb_range_progress *progress, const struct bb_levels *levels,
                   const struct bb_table_file *file, const struct goal *goal)
{
    const struct bb_table_meta *meta = &file->meta;
    if (!meets(progress, levels, file))
        return false;
    if (is_done(progress, levels->comparator, file))
        return false;
    return progress->level < goal->level ||
           (file->number < progress->number_end &&
            (meta->tombstone_count > 0 || meta->range_tombstone_count > 0 ||
             meta->entry_count != meta->key_count || has_other_rate(goal, file)));
}

/* Takes tables that are due until they have bytes_max. They are adjacent, because an output must
 * not overlap a table that stays. */
static void take_level(const struct bb_range_progress *progress, const struct bb_levels *levels,
                       const struct goal *goal, struct bb_plan *plan, struct bb_hull *hull)
{
    const struct bb_run *run = bb_levels_run(levels, progress->level, 0);
    uint64_t bytes = 0;
    for (size_t i = 0; i < run->count && bytes < progress->bytes_max; i++) {
        struct bb_table_file *file = run->files[i];
        bool is_taken = is_due(progress, levels, file, goal);
        if (hull->has_any && !is_taken)
            break;
        if (!is_taken)
            continue;
        take(plan, progress->level, run, file, hull);
        bytes += file->meta.file_size;
    }
}

/* True when the last level may have old versions or tombstones in the range: a table there is from
 * before the request, or two runs have tables there. */
static bool has_old(const struct bb_range_progress *progress, const struct bb_levels *levels)
{
    const struct bb_level *level = &levels->levels[progress->level];
    size_t runs = 0;
    for (size_t r = 0; r < level->run_count; r++) {
        const struct bb_run *run = &level->runs[r];
        bool has_range = false;
        for (size_t i = 0; i < run->count; i++) {
            bool is_met = meets(progress, levels, run->files[i]);
            has_range |= is_met;
            if (is_met && run->files[i]->number < progress->number_end)
                return true;
        }
        runs += has_range;
    }
    return runs > 1;
}

/* Takes the next piece of the current level: all of the range in level 0 and in a level of several
 * runs. The output goes to the oldest run of its level. WHY above the last level the numbers do not
 * matter: the request's own step to this level gave its data new ones. */
static void take_piece(struct bb_range_progress *progress, const struct bb_levels *levels,
                       const struct goal *goal, struct bb_plan *plan)
{
    bool is_bottom = progress->level > 0 && progress->level == goal->level;
    struct bb_hull hull = {.comparator = levels->comparator};
    progress->is_whole = progress->level == 0 || levels->levels[progress->level].run_count > 1;
    const struct bb_run *oldest = bb_levels_oldest_run(levels, plan->output_level);
    plan->output_run = oldest == NULL ? 0 : oldest->number;
    if (!progress->is_whole && levels->levels[progress->level].run_count > 0)
        take_level(progress, levels, goal, plan, &hull);
    else if (!is_bottom || has_old(progress, levels))
        take_runs(progress, levels, progress->level, plan, &hull);
    if (hull.has_any && !is_bottom)
        take_runs(NULL, levels, plan->output_level, plan, &hull);
    plan->is_full = goal->is_full && plan->input_count > 0 && plan->output_level == goal->level;
    if (plan->is_full)
        add_later(progress, levels, goal, plan);
}

static void leave_level(struct bb_range_progress *progress)
{
    progress->level++;
    progress->has_done = false;
}

enum bb_status bb_range_progress_pick(struct bb_range_progress *progress,
                                      const struct bb_levels *levels,
                                      const struct bb_pick_options *options,
                                      struct bb_plan *ret_plan)
{
    struct bb_plan plan = {0};
    *ret_plan = (struct bb_plan){0};
    for (;;) {
        struct goal goal;
        enum bb_status status = find_goal(progress, levels, options, &goal);
        if (status != BB_OK || (progress->level > goal.level && progress->level > 0))
            return status;
        bool is_bottom = progress->level > 0 && progress->level == goal.level;
        status = bb_plan_init(&plan, levels, BB_PLAN_RANGE, progress->level + !is_bottom);
        if (status != BB_OK)
            return status;
        take_piece(progress, levels, &goal, &plan);
        if (plan.input_count > 0)
            break;
        bb_plan_deinit(&plan);
        leave_level(progress);
    }
    *ret_plan = plan;
    return BB_OK;
}

void bb_range_progress_finish(struct bb_range_progress *progress, const struct bb_plan *plan)
{
    size_t last = 0;
    if (progress->is_whole) {
        leave_level(progress);
        return;
    }
    while (last + 1 < plan->input_count && plan->input_levels[last + 1] == plan->input_levels[0])
        last++;
    progress->done_is_exclusive = plan->inputs[last]->meta.largest_is_exclusive;
    progress->has_done =
        bb_buf_assign(&progress->done_to, bb_table_file_largest(plan->inputs[last])) == BB_OK;
}
