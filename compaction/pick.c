/* See pick.h. */
#include "compaction/pick.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "compaction/rates.h"
#include "compaction/summary_bits.h"

/* A rewrite for the sake of rates must lower the table's rate by this factor, or it would be done
 * again and again. */
#define EXCESS_GAIN 0.95
/* A single run is left alone when its rate is this near to the promise. */
#define CLOSE 0.05
/* So many tables of a level are looked at, those with the least overlap first, before the one that
 * breaks the promise least is taken. */
#define CANDIDATES_MAX 16
/* A rewrite for the sake of the budget must save this part of the table's filters. */
#define BUDGET_GAIN 0.03
/* From where on tables are rewritten for its sake; what is between is for the flushes that come
 * before. */
#define BUDGET_FILL 1.02

static struct bb_bytes smallest(const struct bb_table_file *file)
{
    return bb_buf_bytes(&file->meta.smallest);
}

static struct bb_bytes largest(const struct bb_table_file *file)
{
    return bb_buf_bytes(&file->meta.largest);
}

double bb_pick_score(const struct bb_levels *levels, const struct bb_pick_options *options,
                     int level)
{
    if (level == 0)
        return (double)levels->levels[0].count / (double)options->shape.level0_run_count;
    return (double)levels->levels[level].file_bytes / bb_shape_level_bytes(&options->shape, level);
}

/* ---- rates ---- */

static const struct bb_filter_budget *budget_of(const struct bb_pick_options *options)
{
    return options->budget.bytes > 0 ? &options->budget : NULL;
}

/* The store's last level once something was written to that one. */
static int last_level(const struct bb_levels *levels, const struct bb_pick_options *options,
                      int output_level)
{
    struct bb_rate_request request = {
        .levels = levels, .output_level = output_level, .shape = &options->shape};
    return bb_rate_request_last_level(&request);
}

/* Each key of the deepest input level stays, at least; what is above may be newer versions of the
 * same. Deletions may leave fewer, which the excess takes care of. */
static struct bb_rate_request request_for(const struct bb_levels *levels,
                                          const struct bb_pick_options *options,
                                          const struct bb_plan *plan)
{
    struct bb_rate_request request = {.levels = levels,
                                      .removed = plan->inputs,
                                      .removed_levels = plan->input_levels,
                                      .removed_count = plan->input_count,
                                      .output_level = plan->output_level,
                                      .shape =
                                          plan->reason == BB_PLAN_REQUEST ? NULL : &options->shape,
                                      .target = options->target_wasted_reads,
                                      .weights = &options->weights,
                                      .budget = budget_of(options),
                                      .pending_waste = options->pending_waste};
    uint64_t of_level[BB_LEVEL_COUNT] = {0};
    for (size_t i = 0; i < plan->input_count; i++) {
        uint64_t keys = plan->inputs[i]->meta.key_count;
        uint64_t *run = &of_level[plan->input_levels[i]];
        *run = plan->input_levels[i] > 0 ? *run + keys : keys;
        request.output_keys += keys;
        request.output_keys_min = *run > request.output_keys_min ? *run : request.output_keys_min;
    }
    return request;
}

double bb_pick_rate(const struct bb_levels *levels, const struct bb_pick_options *options,
                    const struct bb_plan *plan)
{
    struct bb_rate_request request = request_for(levels, options, plan);
    return bb_rates_for_run(&request);
}

void bb_pick_filters(const struct bb_levels *levels, const struct bb_pick_options *options,
                     const struct bb_plan *plan, struct bb_table_options *table)
{
    struct bb_rate_request request = request_for(levels, options, plan);
    bb_summary_bits_set(&request, bb_rates_for_run(&request), table);
}

static double waste_after(const struct bb_levels *levels, const struct bb_pick_options *options,
                          const struct bb_plan *plan)
{
    struct bb_rate_request request = request_for(levels, options, plan);
    double rate = plan->is_move ? plan->inputs[0]->filter_rate : bb_rates_for_run(&request);
    return bb_rates_after(&request, rate);
}

double bb_pick_waste_added(const struct bb_levels *levels, const struct bb_pick_options *options,
                           const struct bb_plan *plan, double rate)
{
    struct bb_rate_request request = request_for(levels, options, plan);
    request.pending_waste = 0;
    int last = bb_rate_request_last_level(&request);
    double added =
        bb_rates_after(&request, rate) - bb_rates_planned(levels, &options->weights, last);
    return added > 0 ? added : 0;
}

/* May a plan for that level be carried out, as far as the promise is concerned? What breaks it
 * already may go on, if it does not break it more. */
static bool keeps_promise(const struct bb_levels *levels, const struct bb_pick_options *options,
                          int output_level, double waste)
{
    double limit = BB_RATES_FILL * options->target_wasted_reads * (1 + 1e-9);
    if (!options->has_filters || options->budget.bytes > 0 || waste <= limit)
        return true;
    int last = last_level(levels, options, output_level);
    return waste <= bb_rates_planned(levels, &options->weights, last);
}

/* The filters have more bytes than so many times the budget. */
static bool exceeds_budget(const struct bb_levels *levels, const struct bb_pick_options *options,
                           double factor)
{
    uint64_t bytes = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        bytes += levels->levels[level].filter_bytes;
    return options->has_filters && options->budget.bytes > 0 &&
           (double)bytes > factor * (double)options->budget.bytes;
}

/* Bits that a table's filters lose at that rate; 0 when it is not worth the work. */
static double saving_of(const struct bb_pick_options *options, const struct bb_table_file *file,
                        double rate)
{
    const struct bb_table_meta *meta = &file->meta;
    double bits = bb_filter_cost_bits(&options->budget.cost, meta->filter_rate);
    double saving = bits - bb_filter_cost_bits(&options->budget.cost, rate);
    return saving > BUDGET_GAIN * bits ? saving * (double)meta->key_count : 0;
}

/* A table that is moved keeps its filters. */
static bool saves_by_rewriting(const struct bb_levels *levels,
                               const struct bb_pick_options *options, const struct bb_plan *plan)
{
    return exceeds_budget(levels, options, 1) &&
           saving_of(options, plan->inputs[0], bb_pick_rate(levels, options, plan)) > 0;
}

/* ---- level 0 ---- */

static enum bb_status pick_level0(const struct bb_levels *levels, enum bb_plan_reason reason,
                                  struct bb_plan *plan)
{
    const struct bb_level *level = &levels->levels[0];
    enum bb_status status = bb_plan_init(plan, levels, reason, 1);
    if (status != BB_OK)
        return status;
    struct bb_bytes low = smallest(level->files[0]);
    struct bb_bytes high = largest(level->files[0]);
    for (size_t i = 0; i < level->count; i++) {
        struct bb_table_file *file = level->files[i];
        low = bb_key_compare(levels->comparator, smallest(file), low) < 0 ? smallest(file) : low;
        high = bb_key_compare(levels->comparator, largest(file), high) > 0 ? largest(file) : high;
        bb_plan_add(plan, 0, file);
    }
    bb_plan_add_overlap(plan, levels, 1, low, high);
    return BB_OK;
}

/* ---- deeper levels ---- */

/* The tables of a level, those with the least overlap below for their size first; equals in the
 * order of keys. */
struct candidates {
    size_t tables[CANDIDATES_MAX];
    double ratios[CANDIDATES_MAX];
    size_t count;
};

static double overlap_ratio(const struct bb_levels *levels, int level,
                            const struct bb_table_file *file)
{
    size_t first = 0;
    size_t end = 0;
    uint64_t bytes = 0;
    bb_levels_find_overlap(levels, level + 1, smallest(file), largest(file), &first, &end);
    for (size_t i = first; i < end; i++)
        bytes += levels->levels[level + 1].files[i]->meta.file_size;
    return (double)bytes / (double)file->meta.file_size;
}

static void offer(struct candidates *candidates, size_t table, double ratio)
{
    size_t place = candidates->count;
    if (place == CANDIDATES_MAX && ratio >= candidates->ratios[CANDIDATES_MAX - 1])
        return;
    place -= place == CANDIDATES_MAX;
    for (; place > 0 && candidates->ratios[place - 1] > ratio; place--) {
        candidates->ratios[place] = candidates->ratios[place - 1];
        candidates->tables[place] = candidates->tables[place - 1];
    }
    candidates->ratios[place] = ratio;
    candidates->tables[place] = table;
    candidates->count += candidates->count < CANDIDATES_MAX;
}

/* The table with the greatest rate lowers its level's mean when it leaves: it is the last resort.
 */
static size_t greatest_rate(const struct bb_level *level)
{
    size_t greatest = 0;
    for (size_t i = 1; i < level->count; i++) {
        if (level->files[i]->filter_rate > level->files[greatest]->filter_rate)
            greatest = i;
    }
    return greatest;
}

static enum bb_status plan_table(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, int number, size_t index,
                                 struct bb_plan *plan, double *ret_waste)
{
    struct bb_table_file *file = levels->levels[number].files[index];
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_LEVEL_SIZE, number + 1);
    if (status != BB_OK)
        return status;
    bb_plan_add(plan, number, file);
    bb_plan_add_overlap(plan, levels, number + 1, smallest(file), largest(file));
    plan->is_move = plan->input_count == 1;
    *ret_waste = waste_after(levels, options, plan);
    if (plan->is_move && (!keeps_promise(levels, options, number + 1, *ret_waste) ||
                          saves_by_rewriting(levels, options, plan))) {
        plan->is_move = false;
        *ret_waste = waste_after(levels, options, plan);
    }
    return BB_OK;
}

/* The first candidate whose plan keeps the promise, else the one that breaks it least. */
static enum bb_status pick_candidate(const struct bb_levels *levels,
                                     const struct bb_pick_options *options, int number,
                                     const struct candidates *candidates, struct bb_plan *plan)
{
    enum bb_status status = BB_OK;
    double least = 0;
    for (size_t i = 0; i < candidates->count && status == BB_OK; i++) {
        struct bb_plan next = {0};
        double waste = 0;
        status = plan_table(levels, options, number, candidates->tables[i], &next, &waste);
        if (status == BB_OK && (i == 0 || waste < least)) {
            struct bb_plan worse = *plan;
            *plan = next;
            next = worse;
            least = waste;
        }
        bb_plan_deinit(&next);
        if (keeps_promise(levels, options, number + 1, least))
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
    for (size_t i = 0; i < level->count; i++)
        offer(&candidates, i, overlap_ratio(levels, number, level->files[i]));
    if (candidates.count == CANDIDATES_MAX)
        candidates.tables[CANDIDATES_MAX - 1] = greatest_rate(level);
    return pick_candidate(levels, options, number, &candidates, plan);
}

/* ---- excess ---- */

/* The rate that a table would get if it were rewritten in its place. */
static double rewritten_rate(const struct bb_levels *levels, const struct bb_pick_options *options,
                             int level, struct bb_table_file *file)
{
    struct bb_rate_request request = {.levels = levels,
                                      .removed = &file,
                                      .removed_levels = &level,
                                      .removed_count = 1,
                                      .output_level = level,
                                      .output_keys = file->meta.key_count,
                                      .shape = &options->shape,
                                      .target = options->target_wasted_reads,
                                      .weights = &options->weights,
                                      .budget = budget_of(options),
                                      .pending_waste = options->pending_waste};
    return bb_rates_for_run(&request);
}

/* What a table adds to the expected waste. */
static double weight_of(const struct bb_levels *levels, int level, const struct bb_table_file *file)
{
    return level == 0 ? 1 : (double)file->meta.key_count / (double)levels->levels[level].key_count;
}

/* What a level's rates count. */
static double level_weight(const struct bb_levels *levels, const struct bb_pick_options *options,
                           int level)
{
    return bb_read_weights_planned(&options->weights, level, last_level(levels, options, level));
}

static enum bb_status pick_excess(const struct bb_levels *levels,
                                  const struct bb_pick_options *options, struct bb_plan *plan)
{
    struct bb_table_file *worst = NULL;
    int worst_level = 0;
    double worst_excess = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        double counts = level_weight(levels, options, level);
        for (size_t i = 0; i < levels->levels[level].count; i++) {
            struct bb_table_file *file = levels->levels[level].files[i];
            double rate = rewritten_rate(levels, options, level, file);
            double excess = (file->filter_rate - rate) * weight_of(levels, level, file) * counts;
            if (excess <= worst_excess || rate > EXCESS_GAIN * file->filter_rate)
                continue;
            worst = file;
            worst_level = level;
            worst_excess = excess;
        }
    }
    if (worst == NULL)
        return BB_OK;
    /* A run of level 0 cannot be rewritten in its place: the new table would count as the newest.
     */
    if (worst_level == 0)
        return pick_level0(levels, BB_PLAN_RATE_EXCESS, plan);
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_RATE_EXCESS, worst_level);
    if (status == BB_OK)
        bb_plan_add(plan, worst_level, worst);
    return status;
}

static bool is_excessive(const struct bb_levels *levels, const struct bb_pick_options *options)
{
    if (!options->has_filters || options->budget.bytes > 0)
        return false;
    int last = last_level(levels, options, bb_levels_deepest(levels));
    return bb_rates_planned(levels, &options->weights, last) >
           BB_RATES_EXCESS * options->target_wasted_reads;
}

/* ---- the budget ---- */

/* The table of a level below level 0 whose filters save most. */
static enum bb_status pick_saving(const struct bb_levels *levels,
                                  const struct bb_pick_options *options, struct bb_plan *plan)
{
    struct bb_table_file *best = NULL;
    int best_level = 0;
    double best_saving = 0;
    for (int level = 1; level < BB_LEVEL_COUNT; level++) {
        double rate = 0;
        for (size_t i = 0; i < levels->levels[level].count; i++) {
            struct bb_table_file *file = levels->levels[level].files[i];
            /* The same for all tables of the level: the output takes the place of as many keys. */
            rate = i == 0 ? rewritten_rate(levels, options, level, file) : rate;
            double saving = saving_of(options, file, rate);
            if (saving <= best_saving)
                continue;
            best = file;
            best_level = level;
            best_saving = saving;
        }
    }
    if (best == NULL)
        return BB_OK;
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_RATE_EXCESS, best_level);
    if (status == BB_OK)
        bb_plan_add(plan, best_level, best);
    return status;
}

/* ---- what is due ---- */

/* The level with the greatest score; the last one has nowhere to go. */
static int greatest_score(const struct bb_levels *levels, const struct bb_pick_options *options,
                          double *ret_score)
{
    int best = 0;
    *ret_score = 0;
    for (int level = 0; level < BB_LEVEL_COUNT - 1; level++) {
        double score = bb_pick_score(levels, options, level);
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
        return pick_level0(levels, BB_PLAN_LEVEL0_RUNS, ret_plan);
    enum bb_status status = BB_OK;
    bool is_due = score >= 1;
    /* With weights a last level that overflows is made ready before the next one is opened, and
     * one that is thinned out counts many times. */
    bool comes_first = !is_due || !bb_read_weights_are_plain(&options->weights);
    if (comes_first && is_excessive(levels, options))
        status = pick_excess(levels, options, ret_plan);
    if (status != BB_OK || ret_plan->reason != BB_PLAN_NOTHING)
        return status;
    if (is_due)
        return pick_deeper(levels, options, best, ret_plan);
    return exceeds_budget(levels, options, BUDGET_FILL) ? pick_saving(levels, options, ret_plan)
                                                        : BB_OK;
}

/* ---- everything ---- */

/* Has the single run about the rate that it would get? Where every wasted read counts 1 and half of
 * them are allowed, it may have any. */
static bool is_close(const struct bb_levels *levels, const struct bb_pick_options *options,
                     int deepest)
{
    const struct bb_levels nothing = {.comparator = levels->comparator};
    struct bb_rate_request request = {.levels = &nothing,
                                      .output_level = deepest,
                                      .output_keys = levels->levels[deepest].key_count,
                                      .target = options->target_wasted_reads,
                                      .weights = &options->weights,
                                      .budget = budget_of(options)};
    double expected = bb_rates_level_expected(levels, deepest);
    if (options->budget.bytes == 0 && bb_read_weights_are_plain(&options->weights) &&
        options->target_wasted_reads > BB_FILTER_RATE_MAX)
        return true;
    double rate = bb_rates_for_run(&request);
    return expected >= rate * (1 - CLOSE) && expected <= rate * (1 + CLOSE);
}

/* One run, nothing dead in it, and the promise kept closely. */
static bool is_compact(const struct bb_levels *levels, const struct bb_pick_options *options,
                       int deepest)
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
    return levels->levels[deepest].count == 0 || !options->has_filters ||
           is_close(levels, options, deepest);
}

/* In a level that is too small for it, the run would move on at once, and two levels share the
 * promise meanwhile. */
static int level_for_all(const struct bb_levels *levels, const struct bb_pick_options *options)
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
        bb_plan_init(ret_plan, levels, BB_PLAN_REQUEST, level_for_all(levels, options));
    if (status != BB_OK)
        return status;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < levels->levels[level].count; i++)
            bb_plan_add(ret_plan, level, levels->levels[level].files[i]);
    }
    return BB_OK;
}
