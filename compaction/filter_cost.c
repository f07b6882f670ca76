/* See filter_cost.h. */
#include "compaction/filter_cost.h"

#include <math.h>

#include "sstable/filter_split.h"

/* Spare slots and rounding of ribbons grow a little with the bits. */
#define RIBBON_SLOPE 1.012
/* Filters of some 50 keys, and summaries of some thousands, until there is a table to look at. */
#define RIBBON_OVERHEAD  0.4
#define SUMMARY_OVERHEAD 0.15
/* Halvings of the range of rates, on a scale of logarithms: to 1e-6 of it. */
#define BISECTIONS 24
/* What a filter has once: its descriptor, a slot too many, half a byte. */
#define BITS_PER_FILTER 21
/* Bloom filters of best size: 1 / ln 2, and what small ones, or lines of 64 bytes, take more. */
#define BLOOM_SLOPE         1.48
#define BLOCKED_BLOOM_SLOPE 1.6

/* Bits that the rate needs at least, for filters of this kind with whole fingerprints. */
static double ideal_bits(enum bb_filter_kind kind, double rate)
{
    int exponent = 0;
    if (kind != BB_FILTER_RIBBON && kind != BB_FILTER_DEFAULT)
        return -log2(rate);
    /* rate = fraction * 2^exponent, 1/2 <= fraction < 1: rank -exponent, mixed with the next. */
    double fraction = frexp(rate, &exponent);
    return -exponent + 2 * (1 - fraction);
}

static bool has_summary_alone(double summary_bits)
{
    return summary_bits == BB_SUMMARY_ALL || summary_bits > 0;
}

static struct bb_filter_cost usual_cost(enum bb_filter_kind kind, double summary_bits)
{
    struct bb_filter_cost cost = {.kind = kind, .summary_bits = summary_bits};
    if (kind == BB_FILTER_BLOCKED_BLOOM)
        cost.slope = BLOCKED_BLOOM_SLOPE;
    else if (kind == BB_FILTER_BLOOM)
        cost.slope = BLOOM_SLOPE;
    else {
        cost.slope = RIBBON_SLOPE;
        cost.overhead_bits = has_summary_alone(summary_bits) ? SUMMARY_OVERHEAD : RIBBON_OVERHEAD;
        cost.split_bits = SUMMARY_OVERHEAD + RIBBON_OVERHEAD;
    }
    return cost;
}

/* What tables with filters have, in sum. */
struct sample {
    double keys;
    double blocks;
    double bits;
    double ideal;
};

static void look_at(const struct bb_table_meta *meta, enum bb_filter_kind kind,
                    struct sample *sample)
{
    double keys = (double)meta->key_count;
    sample->keys += keys;
    sample->blocks += (double)meta->block_count;
    sample->bits += 8 * (double)meta->filter_bytes;
    sample->ideal += keys * ideal_bits(kind, meta->filter_rate);
}

static bool is_split(const struct bb_table_meta *meta)
{
    return meta->summary_bytes > 0 && meta->summary_bytes < meta->filter_bytes;
}

static void look_at_all(const struct bb_levels *levels, enum bb_filter_kind kind,
                        struct sample *alone, struct sample *split)
{
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++) {
            const struct bb_table_meta *meta = &bb_levels_table(levels, level, i)->meta;
            if (meta->filter_bytes > 0 && meta->filter_rate < 1)
                look_at(meta, kind, is_split(meta) ? split : alone);
        }
}

static double overhead_of(const struct sample *sample, double slope)
{
    return fmax(0, (sample->bits - slope * sample->ideal) / sample->keys);
}

/* Of the two ways to store a rate one may not have been seen: it differs by what the filters of
 * blocks have once each. */
static void calibrate_overheads(struct bb_filter_cost *cost, const struct sample *alone,
                                const struct sample *split)
{
    double keys_per_block = (alone->keys + split->keys) / (alone->blocks + split->blocks);
    double filters = BITS_PER_FILTER / keys_per_block;
    if (alone->keys > 0)
        cost->overhead_bits = overhead_of(alone, cost->slope);
    if (split->keys > 0)
        cost->split_bits = overhead_of(split, cost->slope);
    if (alone->keys == 0)
        cost->overhead_bits = fmax(0, cost->split_bits - filters);
    if (split->keys == 0)
        cost->split_bits = cost->overhead_bits + filters;
    cost->split_bits = fmax(cost->split_bits, cost->overhead_bits);
}

struct bb_filter_cost bb_filter_cost_calibrate(const struct bb_levels *levels,
                                               enum bb_filter_kind kind, double summary_bits)
{
    struct bb_filter_cost cost = usual_cost(kind, summary_bits);
    struct sample alone = {0};
    struct sample split = {0};
    look_at_all(levels, kind, &alone, &split);
    if (alone.keys + split.keys == 0)
        return cost;
    if (kind == BB_FILTER_RIBBON)
        calibrate_overheads(&cost, &alone, &split);
    else
        cost.slope = (alone.bits + split.bits) / (alone.ideal + split.ideal);
    return cost;
}

double bb_filter_cost_bits(const struct bb_filter_cost *cost, double rate)
{
    if (!(rate < 1))
        return 0;
    bool split = cost->summary_bits > 0 && bb_filter_split(rate, cost->summary_bits).block_rate < 1;
    return cost->slope * ideal_bits(cost->kind, rate) +
           (split ? cost->split_bits : cost->overhead_bits);
}

double bb_filter_cost_rate(const struct bb_filter_cost *cost, double bits)
{
    double low = BB_FILTER_RATE_MIN;
    double high = BB_FILTER_RATE_MAX;
    if (bb_filter_cost_bits(cost, high) > bits)
        return 1;
    if (bb_filter_cost_bits(cost, low) <= bits)
        return low;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = sqrt(low * high);
        if (bb_filter_cost_bits(cost, middle) <= bits)
            high = middle;
        else
            low = middle;
    }
    return high;
}
