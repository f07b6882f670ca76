/* See pick.h. */
#include "compaction/pick/pick.h"

#include "compaction/pick/pick_excess.h"
#include "compaction/pick/pick_level0.h"
#include "compaction/pick/pick_scans.h"
#include "compaction/pick/pick_table.h"
#include "compaction/pick/pick_tiers.h"
#include "compaction/pick/pick_tombstones.h"
#include "compaction/pick/plan_rates.h"
#include "compaction/rates/rates.h"

/* A single run is not rewritten when its rate is this close to the target. */
#define CLOSE 0.05
/* The number of tables of a level that are considered, in order of overlap, smallest first, before
 * the best of them is taken. */
#define CANDIDATES_MAX 16
/* Above this factor tables are rewritten to meet the budget. The margin is for flushes in the
 * meantime. */
#define BUDGET_FILL 1.02

/* A level's size divided by its target size, or its runs by the number at which they are merged.
 *
 * The score of a level of several runs uses their number, because its bytes come in runs of about a
 * unit. A level that should have a single run is also due when it has more. The deepest level never
 * moves down. */
double bb_pick_score(const struct bb_levels *levels, const struct bb_pick_options *options,
                     int number)
{
    const struct bb_shape *shape = &options->shape;
    const struct bb_level *level = &levels->levels[number];
    int last = bb_levels_deepest(levels);
    bool is_tiered = bb_shape_is_tiered(shape, number, last);
    if (number == 0 && options->level0_run_count_due > 0)
        return (double)level->run_count / options->level0_run_count_due;
    if (is_tiered || level->run_count > 1)
        return (double)level->run_count / bb_shape_run_count(shape, number, last);
    return (double)level->file_bytes / bb_shape_level_bytes(shape, number);
}

/* ---- a table of a level that is one run ---- */

/* A table of a level, and its overlap with the level below, relative to its size. */
struct candidate {
    size_t table;
    double ratio;
    uint64_t sequence_max;
};

/* In order of overlap; equal ones in order of age, oldest first. */
struct candidates {
    struct candidate tables[CANDIDATES_MAX];
    size_t count;
};

static double overlap_ratio(const struct bb_levels *levels, int level,
                            const struct bb_table_file *file)
{
    return (double)bb_pick_table_overlap_bytes(levels, level, file) / (double)file->meta.file_size;
}

static bool comes_before(const struct candidate *a, const struct candidate *b)
{
    return a->ratio < b->ratio || (a->ratio == b->ratio && a->sequence_max < b->sequence_max);
}

static void offer(struct candidates *candidates, const struct candidate *candidate)
{
    struct candidate *tables = candidates->tables;
    size_t place = candidates->count;
    if (place == CANDIDATES_MAX && !comes_before(candidate, &tables[CANDIDATES_MAX - 1]))
        return;
    place -= place == CANDIDATES_MAX;
    for (; place > 0 && comes_before(candidate, &tables[place - 1]); place--)
        tables[place] = tables[place - 1];
    tables[place] = *candidate;
    candidates->count += candidates->count < CANDIDATES_MAX;
}

/* The table with the highest rate lowers its level's mean when it leaves, so it is the fallback. */
static size_t greatest_rate(const struct bb_level *level)
{
    size_t greatest = 0;
    for (size_t i = 1; i < level->count; i++) {
        if (level->files[i]->filter_rate > level->files[greatest]->filter_rate)
            greatest = i;
    }
    return greatest;
}

/* Picks the first candidate whose plan keeps the target, else the candidate that exceeds it
 * least. */
static enum bb_status pick_candidate(const struct bb_levels *levels,
                                     const struct bb_pick_options *options, int number,
                                     const struct candidates *candidates, struct bb_plan *plan)
{
    enum bb_status status = BB_OK;
    double least = 0;
    for (size_t i = 0; i < candidates->count && status == BB_OK; i++) {
        struct bb_plan next = {0};
        double waste = 0;
        status = bb_pick_table(levels, options, BB_PLAN_LEVEL_SIZE, number,
                               candidates->tables[i].table, &next, &waste);
        if (status == BB_OK && (i == 0 || waste < least)) {
            struct bb_plan worse = *plan;
            *plan = next;
            next = worse;
            least = waste;
        }
        bb_plan_deinit(&next);
        if (bb_plan_rates_keep_target(levels, options, plan, least))
            break;
    }
    if (status != BB_OK)
        bb_plan_deinit(plan);
    return status;
}

static enum bb_status pick_deeper(const struct bb_levels *levels,
                                  const struct bb_pick_options *options, int number,
                                  struct bb_plan *plan)
{
    const struct bb_level *level = &levels->levels[number];
    struct candidates candidates = {.count = 0};
    for (size_t i = 0; i < level->count; i++) {
        const struct candidate candidate = {i, overlap_ratio(levels, number, level->files[i]),
                                            level->files[i]->meta.sequence_max};
        offer(&candidates, &candidate);
    }
    if (candidates.count == CANDIDATES_MAX)
        candidates.tables[CANDIDATES_MAX - 1].table = greatest_rate(level);
    return pick_candidate(levels, options, number, &candidates, plan);
}

/* ---- due levels ---- */

/* In a store that was written with another style, levels may have too many runs. */
static enum bb_status pick_level(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, int number,
                                 struct bb_plan *plan)
{
    bool is_tiered = bb_shape_is_tiered(&options->shape, number, bb_levels_deepest(levels));
    if (!is_tiered && levels->levels[number].run_count > 1)
        return bb_pick_tiers_unite(levels, number, plan);
    if (!bb_shape_is_leveled(&options->shape))
        return bb_pick_tiers(levels, options, number, plan);
    if (levels->levels[number + 1].run_count > 1)
        return bb_pick_tiers_unite(levels, number + 1, plan);
    return pick_deeper(levels, options, number, plan);
}

/* The last level of lazy leveling moves down without a rewrite. A full one has priority, since each
 * merge into it rewrites more. */
static bool is_full_last(const struct bb_levels *levels, const struct bb_pick_options *options,
                         int number)
{
    return number > 0 && number < BB_LEVEL_COUNT - 1 && levels->levels[number].run_count == 1 &&
           !bb_shape_is_leveled(&options->shape) &&
           !bb_shape_is_tiered(&options->shape, number, number) &&
           bb_pick_score(levels, options, number) >= 1;
}

/* The level with the highest score, or a full last level. */
static int greatest_score(const struct bb_levels *levels, const struct bb_pick_options *options,
                          double *ret_score)
{
    int best = 0;
    int deepest = bb_levels_deepest(levels);
    *ret_score = bb_pick_score(levels, options, deepest);
    if (is_full_last(levels, options, deepest))
        return deepest;
    *ret_score = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        double score = bb_pick_score(levels, options, level);
        if (level == BB_LEVEL_COUNT - 1 && levels->levels[level].run_count <= 1)
            continue;
        if (score > *ret_score) {
            best = level;
            *ret_score = score;
        }
    }
    return best;
}

enum bb_status bb_pick(const struct bb_levels *levels, const struct bb_pick_options *options,
                       struct bb_plan *ret_plan)
{
    double score = 0;
    int best = greatest_score(levels, options, &score);
    *ret_plan = (struct bb_plan){0};
    if (score >= 1 && best == 0)
        return bb_pick_level0(levels, options, ret_plan);
    enum bb_status status = BB_OK;
    bool is_due = score >= 1;
    /* With weights, the last level may have few filters. If it overflows, it will soon not be the
     * last one: its filters are improved before the next level opens. */
    bool comes_first = !is_due || !bb_read_weights_are_plain(&options->weights);
    if (comes_first)
        status = bb_pick_excess(levels, options, ret_plan);
    if (status != BB_OK || ret_plan->reason != BB_PLAN_NOTHING)
        return status;
    if (is_due)
        return pick_level(levels, options, best, ret_plan);
    if (!options->rates_will_change && bb_plan_rates_exceed_budget(levels, options, BUDGET_FILL))
        status = bb_pick_excess_of_budget(levels, options, ret_plan);
    if (status == BB_OK && ret_plan->reason == BB_PLAN_NOTHING)
        status = bb_pick_scans(levels, options, ret_plan);
    if (status != BB_OK || ret_plan->reason != BB_PLAN_NOTHING)
        return status;
    return bb_pick_tombstones(levels, options, ret_plan);
}

/* ---- all tables ---- */

/* True when the single run's rate is close to the rate that a rewrite would give. If every wasted
 * read counts 1 and half of them are allowed, any rate will do. */
static bool is_close(const struct bb_levels *levels, const struct bb_pick_options *options,
                     int deepest)
{
    const struct bb_levels nothing = {.comparator = levels->comparator};
    struct bb_rate_request request = bb_plan_rates_request(&nothing, options);
    request.output_level = deepest;
    request.output_keys = levels->levels[deepest].key_count;
    request.shape = NULL;
    request.shares = NULL;
    double expected = bb_run_rate(levels->turns[0].run);
    if (!bb_filter_budget_is_given(&options->budget) &&
        bb_read_weights_are_plain(&options->weights) &&
        options->target_wasted_reads > BB_FILTER_RATE_MAX)
        return true;
    double rate = bb_rates_for_run(&request);
    return expected >= rate * (1 - CLOSE) && expected <= rate * (1 + CLOSE);
}

/* True for a single run without dead entries and with a rate close to the target. */
static bool is_compact(const struct bb_levels *levels, const struct bb_pick_options *options,
                       int deepest)
{
    if (levels->levels[0].count > 0 || bb_levels_run_count(levels) > 1)
        return false;
    for (size_t i = 0; i < levels->levels[deepest].count; i++) {
        const struct bb_table_meta *meta = &levels->levels[deepest].files[i]->meta;
        if (meta->tombstone_count > 0 || meta->range_tombstone_count > 0 ||
            meta->entry_count != meta->key_count)
            return false;
    }
    return levels->levels[deepest].count == 0 || !options->has_filters ||
           is_close(levels, options, deepest);
}

int bb_pick_level_for_all(const struct bb_levels *levels, const struct bb_pick_options *options)
{
    int level = bb_levels_deepest(levels) < 1 ? 1 : bb_levels_deepest(levels);
    double bytes = 0;
    for (int i = 0; i < BB_LEVEL_COUNT; i++)
        bytes += (double)levels->levels[i].file_bytes;
    while (level < BB_LEVEL_COUNT - 1 && bytes >= bb_shape_level_bytes(&options->shape, level))
        level++;
    return level;
}

enum bb_status bb_pick_all(const struct bb_levels *levels, const struct bb_pick_options *options,
                           struct bb_plan *ret_plan)
{
    int deepest = bb_levels_deepest(levels) < 1 ? 1 : bb_levels_deepest(levels);
    *ret_plan = (struct bb_plan){0};
    if (is_compact(levels, options, deepest))
        return BB_OK;
    enum bb_status status =
        bb_plan_init(ret_plan, levels, BB_PLAN_REQUEST, bb_pick_level_for_all(levels, options));
    if (status != BB_OK)
        return status;
    ret_plan->is_full = true;
    for (size_t i = 0; i < levels->turn_count; i++)
        bb_plan_add_run(ret_plan, levels->turns[i].level, levels->turns[i].run);
    return BB_OK;
}
