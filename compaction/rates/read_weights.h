/* The weight of a wasted read by level: optional inputs of the rate allocation.
 *
 * A share z of all lookups is for absent keys, which check every run. The others find their key, in
 * proportion to the data, and check in vain only the runs above it. A run is therefore checked in
 * vain by
 *
 *     z + (1 - z) * share of the keys in older runs        of all lookups,
 *
 * and by z of them if it is the last run, which may then have no filters. The caller states how
 * much a wasted read of a level costs.
 *
 * Rates are planned with the bound of that share, 1 for all runs except the last: older runs grow.
 */
#ifndef BB_COMPACTION_RATES_READ_WEIGHTS_H
#define BB_COMPACTION_RATES_READ_WEIGHTS_H

#include "bb/table.h"

/* Zeros mean 1. */
struct bb_read_weights {
    double absent_share;              /* z */
    double read_cost[BB_LEVEL_COUNT]; /* relative cost of a wasted read */
};

static inline double bb_read_weights_absent(const struct bb_read_weights *weights)
{
    return weights == NULL || weights->absent_share == 0 ? 1 : weights->absent_share;
}

static inline double bb_read_weights_cost(const struct bb_read_weights *weights, int level)
{
    return weights == NULL || weights->read_cost[level] == 0 ? 1 : weights->read_cost[level];
}

/* True when every run has weight 1. */
static inline bool bb_read_weights_are_plain(const struct bb_read_weights *weights)
{
    bool are_plain = bb_read_weights_absent(weights) == 1;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        are_plain = are_plain && bb_read_weights_cost(weights, level) == 1;
    return are_plain;
}

/* The weight that a run of a level is planned with, when last_level is the store's last level. */
static inline double bb_read_weights_planned(const struct bb_read_weights *weights, int level,
                                             int last_level)
{
    double share = level < last_level ? 1 : bb_read_weights_absent(weights);
    return share * bb_read_weights_cost(weights, level);
}

#endif
