/* See rates.h. */
#include "compaction/rates.h"

/* How far the rate of a part may be from the mean that its run is to have. Rates that differ within
 * a run are a debt: when the lower ones leave, the mean rises. */
#define UNEVEN_MAX 1.5
#define UNEVEN_MIN 0.5

/* Part of its share that a run gets at least when others have used up the promise. */
#define SHARE_MIN (1.0 / 16)

/* The tables of a level that stay. */
struct part {
    double rates;     /* sum over tables */
    double rate_keys; /* sum of rate times keys */
    double keys;
    size_t tables;
};

/* The store around the new tables. */
struct scene {
    double waste;     /* of the runs other than the output's */
    double keys;      /* in those runs */
    double run_waste; /* of the output run's tables that stay: sum of rate times keys */
    double run_keys;  /* in these */
    double room;      /* keys that the levels above the output's can take before they are full */
    double rivals;    /* keys that share what is left of the promise with the output */
    double reserve;   /* the least that runs will waste which are not there yet */
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double mean(double sum, double keys)
{
    return keys == 0 ? 0 : sum / keys;
}

double bb_rates_level_expected(const struct bb_levels *levels, int number)
{
    const struct bb_level *level = &levels->levels[number];
    return number == 0 ? level->rate_sum : mean(level->rate_keys, (double)level->key_count);
}

double bb_rates_expected(const struct bb_levels *levels)
{
    double sum = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        sum += bb_rates_level_expected(levels, level);
    return sum;
}

static struct part part_that_stays(const struct bb_rate_request *request, int number)
{
    const struct bb_level *level = &request->levels->levels[number];
    uint64_t keys = level->key_count;
    struct part part = {
        .rates = level->rate_sum, .rate_keys = level->rate_keys, .tables = level->count};
    for (size_t i = 0; i < request->removed_count; i++) {
        if (request->removed_levels[i] != number)
            continue;
        const struct bb_table_meta *meta = &request->removed[i]->meta;
        part.rates -= meta->filter_rate;
        part.rate_keys -= meta->filter_rate * (double)meta->key_count;
        part.tables--;
        keys -= meta->key_count;
    }
    part.keys = (double)keys;
    /* What rounding leaves of a difference is no rate. */
    return part.tables == 0 ? (struct part){0} : part;
}

/* Level 0 is packed otherwise: it counts only while there is nothing else. */
static double keys_per_byte(const struct bb_levels *levels)
{
    double bytes = 0;
    double keys = 0;
    for (int level = BB_LEVEL_COUNT - 1; level > 0 || (level == 0 && bytes == 0); level--) {
        bytes += (double)levels->levels[level].file_bytes;
        keys += (double)levels->levels[level].key_count;
    }
    return bytes == 0 ? 0 : keys / bytes;
}

/* Keys that level 0 can still take, beside an output there. What is to come is taken to be like the
 * output, else like the last runs: the write buffer's size says little of the table it becomes. */
static double room_in_level0(const struct bb_rate_request *request, const struct part *part)
{
    bool is_output = request->output_level == 0;
    double there = (double)part->tables + is_output;
    double run_keys =
        is_output ? (double)request->output_keys : (double)request->levels->level0_run_keys;
    return larger(0, (double)request->shape->level0_run_count - there) * run_keys;
}

static double room_in(const struct bb_rate_request *request, int number, const struct part *part)
{
    if (number == 0)
        return room_in_level0(request, part);
    double full = bb_shape_level_bytes(request->shape, number) * keys_per_byte(request->levels);
    return larger(0, full - part->keys);
}

/* Runs that a level will have when it is full, beside those that it has and the output. */
static double runs_to_come(const struct bb_rate_request *request, int number,
                           const struct part *part)
{
    if (number > 0)
        return part->tables == 0;
    double there = (double)part->tables + (request->output_level == 0);
    return larger(0, (double)request->shape->level0_run_count - there);
}

/* Flushes may go on without a compaction: a run of level 0 never takes all that is left, and beyond
 * the planned count a third of it. */
static double rivals_of(const struct bb_rate_request *request, double room)
{
    double runs = (double)request->levels->levels[0].count + 1;
    bool is_planned = request->shape != NULL && runs <= (double)request->shape->level0_run_count;
    if (request->output_level > 0)
        return room;
    return larger(room, (double)request->output_keys * (is_planned ? 0.25 : 2));
}

static struct scene look_around(const struct bb_rate_request *request)
{
    struct scene scene = {0};
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        struct part part = part_that_stays(request, level);
        bool fills_first = level == 0 || level < request->output_level;
        if (fills_first && request->shape != NULL) {
            scene.room += room_in(request, level, &part);
            scene.reserve += runs_to_come(request, level, &part) * BB_FILTER_RATE_MIN;
        }
        if (level > 0 && level == request->output_level) {
            scene.run_waste = part.rate_keys;
            scene.run_keys = part.keys;
            continue;
        }
        scene.waste += level == 0 ? part.rates : mean(part.rate_keys, part.keys);
        scene.keys += part.keys;
    }
    scene.rivals = rivals_of(request, scene.room);
    return scene;
}

/* The rate of new_keys keys with which their whole run has that mean. */
static double balance(const struct scene *scene, double run_mean, double new_keys)
{
    return run_mean + (run_mean * scene->run_keys - scene->run_waste) / new_keys;
}

static double keys_min(const struct bb_rate_request *request)
{
    return (double)(request->output_keys_min > 0 ? request->output_keys_min : request->output_keys);
}

/* What others leave of the promise. */
static double left_by(const struct bb_rate_request *request, const struct scene *scene)
{
    double fill = request->output_level == 0 ? BB_RATES_FILL_LEVEL0 : BB_RATES_FILL;
    return fill * request->target - scene->waste - scene->reserve;
}

/* The rate that brings the sum to BB_RATES_FILL, however many keys there will be. */
static double limit_of(const struct bb_rate_request *request, const struct scene *scene)
{
    double left = left_by(request, scene);
    return smaller(balance(scene, left, (double)request->output_keys),
                   balance(scene, left, keys_min(request)));
}

/* When nothing is left, new tables get a small part of their share: more bits would not mend what
 * others break. Below BB_RATES_SLACK the promise holds, and is not broken for that. */
static double least_of(const struct bb_rate_request *request, const struct scene *scene,
                       double ideal)
{
    double slack = BB_RATES_SLACK * request->target - scene->waste;
    return slack <= 0 ? ideal * SHARE_MIN : smaller(ideal * SHARE_MIN, slack / 4);
}

/* The mean rate that the whole run of the output is to have. */
static double allowance_of(const struct bb_rate_request *request, const struct scene *scene)
{
    double run_keys = scene->run_keys + (double)request->output_keys;
    double ideal = request->target * run_keys / (scene->keys + run_keys + scene->room);
    double left = left_by(request, scene);
    if (left <= 0)
        return least_of(request, scene, ideal);
    return smaller(ideal, left * run_keys / (run_keys + scene->rivals));
}

/* No filter only where the promise allows a wasted request each time; a filter of half a bit is
 * worth its place. */
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
    if (request->output_keys == 0)
        return clamp(request->target);
    struct scene scene = look_around(request);
    double allowance = allowance_of(request, &scene);
    if (scene.run_keys == 0)
        return clamp(allowance);
    double rate = balance(&scene, allowance, (double)request->output_keys);
    rate = larger(smaller(rate, allowance * UNEVEN_MAX), allowance * UNEVEN_MIN);
    return clamp(smaller(rate, larger(limit_of(request, &scene), allowance * SHARE_MIN)));
}

static double mean_after(const struct scene *scene, double new_keys, double rate)
{
    return mean(scene->run_waste + rate * new_keys, scene->run_keys + new_keys);
}

double bb_rates_after(const struct bb_rate_request *request, double rate)
{
    struct scene scene = look_around(request);
    if (request->output_level == 0)
        return scene.waste + rate;
    return scene.waste + larger(mean_after(&scene, (double)request->output_keys, rate),
                                mean_after(&scene, keys_min(request), rate));
}
