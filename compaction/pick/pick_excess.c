/* See pick_excess.h. */
#include "compaction/pick/pick_excess.h"

#include <math.h>

#include "compaction/levels/cover.h"
#include "compaction/pick/plan_rates.h"
#include "compaction/rates/rates.h"

/* A rewrite for a better rate must lower the table's rate by this factor; otherwise it would repeat
 * forever. */
#define EXCESS_GAIN 0.95

/* The mean waste over all keys exceeds the planned waste by at most this factor: a table with a
 * high rate may have more lookups than its part of the run's keys. Measured: 1.05. */
#define UNEVEN 1.06

/* The rate that a table would get from a rewrite in place. */
static double rewritten_rate(const struct bb_levels *levels, const struct bb_pick_options *options,
                             int level, const struct bb_run *run, struct bb_table_file *file)
{
    struct bb_rate_request request = bb_plan_rates_request(levels, options);
    request.removed = &file;
    request.removed_levels = &level;
    request.removed_runs = &run->number;
    request.removed_count = 1;
    request.output_level = level;
    request.output_run = run->number;
    request.output_keys = file->meta.key_count;
    bb_hull_add(&request.hull, file);
    return bb_rates_for_run(&request);
}

/* The table with the largest gain from a rewrite. */
struct worst {
    int level;
    const struct bb_run *run;
    struct bb_table_file *file; /* NULL if none */
    double gain;
};

/* The share of the lookups that search a run. With weights, as planned: all. */
static double share_of(const struct bb_levels *levels, const struct bb_pick_options *options,
                       const struct bb_run *run)
{
    return bb_read_weights_are_plain(&options->weights) ? bb_cover_of(levels, run).share : 1;
}

/* The lowest of the rates that three tables of a run would get. The others get about the same, so
 * this shows whether a table is worth a closer look. */
static double sample_rate(const struct bb_levels *levels, const struct bb_pick_options *options,
                          int level, const struct bb_run *run)
{
    double rate = 1;
    for (size_t i = 0; i < 3; i++) {
        struct bb_table_file *file = run->files[i * (run->count - 1) / 2];
        rate = fmin(rate, rewritten_rate(levels, options, level, run, file));
    }
    return rate;
}

static void look_at_run(const struct bb_levels *levels, const struct bb_pick_options *options,
                        int level, const struct bb_run *run, struct worst *worst)
{
    int last = bb_plan_rates_last_level(levels, options, level);
    double sample = sample_rate(levels, options, level, run);
    double weight = share_of(levels, options, run) *
                    bb_rate_request_run_weight(levels, &options->weights, level, run->number, last);
    for (size_t i = 0; i < run->count; i++) {
        struct bb_table_file *file = run->files[i];
        double share = (double)file->meta.key_count / (double)run->key_count * weight;
        if ((file->filter_rate - sample) * share <= worst->gain)
            continue;
        double rate = rewritten_rate(levels, options, level, run, file);
        double gain = (file->filter_rate - rate) * share;
        if (gain > worst->gain && rate <= EXCESS_GAIN * file->filter_rate)
            *worst = (struct worst){level, run, file, gain};
    }
}

static enum bb_status rewrite_in_place(const struct bb_levels *levels, const struct worst *worst,
                                       struct bb_plan *plan)
{
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_RATE_EXCESS, worst->level);
    if (status != BB_OK)
        return status;
    plan->output_run = worst->run->number;
    bb_plan_add(plan, worst->level, worst->run->number, worst->file);
    return BB_OK;
}

/* True when the waste exceeds BB_RATES_EXCESS times the target. Without weights this is the mean
 * over all keys. It is an estimate (cover.h), so the planned waste of the worst keys, which is
 * certain, must permit it. False without filters and with a budget. */
static bool is_due(const struct bb_levels *levels, const struct bb_pick_options *options)
{
    if (!options->has_filters || options->rates_will_change ||
        bb_filter_budget_is_given(&options->budget))
        return false;
    int last = bb_plan_rates_last_level(levels, options, bb_levels_deepest(levels));
    double limit = BB_RATES_EXCESS * options->target_wasted_reads;
    double waste = bb_rates_waste(levels, &options->weights, last);
    if (!bb_read_weights_are_plain(&options->weights))
        return waste > limit;
    return waste * UNEVEN > limit && bb_cover_planned_waste(levels) > limit;
}

enum bb_status bb_pick_excess(const struct bb_levels *levels, const struct bb_pick_options *options,
                              struct bb_plan *plan)
{
    struct worst worst = {.file = NULL};
    if (!is_due(levels, options))
        return BB_OK;
    for (size_t i = 0; i < levels->turn_count; i++)
        look_at_run(levels, options, levels->turns[i].level, levels->turns[i].run, &worst);
    if (worst.file == NULL)
        return BB_OK;
    /* A run of level 0 cannot be rewritten in place: the new table would count as the newest. */
    if (worst.level == 0)
        return bb_plan_level0(plan, levels, &options->shape, BB_PLAN_RATE_EXCESS);
    return rewrite_in_place(levels, &worst, plan);
}

/* ---- the budget ---- */

static void look_for_saving(const struct bb_levels *levels, const struct bb_pick_options *options,
                            int level, const struct bb_run *run, struct worst *best)
{
    /* All tables of the run would get the same rate, except a table without keys. Only the rate
     * that a table would get shows whether rewriting it saves memory. A rewrite that saves none
     * would repeat forever. */
    double rate = rewritten_rate(levels, options, level, run, run->files[0]);
    for (size_t i = 0; i < run->count; i++) {
        if (bb_plan_rates_saving(options, run->files[i], rate) <= best->gain)
            continue;
        double own_rate = rewritten_rate(levels, options, level, run, run->files[i]);
        double saving = bb_plan_rates_saving(options, run->files[i], own_rate);
        if (saving > best->gain)
            *best = (struct worst){level, run, run->files[i], saving};
    }
}

enum bb_status bb_pick_excess_of_budget(const struct bb_levels *levels,
                                        const struct bb_pick_options *options, struct bb_plan *plan)
{
    struct worst best = {.file = NULL};
    for (size_t i = levels->levels[0].run_count; i < levels->turn_count; i++)
        look_for_saving(levels, options, levels->turns[i].level, levels->turns[i].run, &best);
    return best.file == NULL ? BB_OK : rewrite_in_place(levels, &best, plan);
}
