/* Which rate the filters of a new run get, so that the store keeps its promise of wasted reads at every moment.
 *
 * Memory is least when each run's rate is proportional to its share of the keys: R * n_run / N (Monkey, SIGMOD 2017;
 * docs/filters.md). But runs are written one after another, and N grows in between: k equal flushes that each took
 * R * n / N of their day would add up to nearly 3 R. So a run gets the share that it has in the planned shape, the store
 * with full levels, from its first table on, and never more than its part of what the other runs have left of the
 * promise. The sum stays below 1.1 R by construction.
 *
 * A look-up asks every table of level 0 and one table of each deeper level: the expected waste is the sum of the rates of
 * level 0 and, for each deeper level, the mean of its tables' rates weighted by keys.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATES_H
#define BB_COMPACTION_RATES_H

#include "compaction/levels.h"

/* The sum may pass the promise by this factor between compactions; beyond, the greatest excess is rewritten. */
#define BB_RATES_SLACK 1.1

/* Expected wasted requests per absent look-up: of one level, of all. */
double bb_rates_level_expected(const struct bb_levels *levels, int level);
double bb_rates_expected(const struct bb_levels *levels);

/* The planned shape: which share of the store's keys each run holds once the levels are full. The shares of all planned
 * runs add up to 1. */
struct bb_rate_shape {
    double level0_run;    /* one run of level 0 */
    uint32_t level0_runs; /* so many of them */
    double levels[BB_LEVEL_COUNT]; /* the run of a deeper level; 0: none is planned there */
};

struct bb_rate_request {
    const struct bb_levels *levels;
    const uint64_t *removed; /* numbers of the tables that the new ones replace */
    size_t removed_count;
    int output_level;
    uint64_t output_keys; /* of all new tables together; an estimate will do */
    const struct bb_rate_shape *shape; /* NULL: nothing is planned beside the output */
    double target;                     /* R */
};

/* The rate for the new tables: BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX, or 1 for no filter when the run's share of the
 * promise allows that. Without a shape a run that is the only one gets R itself. */
double bb_rates_for_run(const struct bb_rate_request *request);

#endif
