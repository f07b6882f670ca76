/* Computes the filter rate of a new run, so that the waste of the store keeps its target at every
 * moment.
 *
 * A lookup of an absent key searches one table of each run whose bounds contain the key. So the
 * waste, the expected wasted requests per lookup, is the sum of the rates of these runs. The rate
 * of a run is the mean of its tables' rates, weighted by keys. The waste of a store is planned for
 * the worst keys: it is the maximum of the sums of runs that share a key. Runs with keys in order
 * share none.
 *
 * Memory is least when each run's rate is proportional to its share of the keys: R * n_run / N
 * (Monkey, SIGMOD 2017; docs/filters.md). But runs are written one after another, and N grows in
 * between: ten equal flushes that each took R * n / N, with N as it was then, would add up to
 * nearly 3 R. Two limits are therefore computed, and the lower rate is used:
 *   - the ideal rate: the share of the run in the store that is expected before the run is
 *     rewritten, when the levels above the run have filled up;
 *   - a part of the rest, which is the target minus the waste of the other runs. The runs that will
 *     fill these levels get the other part. No run takes more than the rest. So the waste stays
 *     below BB_RATES_SLACK times the target, in any order of writing.
 *
 * A leveled store is not expected to grow by more than a part of its keys, even if the levels above
 * the run could take more. So a store of few flushes does not pay for keys that may never come. If
 * a level has more keys than its size, runs are planned for the sizes after these keys have moved.
 *
 * If much of the store is not near the new tables, as with keys in order, only the runs near them
 * share their target (bb_rate_request_near). The tables keep the rate that they need there when
 * they move to deeper levels.
 *
 * Optional weights (compaction/rates/read_weights.h) state how many of the lookups search a run and
 * can waste a request there. Then all of this holds for rates times weights. A run with a small
 * weight may have no filters; the others get the share that it does not need. When the last level
 * overflows, the level below it is about to open, and then the overflowing level counts like any
 * other. Before that, its tables are rewritten with the lower rate that they need then.
 *
 * A memory budget replaces the target: each run gets the rate that minimises the waste for that
 * memory in the predicted store (compaction/rates/forecast.h). Then only the bytes limit the waste.
 * bb_pick rewrites older tables with too many bits.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATES_RATES_H
#define BB_COMPACTION_RATES_RATES_H

#include "compaction/rates/rate_request.h"

/* Limits for the waste, as factors of the target. FILL: a compaction may bring the waste up to this
 * limit. FILL_LEVEL0: the same for a flush. Flushes happen between compactions and need some
 * reserve. EXCESS: if the mean waste over all keys is above this limit, bb_pick rewrites the table
 * whose rewrite lowers it most; with weights, the waste of the worst keys. SLACK: the waste exceeds
 * this limit only after a lower target or size of level 1, or after a merge that dropped more keys
 * than planned; then EXCESS applies. */
#define BB_RATES_FILL        1.06
#define BB_RATES_FILL_LEVEL0 1.08
#define BB_RATES_EXCESS      1.085
#define BB_RATES_SLACK       1.1

/* The planned waste of the worst keys: each run has its target rate, and its planned weight, which
 * is an upper bound. last_level: the store's last level. */
double bb_rates_waste(const struct bb_levels *levels, const struct bb_read_weights *weights,
                      int last_level);

/* The current waste of a level, for statistics. Unlike the planned waste above, it has the
 * predicted rates of the stored filters, the exact weights, and the share of the keys that each run
 * covers (compaction/levels/cover.h). */
struct bb_rate_level {
    /* The mean of the exact weights of the level's runs. */
    double visit_share;
    /* Per lookup of an absent key: the sum of the predicted rates of the level's runs. */
    double rate_sum;
    /* Per lookup: the sum of weight times predicted rate over the level's runs. */
    double waste;
};
struct bb_rate_level bb_rates_level(const struct bb_levels *levels, int level,
                                    const struct bb_read_weights *weights);

/* The effective target: the request's target, or the target that its budget leads to. The target of
 * a budget is at least BB_FORECAST_TARGET_MIN, and at most the sum of the weights of all runs,
 * which means no filters at all. */
double bb_rates_target(const struct bb_rate_request *request);

/* The rate for the new tables: BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX, or 1 for no filter when
 * the run's share of the target permits that. Without a shape, a single run gets R itself. */
double bb_rates_for_run(const struct bb_rate_request *request);

/* The planned waste with the new tables in place, all with that rate; the worst case within the
 * known bounds of their number of keys. */
double bb_rates_waste_after(const struct bb_rate_request *request, double rate);
/* The waste that the new tables add; 0 when they reduce it. The waste that other running work will
 * add (shares) is not included. */
double bb_rates_waste_added(const struct bb_rate_request *request, double rate);

#endif
