/* See plan_rates.h. */
#include "compaction/pick/plan_rates.h"

#include "compaction/rates/rates.h"
#include "compaction/rates/table_filter_bits.h"

/* A rewrite for the budget must save this part of the table's filters. */
#define BUDGET_GAIN 0.03

struct bb_rate_request bb_plan_rates_request(const struct bb_levels *levels,
                                             const struct bb_pick_options *options)
{
    return (struct bb_rate_request){
        .levels = levels,
        .hull = {.comparator = levels->comparator},
        .shape = &options->shape,
        .target = options->target_wasted_reads,
        .weights = &options->weights,
        .budget = bb_filter_budget_is_given(&options->budget) ? &options->budget : NULL,
        .shares = options->shares,
        .own_share = options->own_share,
    };
}

int bb_plan_rates_last_level(const struct bb_levels *levels, const struct bb_pick_options *options,
                             int output_level)
{
    struct bb_rate_request request = bb_plan_rates_request(levels, options);
    request.output_level = output_level;
    return bb_rate_request_last_level(&request);
}

/* The keys of the largest input run remain; the others may be versions of the same keys. Each
 * deletion removes at most one key of that run: itself, or the key that it deletes. Deletions of
 * ranges may leave fewer keys, and then the excess is corrected later. */
static void count_output_keys(const struct bb_plan *plan, struct bb_rate_request *request)
{
    uint64_t of_run = 0;
    uint64_t largest = 0;
    uint64_t tombstones = 0;
    for (size_t i = 0; i < request->removed_count; i++) {
        const struct bb_table_meta *meta = &plan->inputs[i]->meta;
        bool is_same_run = i > 0 && plan->input_levels[i] == plan->input_levels[i - 1] &&
                           plan->input_runs[i] == plan->input_runs[i - 1];
        of_run = meta->key_count + (is_same_run ? of_run : 0);
        largest = of_run > largest ? of_run : largest;
        request->output_keys += meta->key_count;
        bb_hull_add(&request->hull, plan->inputs[i]);
        tombstones += meta->tombstone_count;
    }
    request->output_keys_min = largest > tombstones ? largest - tombstones : largest > 0;
}

static struct bb_rate_request request_for(const struct bb_levels *levels,
                                          const struct bb_pick_options *options,
                                          const struct bb_plan *plan)
{
    struct bb_rate_request request = bb_plan_rates_request(levels, options);
    request.removed = plan->inputs;
    request.removed_levels = plan->input_levels;
    request.removed_runs = plan->input_runs;
    request.removed_count = plan->input_count + plan->later_count;
    request.output_level = plan->output_level;
    request.output_run = plan->output_run;
    if (plan->is_full)
        request.shape = NULL;
    count_output_keys(plan, &request);
    return request;
}

double bb_plan_rates_for(const struct bb_levels *levels, const struct bb_pick_options *options,
                         const struct bb_plan *plan)
{
    struct bb_rate_request request = request_for(levels, options, plan);
    return bb_rates_for_run(&request);
}

void bb_plan_rates_expect_tables(const struct bb_plan *plan, uint64_t table_size_bytes,
                                 struct bb_pick_options *options)
{
    double keys = 0;
    double bytes = 0;
    for (size_t i = 0; i < plan->input_count + plan->later_count; i++) {
        keys += (double)plan->inputs[i]->meta.key_count;
        bytes += (double)plan->inputs[i]->meta.file_size;
    }
    if (!plan->is_full || !bb_filter_budget_is_given(&options->budget) || keys == 0)
        return;
    double tables = bytes > (double)table_size_bytes ? bytes / (double)table_size_bytes : 1;
    options->budget.cost = bb_filter_cost_in_tables(&options->budget.cost, keys / tables);
}

void bb_plan_rates_set(const struct bb_levels *levels, const struct bb_pick_options *options,
                       const struct bb_plan *plan, struct bb_table_options *table)
{
    struct bb_rate_request request = request_for(levels, options, plan);
    bb_table_filter_bits_set(&request, bb_rates_for_run(&request), table);
}

double bb_plan_rates_waste(const struct bb_levels *levels, const struct bb_pick_options *options,
                           const struct bb_plan *plan)
{
    struct bb_rate_request request = request_for(levels, options, plan);
    double rate = plan->is_move ? bb_plan_moved_rate(plan) : bb_rates_for_run(&request);
    return bb_rates_waste_after(&request, rate);
}

struct bb_hull bb_plan_rates_output_hull(const struct bb_levels *levels,
                                         const struct bb_pick_options *options,
                                         const struct bb_plan *plan)
{
    struct bb_rate_request request = request_for(levels, options, plan);
    return bb_rate_request_output_hull(&request);
}

double bb_plan_rates_waste_added(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, const struct bb_plan *plan,
                                 double rate)
{
    struct bb_rate_request request = request_for(levels, options, plan);
    return bb_rates_waste_added(&request, rate);
}

struct bb_rate_merge bb_plan_rates_merge(const struct bb_pick_options *options,
                                         const struct bb_plan *plan, double rate)
{
    struct bb_rate_merge merge = {.level = plan->output_level};
    double bits = bb_filter_cost_bits(&options->budget.cost, rate);
    double uncounted_bytes = bb_filter_budget_uncounted_bytes(&options->budget);
    for (size_t i = 0; i < plan->input_count; i++) {
        const struct bb_table_file *file = plan->inputs[i];
        double keys = (double)file->meta.key_count;
        merge.bits += keys * bits - 8 * bb_filter_cost_bytes(&file->meta, uncounted_bytes);
        if (plan->input_levels[i] > 0)
            continue;
        merge.input = file->number;
        merge.runs++;
        merge.keys += keys;
    }
    return merge;
}

bool bb_plan_rates_keep_target(const struct bb_levels *levels,
                               const struct bb_pick_options *options, const struct bb_plan *plan,
                               double waste)
{
    double limit = BB_RATES_FILL * options->target_wasted_reads * (1 + 1e-9);
    if (!options->has_filters || bb_filter_budget_is_given(&options->budget) || waste <= limit)
        return true;
    struct bb_rate_request request = request_for(levels, options, plan);
    return waste <= bb_rate_request_waste_before(&request, bb_rate_request_last_level(&request));
}

bool bb_plan_rates_exceed_budget(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, double factor)
{
    double keys = (double)bb_levels_key_count(levels);
    return options->has_filters && bb_filter_budget_is_given(&options->budget) &&
           bb_filter_budget_used_bits(&options->budget, levels) >
               factor * bb_filter_budget_bits(&options->budget, keys);
}

double bb_plan_rates_saving(const struct bb_pick_options *options, const struct bb_table_file *file,
                            double rate)
{
    const struct bb_table_meta *meta = &file->meta;
    double bits = bb_filter_cost_bits(&options->budget.cost, meta->filter_rate);
    double saving = bits - bb_filter_cost_bits(&options->budget.cost, rate);
    return saving > BUDGET_GAIN * bits ? saving * (double)meta->key_count : 0;
}

bool bb_plan_rates_save_by_rewriting(const struct bb_levels *levels,
                                     const struct bb_pick_options *options,
                                     const struct bb_plan *plan)
{
    if (!bb_plan_rates_exceed_budget(levels, options, 1))
        return false;
    double rate = bb_plan_rates_for(levels, options, plan);
    for (size_t i = 0; i < plan->input_count; i++) {
        if (bb_plan_rates_saving(options, plan->inputs[i], rate) > 0)
            return true;
    }
    return false;
}
