/* See pick.h. */
#include "compaction/pick.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "compaction/rates.h"

/* A rewrite for the sake of rates must lower the table's rate by this factor, or it would be done again and again. */
#define EXCESS_GAIN 0.9
/* A single run is left alone when its rate is this near to the promise. */
#define CLOSE 0.05

static struct bb_bytes smallest(const struct bb_table_file *file)
{
    return (struct bb_bytes){.data = file->meta.smallest.data, .size = file->meta.smallest.size};
}

static struct bb_bytes largest(const struct bb_table_file *file)
{
    return (struct bb_bytes){.data = file->meta.largest.data, .size = file->meta.largest.size};
}

void bb_plan_deinit(struct bb_plan *plan)
{
    for (size_t i = 0; i < plan->input_count; i++)
        bb_table_file_unref(plan->inputs[i]);
    bb_free(plan->inputs);
    bb_free(plan->input_levels);
    *plan = (struct bb_plan){0};
}

static enum bb_status plan_init(const struct bb_levels *levels, enum bb_plan_reason reason, int output_level,
                                struct bb_plan *plan)
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

static void plan_add(struct bb_plan *plan, int level, struct bb_table_file *file)
{
    plan->input_levels[plan->input_count] = level;
    plan->inputs[plan->input_count++] = bb_table_file_ref(file);
}

/* Tables first ... end - 1 of a deeper level hold keys between low and high. */
static void find_overlap(const struct bb_levels *levels, int level, struct bb_bytes low, struct bb_bytes high,
                         size_t *ret_first, size_t *ret_end)
{
    size_t end = *ret_first = bb_levels_find_index(levels, level, low);
    while (end < levels->levels[level].count &&
           bb_key_compare(levels->comparator, smallest(levels->levels[level].files[end]), high) <= 0)
        end++;
    *ret_end = end;
}

static void add_overlap(const struct bb_levels *levels, int level, struct bb_bytes low, struct bb_bytes high,
                        struct bb_plan *plan)
{
    size_t first = 0;
    size_t end = 0;
    find_overlap(levels, level, low, high, &first, &end);
    for (size_t i = first; i < end; i++)
        plan_add(plan, level, levels->levels[level].files[i]);
}

double bb_pick_score(const struct bb_levels *levels, const struct bb_pick_options *options, int level)
{
    if (level == 0)
        return (double)levels->levels[0].count / (double)options->level0_run_count;
    double target = (double)options->level1_size_bytes;
    for (int i = 1; i < level; i++)
        target *= options->level_size_ratio;
    return (double)levels->levels[level].file_bytes / target;
}

static enum bb_status pick_level0(const struct bb_levels *levels, enum bb_plan_reason reason, struct bb_plan *plan)
{
    const struct bb_level *level = &levels->levels[0];
    enum bb_status status = plan_init(levels, reason, 1, plan);
    if (status != BB_OK)
        return status;
    struct bb_bytes low = smallest(level->files[0]);
    struct bb_bytes high = largest(level->files[0]);
    for (size_t i = 0; i < level->count; i++) {
        struct bb_table_file *file = level->files[i];
        low = bb_key_compare(levels->comparator, smallest(file), low) < 0 ? smallest(file) : low;
        high = bb_key_compare(levels->comparator, largest(file), high) > 0 ? largest(file) : high;
        plan_add(plan, 0, file);
    }
    add_overlap(levels, 1, low, high, plan);
    return BB_OK;
}

static double overlap_ratio(const struct bb_levels *levels, int level, const struct bb_table_file *file)
{
    size_t first = 0;
    size_t end = 0;
    uint64_t bytes = 0;
    find_overlap(levels, level + 1, smallest(file), largest(file), &first, &end);
    for (size_t i = first; i < end; i++)
        bytes += levels->levels[level + 1].files[i]->meta.file_size;
    return (double)bytes / (double)file->meta.file_size;
}

static enum bb_status pick_deeper(const struct bb_levels *levels, int number, struct bb_plan *plan)
{
    const struct bb_level *level = &levels->levels[number];
    struct bb_table_file *best = level->files[0];
    double best_ratio = overlap_ratio(levels, number, best);
    for (size_t i = 1; i < level->count; i++) {
        double ratio = overlap_ratio(levels, number, level->files[i]);
        if (ratio < best_ratio) {
            best = level->files[i];
            best_ratio = ratio;
        }
    }
    enum bb_status status = plan_init(levels, BB_PLAN_LEVEL_SIZE, number + 1, plan);
    if (status != BB_OK)
        return status;
    plan_add(plan, number, best);
    add_overlap(levels, number + 1, smallest(best), largest(best), plan);
    plan->is_move = plan->input_count == 1;
    return BB_OK;
}

/* The rate that a table would get if it were rewritten in its place. */
static double rewritten_rate(const struct bb_levels *levels, const struct bb_pick_options *options, int level,
                             const struct bb_table_file *file)
{
    struct bb_rate_request request = {.levels = levels,
                                      .removed = &file->number,
                                      .removed_count = 1,
                                      .output_level = level,
                                      .output_keys = file->meta.key_count,
                                      .shape = options->shape,
                                      .target = options->target_wasted_reads};
    return bb_rates_for_run(&request);
}

/* What a table adds to the expected waste. */
static double weight_of(const struct bb_levels *levels, int level, const struct bb_table_file *file)
{
    return level == 0 ? 1 : (double)file->meta.key_count / (double)levels->levels[level].key_count;
}

static enum bb_status pick_excess(const struct bb_levels *levels, const struct bb_pick_options *options,
                                  struct bb_plan *plan)
{
    struct bb_table_file *worst = NULL;
    int worst_level = 0;
    double worst_excess = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < levels->levels[level].count; i++) {
            struct bb_table_file *file = levels->levels[level].files[i];
            double rate = rewritten_rate(levels, options, level, file);
            double excess = (file->meta.filter_rate - rate) * weight_of(levels, level, file);
            if (excess <= worst_excess || rate > EXCESS_GAIN * file->meta.filter_rate)
                continue;
            worst = file;
            worst_level = level;
            worst_excess = excess;
        }
    }
    if (worst == NULL)
        return BB_OK;
    /* A run of level 0 cannot be rewritten in its place: the new table would count as the newest. */
    if (worst_level == 0)
        return pick_level0(levels, BB_PLAN_RATE_EXCESS, plan);
    enum bb_status status = plan_init(levels, BB_PLAN_RATE_EXCESS, worst_level, plan);
    if (status == BB_OK)
        plan_add(plan, worst_level, worst);
    return status;
}

enum bb_status bb_pick(const struct bb_levels *levels, const struct bb_pick_options *options, struct bb_plan *ret_plan)
{
    int best = 0;
    double best_score = 0;
    *ret_plan = (struct bb_plan){0};
    /* The last level has nowhere to go. */
    for (int level = 0; level < BB_LEVEL_COUNT - 1; level++) {
        double score = bb_pick_score(levels, options, level);
        if (score > best_score) {
            best = level;
            best_score = score;
        }
    }
    if (best_score >= 1)
        return best == 0 ? pick_level0(levels, BB_PLAN_LEVEL0_RUNS, ret_plan) : pick_deeper(levels, best, ret_plan);
    if (options->has_filters && bb_rates_expected(levels) > BB_RATES_SLACK * options->target_wasted_reads)
        return pick_excess(levels, options, ret_plan);
    return BB_OK;
}

/* One run, nothing dead in it, and the promise kept closely. */
static bool is_compact(const struct bb_levels *levels, const struct bb_pick_options *options, int deepest)
{
    if (levels->levels[0].count > 0)
        return false;
    for (int level = 1; level < BB_LEVEL_COUNT; level++) {
        if (level != deepest && levels->levels[level].count > 0)
            return false;
    }
    for (size_t i = 0; i < levels->levels[deepest].count; i++) {
        const struct bb_table_meta *meta = &levels->levels[deepest].files[i]->meta;
        if (meta->tombstone_count > 0 || meta->entry_count != meta->key_count)
            return false;
    }
    double expected = bb_rates_expected(levels);
    double target = options->target_wasted_reads;
    return levels->levels[deepest].count == 0 || !options->has_filters || target > BB_FILTER_RATE_MAX ||
           (expected >= target * (1 - CLOSE) && expected <= target * (1 + CLOSE));
}

enum bb_status bb_pick_all(const struct bb_levels *levels, const struct bb_pick_options *options,
                           struct bb_plan *ret_plan)
{
    int deepest = bb_levels_deepest(levels);
    int output_level = deepest == 0 ? 1 : deepest;
    *ret_plan = (struct bb_plan){0};
    if (is_compact(levels, options, output_level))
        return BB_OK;
    enum bb_status status = plan_init(levels, BB_PLAN_REQUEST, output_level, ret_plan);
    if (status != BB_OK)
        return status;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < levels->levels[level].count; i++)
            plan_add(ret_plan, level, levels->levels[level].files[i]);
    }
    return BB_OK;
}
