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
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATES_H
#define BB_COMPACTION_RATES_H

#include "compaction/levels.h"
#include "compaction/shape.h"

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

/* New tables that take the place of others. */
struct bb_rate_request {
    const struct bb_levels *levels;
    struct bb_table_file *const *removed; /* tables that the new ones replace */
    const int *removed_levels;
    size_t removed_count;
    int output_level;
    uint64_t output_keys;         /* of all new tables together, at most */
    uint64_t output_keys_min;     /* and at least, as far as is known; 0: as many */
    const struct bb_shape *shape; /* NULL: nothing will grow */
    double target;                /* R */
};

/* The rate for the new tables: BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX, or 1 for no filter when
 * the run's share of the promise allows that. Without a shape a run that is the only one gets R
 * itself. */
double bb_rates_for_run(const struct bb_rate_request *request);

/* The expected waste with the new tables in place, all of them at that rate; the worst of what is
 * known of their keys.
 */
double bb_rates_after(const struct bb_rate_request *request, double rate);

#endif
