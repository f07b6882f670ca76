/* Which rate the filters of a new run get, so that the store keeps its promise of wasted reads at
 * every moment.
 *
 * A look-up asks every table of level 0 and one table of each deeper level: the expected waste is
 * the sum of the rates of level 0 and, for each deeper level, the mean of its tables' rates
 * weighted by keys.
 *
 * Memory is least when each run's rate is proportional to its share of the keys: R * n_run / N
 * (Monkey, SIGMOD 2017; docs/filters.md). But runs are written one after another, and N grows in
 * between: k equal flushes that each took R * n / N of their day would add up to nearly 3 R. So two
 * things are planned for, and the smaller rate is taken:
 *   - the share of the run in a store that has filled up the levels above the run: they fill before
 * it is rewritten;
 *   - the run's part of what the other runs leave of the promise, shared with the runs that will
 * fill these levels. What is left is never exceeded: the sum stays below BB_RATES_SLACK times the
 * promise, whatever came before.
 *
 * Optional weights (compaction/read_weights.h) say what a wasted read of a run counts; then all of
 * this holds for rates times weights, a run whose weight is small may do without filters, and what
 * it leaves is spread over the others. A last level that overflows is about to count like any
 * other: before the level below it is opened, its filters are brought to what that allows.
 *
 * A budget of memory takes the place of the promise: each run gets the rate that the least waste
 * for that memory gives it in the store as it will be (compaction/forecast.h). Nothing bounds the
 * sum then but the bytes: what older tables have too much is for bb_pick to rewrite.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATES_H
#define BB_COMPACTION_RATES_H

#include "compaction/rate_request.h"

/* How far the sum may be from the promise, as a factor:
 * what a compaction may bring it to; a flush, which comes between compactions and has to find
 * something left; from where on the greatest excess is rewritten; what is never passed, unless the
 * promise was made stricter since. */
#define BB_RATES_FILL        1.06
#define BB_RATES_FILL_LEVEL0 1.08
#define BB_RATES_EXCESS      1.085
#define BB_RATES_SLACK       1.1

/* Expected wasted requests per absent look-up: of one level, of all. */
double bb_rates_level_expected(const struct bb_levels *levels, int level);
double bb_rates_expected(const struct bb_levels *levels);

/* The same with weights as rates are planned, with the bound of what each run counts, when that is
 * the store's last level. */
double bb_rates_planned(const struct bb_levels *levels, const struct bb_read_weights *weights,
                        int last_level);

/* What a level wastes as it is. */
struct bb_rate_level {
    double visit_share; /* of all look-ups: those that ask a run of it in vain; mean of its runs */
    double waste;       /* per look-up: visits in vain times rate times cost, in sum */
};
struct bb_rate_level bb_rates_level(const struct bb_levels *levels, int level,
                                    const struct bb_read_weights *weights);
/* Of all levels; never more than bb_rates_planned with the deepest level as the last one. */
double bb_rates_waste(const struct bb_levels *levels, const struct bb_read_weights *weights);

/* The promise in force: that of the request, or the one that its budget leads to, which may be as
 * large as the weights of all runs (no filters at all) and is at least BB_FORECAST_TARGET_MIN. */
double bb_rates_target(const struct bb_rate_request *request);

/* The rate for the new tables: BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX, or 1 for no filter when
 * the run's share of the promise allows that. Without a shape a run that is the only one gets R
 * itself. */
double bb_rates_for_run(const struct bb_rate_request *request);

/* The expected waste with the new tables in place, all of them at that rate; the worst of what is
 * known of their keys.
 */
double bb_rates_after(const struct bb_rate_request *request, double rate);

#endif
