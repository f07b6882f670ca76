/* The mean predicted rate of several filters. Each filter counts with its weight: how often absent
 * keys reach it, in proportion to its keys (bloomblock/table/shard.h).
 *
 * Zeroed: no filter yet. One thread. */
#ifndef BB_BLOOMBLOCK_TABLE_RATE_MEAN_H
#define BB_BLOOMBLOCK_TABLE_RATE_MEAN_H

#include "base/assert.h"

struct bb_rate_mean {
    double weight;
    double rate_weight; /* sum of rate times weight */
};

/* weight >= 0; rate 0 ... 1, where 1 is the rate without a filter. */
static inline void bb_rate_mean_add(struct bb_rate_mean *mean, double weight, double rate)
{
    BB_DEBUG_ASSERT(weight >= 0 && rate >= 0 && rate <= 1);
    mean->weight += weight;
    mean->rate_weight += weight * rate;
}

/* 0 ... 1. No filter, or only filters of weight 0, rule out no key: the result is 1. */
static inline double bb_rate_mean(const struct bb_rate_mean *mean)
{
    return mean->weight > 0 ? mean->rate_weight / mean->weight : 1;
}

#endif
