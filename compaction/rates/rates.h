/* Computes the filter rate of a new run, so that the store keeps its target for wasted reads at
 * every moment.
 *
 * A lookup of an absent key checks one table of each run: every table of level 0, and in a deeper
 * level one table for each of its runs. The expected waste is the sum of the rates of all runs. The
 * rate of a run is the mean of its tables' rates, weighted by keys.
 *
 * Memory is least when each run's rate is proportional to its share of the keys: R * n_run / N
 * (Monkey, SIGMOD 2017; docs/filters.md). But runs are written one after another, and N grows in
 * between: ten equal flushes that each took R * n / N, with N as it was then, would add up to
 * nearly 3 R. Two limits are therefore computed, and the lower rate is used:
 *   - the share of the run in a store that has filled the levels above the run, which happens
 *     before it is rewritten;
 *   - the run's part of the target that the other runs leave, shared with the runs that will fill
 *     these levels. The remainder is never exceeded: the sum stays below BB_RATES_SLACK times the
 *     target, independent of the past.
 *
 * Optional weights (compaction/rates/read_weights.h) state how much a wasted read of a run counts.
 * Then all of this holds for rates times weights. A run with a small weight may have no filters,
 * and its remaining share goes to the others. A last level that overflows will soon count like any
 * other: before the level below it opens, its filters are brought to the rate that this allows.
 *
 * A memory budget replaces the target: each run gets the rate that minimises the waste for that
 * memory in the predicted store (compaction/rates/forecast.h). Then only the bytes bound the sum.
 * bb_pick rewrites older tables with too many bits.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATES_RATES_H
#define BB_COMPACTION_RATES_RATES_H

#include "compaction/rates/rate_request.h"

/* Limits for the sum, as factors of the target. FILL: a compaction may bring the sum up to it.
 * FILL_LEVEL0: a flush may; flushes happen between compactions and need some reserve. EXCESS: above
 * it the table with the largest excess is rewritten. SLACK: never exceeded, unless the target was
 * lowered since. */
#define BB_RATES_FILL        1.06
#define BB_RATES_FILL_LEVEL0 1.08
#define BB_RATES_EXCESS      1.085
#define BB_RATES_SLACK       1.1

/* The expected wasted requests of all levels per lookup, as rates are planned: each run counts with
 * the upper bound of its weight. last_level: the store's last level. */
double bb_rates_waste(const struct bb_levels *levels, const struct bb_read_weights *weights,
                      int last_level);

/* The current waste of a level, for statistics: unlike the sums above, from the predicted rates of
 * the stored filters. */
struct bb_rate_level {
    /* Share of all lookups that check a run of the level in vain; the mean over its runs. */
    double visit_share;
    /* Per lookup of an absent key: the sum of the predicted rates of the level's runs. */
    double rate_sum;
    /* Per lookup: the sum over the level's runs of the share of lookups that check the run in vain,
     * times its predicted rate. */
    double waste;
};
struct bb_rate_level bb_rates_level(const struct bb_levels *levels, int level,
                                    const struct bb_read_weights *weights);

/* The effective target: the request's target, or the target that its budget leads to. The latter
 * may be as large as the weights of all runs (no filters at all) and is at least
 * BB_FORECAST_TARGET_MIN. */
double bb_rates_target(const struct bb_rate_request *request);

/* The rate for the new tables: BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX, or 1 for no filter when
 * the run's share of the target permits that. Without a shape, a single run gets R itself. */
double bb_rates_for_run(const struct bb_rate_request *request);

/* The expected waste with the new tables in place, all at that rate; the worst case within the
 * known bounds of their keys. */
double bb_rates_waste_after(const struct bb_rate_request *request, double rate);
/* The weighted waste that the new tables add, without what other running work will add; 0 when they
 * reduce the waste. */
double bb_rates_waste_added(const struct bb_rate_request *request, double rate);

#endif
