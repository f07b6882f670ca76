/* See rates.h. */
#include "compaction/rates.h"

/* New runs leave this much of the slack to rounding and to levels whose mean shifts. */
#define FILL 1.08

/* Tables of a part do not go further above their run's mean than this, or the next part would have to make up for it. */
#define UNEVEN_MAX 2.0

/* When others have used up the promise (it was made stricter since), a run gets this part of its share, and tables of a
 * run whose rest is too high this part of its mean: more bits would not mend what the others break. */
#define SHARE_MIN (1.0 / 16)

/* What of the levels remains beside the new tables. */
struct rest {
    double waste;        /* of the runs other than the output's */
    double absent_share; /* of planned runs that are not there */
    double run_waste;    /* of the output run's remaining tables: sum of rate times keys */
    uint64_t run_keys;   /* in these */
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

struct part {
    double rates;    /* sum over tables */
    double weighted; /* sum of rate times keys */
    uint64_t keys;
    uint32_t tables;
};

static struct part remaining(const struct bb_rate_request *request, int number)
{
    const struct bb_level *level = &request->levels->levels[number];
    struct part part = {0};
    for (size_t i = 0; i < level->count; i++) {
        const struct bb_table_meta *meta = &level->files[i]->meta;
        if (is_removed(request, level->files[i]->number))
            continue;
        part.rates += meta->filter_rate;
        part.weighted += meta->filter_rate * (double)meta->key_count;
        part.keys += meta->key_count;
        part.tables++;
    }
    return part;
}

static void add_level0(const struct bb_rate_request *request, struct rest *rest)
{
    struct part part = remaining(request, 0);
    uint32_t there = part.tables + (request->output_level == 0);
    rest->waste += part.rates;
    if (request->shape != NULL && there < request->shape->level0_runs)
        rest->absent_share += (request->shape->level0_runs - there) * request->shape->level0_run;
}

static void add_level(const struct bb_rate_request *request, int number, struct rest *rest)
{
    struct part part = remaining(request, number);
    if (number == request->output_level) {
        rest->run_waste = part.weighted;
        rest->run_keys = part.keys;
        return;
    }
    rest->waste += mean(part.weighted, part.keys);
    if (part.tables == 0 && request->shape != NULL)
        rest->absent_share += request->shape->levels[number];
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double share_of_run(const struct bb_rate_request *request)
{
    if (request->shape == NULL)
        return 1;
    return request->output_level == 0 ? request->shape->level0_run : request->shape->levels[request->output_level];
}

/* The mean rate that the whole output run may have. */
static double run_allowance(const struct bb_rate_request *request, const struct rest *rest)
{
    double share = share_of_run(request);
    double ideal = request->target * share;
    if (rest->waste == 0 && rest->absent_share == 0)
        return ideal;
    double left = (FILL * request->target - rest->waste) * share / (share + rest->absent_share);
    double allowance = smaller(ideal, left);
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
    add_level0(request, &rest);
    for (int level = 1; level < BB_LEVEL_COUNT; level++)
        add_level(request, level, &rest);
    double allowance = run_allowance(request, &rest);
    if (request->output_keys == 0 || rest.run_keys == 0)
        return clamp(allowance);
    /* The part makes up for what the rest of its run has more or less than its mean. */
    double run_keys = (double)(rest.run_keys + request->output_keys);
    double rate = (allowance * run_keys - rest.run_waste) / (double)request->output_keys;
    rate = rate > allowance * SHARE_MIN ? rate : allowance * SHARE_MIN;
    return clamp(smaller(rate, allowance * UNEVEN_MAX));
}
