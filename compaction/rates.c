/* See rates.h. */
#include "compaction/rates.h"

/* New runs leave this much of the slack to rounding and to levels whose mean shifts. */
#define FILL 1.08

/* Tables of a part do not go further above their run's mean than this, or the next part would have to make up for it. */
#define UNEVEN_MAX 2.0

/* When others have used up the promise (it was made stricter since), a run gets this part of its share: more bits would
 * not mend what they break. */
#define SHARE_MIN (1.0 / 16)

/* What of the levels remains beside the new tables. */
struct rest {
    double waste;       /* of the runs other than the output's */
    uint64_t keys;      /* in those runs */
    double run_waste;   /* of the output run's remaining tables: sum of rate times keys */
    uint64_t run_keys;  /* in these */
};

static bool is_removed(const struct bb_rate_request *request, uint64_t number)
{
    for (size_t i = 0; i < request->removed_count; i++) {
        if (request->removed[i] == number)
            return true;
    }
    return false;
}

static double mean(double sum, uint64_t keys)
{
    return keys == 0 ? 0 : sum / (double)keys;
}

double bb_rates_level_expected(const struct bb_levels *levels, int number)
{
    const struct bb_level *level = &levels->levels[number];
    double sum = 0;
    for (size_t i = 0; i < level->count; i++) {
        const struct bb_table_meta *meta = &level->files[i]->meta;
        sum += number == 0 ? meta->filter_rate : meta->filter_rate * (double)meta->key_count;
    }
    return number == 0 ? sum : mean(sum, level->key_count);
}

double bb_rates_expected(const struct bb_levels *levels)
{
    double sum = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        sum += bb_rates_level_expected(levels, level);
    return sum;
}

static void add_level(const struct bb_rate_request *request, int number, struct rest *rest)
{
    const struct bb_level *level = &request->levels->levels[number];
    double sum = 0;
    double weighted = 0;
    uint64_t keys = 0;
    for (size_t i = 0; i < level->count; i++) {
        const struct bb_table_meta *meta = &level->files[i]->meta;
        if (is_removed(request, level->files[i]->number))
            continue;
        sum += meta->filter_rate;
        weighted += meta->filter_rate * (double)meta->key_count;
        keys += meta->key_count;
    }
    if (number > 0 && number == request->output_level) {
        rest->run_waste = weighted;
        rest->run_keys = keys;
        return;
    }
    rest->waste += number == 0 ? sum : mean(weighted, keys);
    rest->keys += keys;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* The mean rate that the whole output run may have. */
static double run_allowance(const struct bb_rate_request *request, const struct rest *rest)
{
    uint64_t run_keys = rest->run_keys + request->output_keys;
    uint64_t all = rest->keys + run_keys;
    if (rest->keys == 0 && all >= request->planned_keys)
        return request->target;
    uint64_t planned = request->planned_keys > all ? request->planned_keys : all;
    double ideal = request->target * (double)run_keys / (double)planned;
    double left = FILL * request->target - rest->waste;
    double allowance = smaller(ideal, left * (double)run_keys / (double)(planned - rest->keys));
    return allowance > ideal * SHARE_MIN ? allowance : ideal * SHARE_MIN;
}

/* No filter only where the promise allows a wasted request each time; a filter of half a bit is worth its place. */
static double clamp(double rate)
{
    if (rate >= 1)
        return 1;
    if (rate > BB_FILTER_RATE_MAX)
        return BB_FILTER_RATE_MAX;
    return rate < BB_FILTER_RATE_MIN ? BB_FILTER_RATE_MIN : rate;
}

double bb_rates_for_run(const struct bb_rate_request *request)
{
    struct rest rest = {0};
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        add_level(request, level, &rest);
    double allowance = run_allowance(request, &rest);
    if (request->output_keys == 0 || rest.run_keys == 0)
        return clamp(allowance);
    /* The part makes up for what the rest of its run has more or less than its mean. */
    double run_keys = (double)(rest.run_keys + request->output_keys);
    double rate = (allowance * run_keys - rest.run_waste) / (double)request->output_keys;
    return clamp(smaller(rate, allowance * UNEVEN_MAX));
}
