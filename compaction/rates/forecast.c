/* See forecast.h. */
#include "compaction/rates/forecast.h"

#include <math.h>

/* Number of halvings of the range of targets on a logarithmic scale: down to 1e-6 of it. */
#define BISECTIONS 20

/* In a last level of several runs, only the oldest counts as the last run. */
static double mean_weight(const struct bb_rate_request *request, int level, int last, double runs)
{
    double weight = bb_read_weights_planned(request->weights, level, last);
    if (level != last || runs <= 1)
        return weight;
    double newer = bb_read_weights_planned(request->weights, level, last + 1);
    return (weight + (runs - 1) * newer) / runs;
}

void bb_forecast_init(struct bb_forecast *forecast, const struct bb_rate_request *request,
                      double growth)
{
    int last = bb_rate_request_last_level(request);
    *forecast = (struct bb_forecast){.runs = {0}};
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        struct bb_rate_part part = bb_rate_request_part(request, level);
        bool is_output = level == request->output_level;
        forecast->keys[level] = part.keys + (is_output ? (double)request->output_keys : 0);
        forecast->runs[level] = (double)part.runs + is_output;
        if (bb_rate_request_fills_first(request, level)) {
            forecast->keys[level] += growth * bb_rate_request_free_keys(request, level, &part);
            forecast->runs[level] += growth * bb_rate_request_runs_to_come(request, level, &part);
        }
        forecast->weights[level] = mean_weight(request, level, last, forecast->runs[level]);
    }
}

double bb_forecast_scale(const struct bb_forecast *forecast, int level, double run_keys,
                         double rate)
{
    return forecast->runs[level] <= 1 || rate == 1
               ? rate
               : rate * run_keys * forecast->runs[level] / forecast->keys[level];
}

/* The number of keys that the levels above the output can still take. */
static double free_keys_above(const struct bb_rate_request *request)
{
    double free_keys = 0;
    for (int level = 0; level < request->output_level; level++) {
        struct bb_rate_part part = bb_rate_request_part(request, level);
        free_keys += bb_rate_request_free_keys(request, level, &part);
    }
    return free_keys;
}

void bb_forecast_grow(struct bb_forecast *forecast, const struct bb_rate_request *request)
{
    int above = request->output_level - 1;
    if (request->shape == NULL || above < 1)
        return;
    int last = bb_rate_request_last_level(request);
    double flow = bb_rate_request_full_keys(request, above) - free_keys_above(request);
    forecast->keys[last] += flow > 0 ? flow : 0;
}

double bb_forecast_key_count(const struct bb_forecast *forecast)
{
    double keys = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        keys += forecast->keys[level];
    return keys;
}

/* The levels of a forecast in the form for bb_filter_allocate. */
struct entries {
    struct bb_filter_run runs[BB_LEVEL_COUNT];
    int levels[BB_LEVEL_COUNT];
    size_t count;
    double weight_max;
    double weight_sum;
};

/* The runs of a level are equal. They become one entry, which has the keys and the weight of all of
 * them together and the rate of each. */
static void list_runs(const struct bb_forecast *forecast, struct entries *entries)
{
    *entries = (struct entries){.count = 0};
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        if (!(forecast->keys[level] > 0))
            continue;
        double runs = level == 0 || forecast->runs[level] > 1 ? forecast->runs[level] : 1;
        double weight = forecast->weights[level] * runs;
        size_t i = entries->count++;
        entries->levels[i] = level;
        entries->runs[i] = (struct bb_filter_run){
            .key_count = (uint64_t)ceil(forecast->keys[level]), .read_cost = weight};
        entries->weight_max = fmax(entries->weight_max, weight);
        entries->weight_sum += weight;
    }
}

void bb_forecast_rates(const struct bb_forecast *forecast, double target,
                       double ret_rates[BB_LEVEL_COUNT])
{
    struct entries entries;
    double achieved = 0;
    list_runs(forecast, &entries);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        ret_rates[level] = 1;
    if (target >= entries.weight_sum)
        return;
    /* Weights are relative: the highest is 1, so that any target below their sum is in range. */
    for (size_t i = 0; i < entries.count; i++)
        entries.runs[i].read_cost /= entries.weight_max;
    if (bb_filter_allocate(entries.runs, entries.count, target / entries.weight_max, &achieved) !=
        BB_OK)
        return;
    for (size_t i = 0; i < entries.count; i++)
        ret_rates[entries.levels[i]] = entries.runs[i].ret_rate;
}

static double bits_of(const struct bb_forecast *forecast, const struct bb_filter_cost *cost,
                      double target)
{
    double rates[BB_LEVEL_COUNT];
    double bits = 0;
    bb_forecast_rates(forecast, target, rates);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        bits += forecast->keys[level] * bb_filter_cost_bits(cost, rates[level]);
    return bits;
}

double bb_forecast_target(const struct bb_forecast *forecast, const struct bb_filter_cost *cost,
                          double bits)
{
    struct entries entries;
    list_runs(forecast, &entries);
    double low = BB_FORECAST_TARGET_MIN;
    double high = fmax(entries.weight_sum, low);
    if (entries.count == 0 || bits_of(forecast, cost, low) <= bits)
        return low;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = sqrt(low * high);
        if (bits_of(forecast, cost, middle) <= bits)
            high = middle;
        else
            low = middle;
    }
    return high;
}
