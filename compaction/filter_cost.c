/* See filter_cost.h. */
#include "compaction/filter_cost.h"

#include <math.h>

/* Spare slots and rounding of ribbons grow a little with the bits. */
#define RIBBON_SLOPE 1.012
/* Filters of some 50 keys, until there is a table to look at. */
#define RIBBON_OVERHEAD 0.4
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

static struct bb_filter_cost usual_cost(enum bb_filter_kind kind)
{
    switch (kind) {
    case BB_FILTER_BLOCKED_BLOOM:
        return (struct bb_filter_cost){.kind = kind, .slope = BLOCKED_BLOOM_SLOPE};
    case BB_FILTER_BLOOM:
        return (struct bb_filter_cost){.kind = kind, .slope = BLOOM_SLOPE};
    default:
        return (struct bb_filter_cost){
            .kind = kind, .slope = RIBBON_SLOPE, .overhead_bits = RIBBON_OVERHEAD};
    }
}

/* What tables with filters have, in sum. */
struct sample {
    double keys;
    double bits;
    double ideal;
};

static void look_at(const struct bb_table_meta *meta, enum bb_filter_kind kind,
                    struct sample *sample)
{
    double keys = (double)meta->key_count;
    if (meta->filter_bytes == 0 || !(meta->filter_rate < 1))
        return;
    sample->keys += keys;
    sample->bits += 8 * (double)meta->filter_bytes;
    sample->ideal += keys * ideal_bits(kind, meta->filter_rate);
}

struct bb_filter_cost bb_filter_cost_calibrate(const struct bb_levels *levels,
                                               enum bb_filter_kind kind)
{
    struct bb_filter_cost cost = usual_cost(kind);
    struct sample sample = {0};
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++)
            look_at(&bb_levels_table(levels, level, i)->meta, kind, &sample);
    }
    if (sample.keys == 0)
        return cost;
    if (cost.overhead_bits == 0)
        cost.slope = sample.bits / sample.ideal;
    else
        cost.overhead_bits = fmax(0, (sample.bits - cost.slope * sample.ideal) / sample.keys);
    return cost;
}

double bb_filter_cost_bits(const struct bb_filter_cost *cost, double rate)
{
    return rate < 1 ? cost->slope * ideal_bits(cost->kind, rate) + cost->overhead_bits : 0;
}
