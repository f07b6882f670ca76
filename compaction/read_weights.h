/* What a wasted read counts in which level: the optional inputs of the allocation of rates.
 *
 * Of all look-ups a share z is for absent keys, which ask every run; the others find their key, in
 * proportion to the data, and ask in vain only the runs above. So a run is asked in vain by
 *
 *     z + (1 - z) * share of the keys in older runs        of all look-ups,
 *
 * by z of them if it is the last one, which may then do without filters. A wasted read of a level
 * costs what the caller says.
 *
 * Rates are planned with the bound of that share, 1 for all runs but the last: older runs grow.
 */
#ifndef BB_COMPACTION_READ_WEIGHTS_H
#define BB_COMPACTION_READ_WEIGHTS_H

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

/* Every run counts 1. */
static inline bool bb_read_weights_are_plain(const struct bb_read_weights *weights)
{
    bool are_plain = bb_read_weights_absent(weights) == 1;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        are_plain = are_plain && bb_read_weights_cost(weights, level) == 1;
    return are_plain;
}

/* What a run of a level is planned with, when the store's last level is that one. */
static inline double bb_read_weights_planned(const struct bb_read_weights *weights, int level,
                                             int last_level)
{
    double share = level < last_level ? 1 : bb_read_weights_absent(weights);
    return share * bb_read_weights_cost(weights, level);
}

#endif
