/* The weights of runs: an optional input of the rate allocation.
 *
 * A lookup searches the runs from the newest on until it finds its key. The weight of a run is the
 * share of lookups that search it and do not find their key there. A share z of all lookups is for
 * absent keys: these search every run whose bounds contain the key. The keys of the other lookups
 * are spread evenly over all keys of the store: these lookups also search the runs that are newer
 * than the run of their key. So
 *
 *     weight = z + (1 - z) * share of the keys in older runs
 *
 * For the last run this is z. With a small z the last run may have no filters.
 *
 * Rates are planned with an upper bound of the weight, which is 1 for all runs except the last. WHY
 * not the exact weight: older runs grow. Statistics have the exact one, times the share of the keys
 * that the run covers, as visit_share (rates.h).
 */
#ifndef BB_COMPACTION_RATES_READ_WEIGHTS_H
#define BB_COMPACTION_RATES_READ_WEIGHTS_H

#include "bb/table.h"

struct bb_read_weights {
    double absent_share; /* z; 0 means 1 */
};

static inline double bb_read_weights_absent(const struct bb_read_weights *weights)
{
    return weights == NULL || weights->absent_share == 0 ? 1 : weights->absent_share;
}

/* True when every run has weight 1. */
static inline bool bb_read_weights_are_plain(const struct bb_read_weights *weights)
{
    return bb_read_weights_absent(weights) == 1;
}

/* The weight that a run of a level is planned with, when last_level is the store's last level. */
static inline double bb_read_weights_planned(const struct bb_read_weights *weights, int level,
                                             int last_level)
{
    return level < last_level ? 1 : bb_read_weights_absent(weights);
}

#endif
