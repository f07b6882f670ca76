/* See rates.h. */
#include "compaction/rates/rates.h"

#include <math.h>

#include "compaction/levels/cover.h"
#include "compaction/rates/forecast.h"

/* Limits for the rate of a part of a run, as factors of the mean rate planned for the run. They
 * keep the rates within a run similar. WHY: when tables with lower rates leave a run, its mean
 * rises. */
#define UNEVEN_MAX 1.5
#define UNEVEN_MIN 0.5

/* A new table gets at least this part of the budget's bits per key, even if older tables have more
 * than their share. */
#define BITS_LEFT_MIN 0.9

/* When other runs have used up the target, a run still gets this part of its ideal rate. */
#define SHARE_MIN (1.0 / 16)

/* Plans of a leveled store, and of any output that is apart, expect the store to grow by at most
 * this part of its keys before the output is rewritten. WHY: the levels above the output can be
 * many times larger than the store. Its first runs would leave most of the target to keys that may
 * never come. */
#define GROWTH_MAX 0.1
/* The same for an output in level 0. */
#define GROWTH_MAX_LEVEL0 0.5

/* In level 0 of a leveled store, as many keys share the rest of the target with the output as this
 * part of the level's keys, the output included. WHY: flushes continue while level 0 is merged, and
 * their runs stay when the merged ones are gone. The part is larger if many runs are planned. */
#define RIVALS_LEVEL0        0.5
#define RIVALS_LEVEL0_OF_RUN (1.0 / 24)

/* An output is apart from the rest of the store if this part of the keys is not near it. */
#define APART_MIN 0.25

/* The rate of a run that is larger than its level is planned for at least this part of its keys. */
#define PLANNED_MIN 0.5

/* The store around the new tables. */
struct scene {
    /* The weight of the output's run. */
    double weight;
    /* The waste of the other runs, and of tables that are being written at the same time. */
    double waste;
    /* The keys of the other runs; if is_apart, of the runs near the output. */
    double keys;
    /* The tables of the output's run that stay: sum of rate times keys, and keys. */
    double run_rate_keys;
    double run_keys;
    /* The keys that newer runs can add before the output is rewritten: until the levels above it
     * are full, and its own level too if it takes several runs. */
    double space;
    /* The part of them that is planned for. */
    double free_keys;
    /* The keys that will leave levels above the output for lower ones. */
    double surplus;
    /* The keys whose runs share the rest of the target with the output. */
    double rival_keys;
    /* The minimum waste of the runs that have space. */
    double future_waste;
    /* Much of the store is not near the output, so only the runs near it share the target. */
    bool is_apart;
    /* Much of the output's run is not near the output. Then its mean rate tells nothing there. */
    bool is_elsewhere;
};

static double mean(double sum, double keys)
{
    return keys == 0 ? 0 : sum / keys;
}

double bb_rates_waste(const struct bb_levels *levels, const struct bb_read_weights *weights,
                      int last_level)
{
    struct bb_rate_request request = {.levels = levels, .weights = weights};
    return bb_rate_request_waste(&request, last_level);
}

/* The exact weight of a run when older runs have this many keys. */
static double visit_share(const struct bb_levels *levels, const struct bb_read_weights *weights,
                          double older_keys)
{
    double absent = bb_read_weights_absent(weights);
    double keys = (double)bb_levels_key_count(levels);
    return absent + (1 - absent) * mean(older_keys, keys);
}

static double keys_below(const struct bb_levels *levels, int number)
{
    double keys = 0;
    for (int level = number + 1; level < BB_LEVEL_COUNT; level++)
        keys += (double)levels->levels[level].key_count;
    return keys;
}

struct bb_rate_level bb_rates_level(const struct bb_levels *levels, int number,
                                    const struct bb_read_weights *weights)
{
    const struct bb_level *level = &levels->levels[number];
    double older = keys_below(levels, number);
    if (level->run_count == 0)
        return (struct bb_rate_level){.visit_share = visit_share(levels, weights, older)};
    struct bb_rate_level sum = {0};
    for (size_t i = level->run_count; i > 0; i--) {
        const struct bb_run *run = &level->runs[i - 1];
        struct bb_cover cover = bb_cover_of(levels, run);
        double share = visit_share(levels, weights, older);
        sum.visit_share += share * cover.share / (double)level->run_count;
        sum.rate_sum += cover.waste;
        sum.waste += share * cover.waste;
        older += (double)run->key_count;
    }
    return sum;
}

/* The keys whose runs share the rest of the target with an output in level 0 of a leveled store. */
static double rival_keys_level0(const struct bb_rate_request *request,
                                const struct bb_rate_part *own, double free_keys)
{
    double runs = (double)bb_shape_run_count(request->shape, 0, 1);
    double part = fmax(RIVALS_LEVEL0, RIVALS_LEVEL0_OF_RUN * runs);
    return fmax(free_keys, part * (own->keys + (double)request->output_keys));
}

/* The keys whose runs share the rest of the target with the output. Flushes may continue without a
 * compaction. Therefore, in a level that takes several runs, no run takes the whole rest, and a run
 * of tiers beyond the planned number of runs takes at most a third of it. */
static double rival_keys_of(const struct bb_rate_request *request, const struct bb_rate_part *own,
                            double free_keys)
{
    if (!bb_rate_request_fills_first(request, request->output_level) && request->output_level > 0)
        return free_keys;
    if (bb_rate_request_is_leveled(request))
        return rival_keys_level0(request, own, free_keys);
    int last = bb_rate_request_last_level(request);
    bool is_planned = request->shape != NULL &&
                      own->runs < bb_shape_run_count(request->shape, request->output_level, last);
    return fmax(free_keys, (double)request->output_keys * (is_planned ? 0.25 : 2));
}

/* The number of keys that are expected to come. */
static double growth_of(const struct bb_rate_request *request, const struct scene *scene)
{
    if (!bb_rate_request_is_leveled(request))
        return scene->space;
    double part = request->output_level == 0 ? GROWTH_MAX_LEVEL0 : GROWTH_MAX;
    double keys = scene->keys + scene->run_keys + (double)request->output_keys;
    return fmin(scene->space, part * keys);
}

/* The surplus of the levels up to this one, which lower levels will get. */
static double surplus_after(const struct bb_rate_request *request, int level,
                            const struct bb_rate_part *part, double surplus)
{
    if (!bb_rate_request_is_leveled(request) || level == 0 || level >= request->output_level)
        return surplus;
    return fmax(0, surplus + part->keys - bb_rate_request_full_keys(request, level));
}

/* True when much of the store is not near the output, as if keys are written in order. With weights
 * it never is: a run's weight depends on the whole store. */
static bool is_apart(const struct bb_rate_request *request, const struct scene *scene,
                     const struct bb_rate_near *near)
{
    double all = scene->keys + scene->run_keys + (double)request->output_keys;
    return bb_read_weights_are_plain(request->weights) &&
           scene->keys - near->keys >= APART_MIN * all;
}

/* Only the runs near the output share its target. Nothing moves into them from levels above. */
static void look_only_near(const struct bb_rate_request *request, const struct bb_rate_near *near,
                           struct scene *scene)
{
    scene->keys = near->keys;
    double keys = scene->keys + scene->run_keys + (double)request->output_keys;
    scene->free_keys = request->shape == NULL ? 0 : GROWTH_MAX * keys;
    scene->rival_keys = scene->free_keys;
    scene->surplus = 0;
    scene->is_apart = true;
}

static struct scene look_around(const struct bb_rate_request *request)
{
    int last = bb_rate_request_last_level(request);
    int output = request->output_level;
    struct scene scene = {.weight = bb_rate_request_run_weight(request->levels, request->weights,
                                                               output, request->output_run, last),
                          .waste = bb_rate_request_waste(request, last)};
    struct bb_rate_part own = {0};
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        struct bb_rate_part part = bb_rate_request_part(request, level);
        if (bb_rate_request_fills_first(request, level)) {
            double weight = bb_read_weights_planned(request->weights, level, last);
            scene.space += bb_rate_request_free_keys(request, level, &part);
            scene.future_waste +=
                bb_rate_request_runs_to_come(request, level, &part) * BB_FILTER_RATE_MIN * weight;
        }
        own = level == output ? part : own;
        scene.keys += part.keys - part.run_keys;
        scene.surplus = surplus_after(request, level, &part, scene.surplus);
    }
    scene.run_rate_keys = own.run_rate_keys;
    scene.run_keys = own.run_keys;
    struct bb_rate_near near = bb_rate_request_near(request);
    scene.is_elsewhere = near.run_keys < (1 - APART_MIN) * own.run_keys;
    if (is_apart(request, &scene, &near)) {
        look_only_near(request, &near, &scene);
    } else {
        scene.free_keys = growth_of(request, &scene);
        scene.rival_keys = rival_keys_of(request, &own, scene.free_keys);
    }
    return scene;
}

/* The rate for new_keys keys with which the mean rate of their whole run is run_mean. */
static double rate_for_mean(const struct scene *scene, double run_mean, double new_keys)
{
    return run_mean + (run_mean * scene->run_keys - scene->run_rate_keys) / new_keys;
}

static double keys_min(const struct bb_rate_request *request)
{
    return (double)(request->output_keys_min > 0 ? request->output_keys_min : request->output_keys);
}

/* The mean rate of the output's run that would use up the rest of the target: the fill limit minus
 * the waste of all other runs, present and future. 0 or less if they have used it up. */
static double rest_run_rate(const struct bb_rate_request *request, const struct scene *scene)
{
    double fill = request->output_level == 0 ? BB_RATES_FILL_LEVEL0 : BB_RATES_FILL;
    return (fill * request->target - scene->waste - scene->future_waste) / scene->weight;
}

/* The highest rate with which the waste does not exceed the fill limit, both for the largest and
 * for the smallest possible number of output keys. */
static double limit_rate(const struct bb_rate_request *request, const struct scene *scene)
{
    double rest = rest_run_rate(request, scene);
    return fmin(rate_for_mean(scene, rest, (double)request->output_keys),
                rate_for_mean(scene, rest, keys_min(request)));
}

/* The rate of the output's run when other runs have used up the target: a small part of its ideal
 * rate. A still lower rate would not make up for the others. While the waste of the others is below
 * BB_RATES_SLACK times the target, the output must not raise the waste above that limit. */
static double least_run_rate(const struct bb_rate_request *request, const struct scene *scene,
                             double ideal)
{
    double slack = (BB_RATES_SLACK * request->target - scene->waste) / scene->weight;
    return slack <= 0 ? ideal * SHARE_MIN : fmin(ideal * SHARE_MIN, slack / 4);
}

/* The number of keys for which the rate of the output's run is planned.
 *
 * In a leveled store, keys beyond the size of a level soon move into the next one. So the output
 * soon has the surplus of the levels above it. Its own surplus leaves it, partly without being
 * rewritten. The geometric mean serves both the keys that leave and the keys that stay. */
static double planned_run_keys(const struct bb_rate_request *request, const struct scene *scene)
{
    double keys = scene->run_keys + (double)request->output_keys + scene->surplus;
    if (!bb_rate_request_is_leveled(request) || request->output_level == 0 || scene->is_apart)
        return keys;
    double full = bb_rate_request_full_keys(request, request->output_level);
    return full > 0 && keys > full ? fmax(sqrt(keys * full), keys * PLANNED_MIN) : keys;
}

/* The rate of the output's run in a store that keeps the target with minimal memory. If all runs
 * have weight 1, this rate is proportional to the keys of the run, as long as the target is too low
 * for a run without filters. */
static double ideal_run_rate(const struct bb_rate_request *request, const struct scene *scene)
{
    struct bb_forecast forecast;
    double rates[BB_LEVEL_COUNT];
    double run_keys = scene->run_keys + (double)request->output_keys;
    if (bb_read_weights_are_plain(request->weights))
        return request->target * planned_run_keys(request, scene) /
               (scene->keys + run_keys + scene->free_keys);
    bb_forecast_init(&forecast, request, scene->space == 0 ? 1 : scene->free_keys / scene->space);
    bb_forecast_rates(&forecast, request->target, rates);
    double rate = rates[request->output_level];
    return bb_forecast_scale(&forecast, request->output_level, run_keys, rate);
}

/* The mean rate for the whole run of the output: the lower of the ideal rate and the run's part of
 * the rest of the target. See rates.h. */
static double run_rate_of(const struct bb_rate_request *request, const struct scene *scene)
{
    double run_keys = scene->run_keys + (double)request->output_keys;
    double ideal = ideal_run_rate(request, scene);
    double rest = rest_run_rate(request, scene);
    if (rest <= 0)
        return least_run_rate(request, scene, ideal);
    return fmin(ideal, rest * run_keys / (run_keys + scene->rival_keys));
}

/* A run has no filter only if its rate may be 1: then each lookup that searches it without finding
 * its key wastes a request. Otherwise even the smallest filter, of one bit per key
 * (BB_FILTER_RATE_MAX), is worthwhile. */
static double clamp(double rate)
{
    if (rate >= 1)
        return 1;
    if (rate > BB_FILTER_RATE_MAX)
        return BB_FILTER_RATE_MAX;
    return rate < BB_FILTER_RATE_MIN ? BB_FILTER_RATE_MIN : rate;
}

/* ---- budgets ---- */

/* The predicted store during the life of the output. */
static struct bb_forecast forecast_of(const struct bb_rate_request *request)
{
    struct bb_forecast forecast;
    bb_forecast_init(&forecast, request, 1);
    bb_forecast_grow(&forecast, request);
    return forecast;
}

double bb_rates_target(const struct bb_rate_request *request)
{
    const struct bb_filter_budget *budget = request->budget;
    if (budget == NULL)
        return request->target;
    struct bb_forecast forecast = forecast_of(request);
    double keys = bb_forecast_key_count(&forecast);
    return bb_forecast_target(&forecast, &budget->cost,
                              bb_filter_budget_planned_bits(budget, keys));
}

/* The bits per key that the remaining tables leave for the output, from a budget in bits per key.
 * If the remaining tables have more than their share, the output gets slightly less than its share;
 * rewriting older tables does the rest. */
static double bits_left(const struct bb_rate_request *request)
{
    const struct bb_filter_budget *budget = request->budget;
    double keys = (double)bb_levels_key_count(request->levels);
    double bits = bb_filter_budget_used_bits(budget, request->levels);
    for (size_t i = 0; i < request->removed_count; i++) {
        keys -= (double)request->removed[i]->meta.key_count;
        bits -= 8 * bb_filter_cost_bytes(&request->removed[i]->meta,
                                         bb_filter_budget_uncounted_bytes(budget));
    }
    if (request->merge != NULL)
        bits += request->merge->bits;
    double output = (double)request->output_keys;
    double left = (bb_filter_budget_planned_bits(budget, keys + output) - bits) / output;
    return fmax(left, BITS_LEFT_MIN * budget->bits_per_key);
}

/* The rate of the output in a store that minimises the waste for the budget. A budget in bytes is
 * kept if each table takes its share. So the rate does not depend on the present rates of other
 * tables, and a part of a run gets the rate of the whole run. */
static double ideal_budget_rate(const struct bb_rate_request *request)
{
    double rates[BB_LEVEL_COUNT];
    struct bb_forecast forecast = forecast_of(request);
    bb_forecast_rates(&forecast, bb_rates_target(request), rates);
    int level = request->output_level;
    double rate = rates[level];
    if (forecast.runs[level] <= 1 || rate == 1)
        return clamp(rate);
    struct bb_rate_part own = bb_rate_request_part(request, level);
    double run_keys = own.run_keys + (double)request->output_keys;
    double scaled = bb_forecast_scale(&forecast, level, run_keys, rate);
    return clamp(fmin(scaled, BB_FILTER_RATE_MAX));
}

/* A budget in bits per key is never used in advance: levels that fill up later bring their own bits
 * with their keys. So the rate is not lower than the bits that are unused now allow. */
static double rate_by_budget(const struct bb_rate_request *request)
{
    const struct bb_filter_budget *budget = request->budget;
    double rate = ideal_budget_rate(request);
    if (budget->bytes > 0)
        return rate;
    return clamp(fmax(rate, bb_filter_cost_rate(&budget->cost, bits_left(request))));
}

/* ---- runs ---- */

/* True when the output's run will soon no longer be the last one. All of its tables are rewritten
 * before that, so a part of the run need not compensate for the others. */
static bool is_replaced(const struct bb_rate_request *request)
{
    return !bb_read_weights_are_plain(request->weights) && request->shape != NULL &&
           bb_rate_request_opens(request->levels, request->shape, request->output_level);
}

static double rate_by_target(const struct bb_rate_request *request)
{
    struct scene scene = look_around(request);
    double run_rate = run_rate_of(request, &scene);
    if (scene.run_keys == 0 || scene.is_elsewhere || is_replaced(request))
        return clamp(run_rate);
    double rate = rate_for_mean(&scene, run_rate, (double)request->output_keys);
    rate = fmax(fmin(rate, run_rate * UNEVEN_MAX), run_rate * UNEVEN_MIN);
    return clamp(fmin(rate, fmax(limit_rate(request, &scene), run_rate * SHARE_MIN)));
}

double bb_rates_for_run(const struct bb_rate_request *request)
{
    if (request->output_keys == 0)
        return clamp(bb_rates_target(request));
    return request->budget != NULL ? rate_by_budget(request) : rate_by_target(request);
}

static double mean_after(const struct scene *scene, double new_keys, double rate)
{
    return mean(scene->run_rate_keys + rate * new_keys, scene->run_keys + new_keys);
}

double bb_rates_waste_after(const struct bb_rate_request *request, double rate)
{
    struct scene scene = look_around(request);
    return scene.waste + scene.weight * fmax(mean_after(&scene, (double)request->output_keys, rate),
                                             mean_after(&scene, keys_min(request), rate));
}

double bb_rates_waste_added(const struct bb_rate_request *request, double rate)
{
    int last = bb_rate_request_last_level(request);
    if (request->output_level == 0)
        return rate * bb_read_weights_planned(request->weights, 0, last);
    struct scene scene = look_around(request);
    double run_rate = fmax(mean_after(&scene, (double)request->output_keys, rate),
                           mean_after(&scene, keys_min(request), rate));
    return bb_rate_request_waste_added(request, last, scene.weight * run_rate);
}
