/* The runs of a store as they will be, and the best rates for them.
 *
 * Filters are written for the life of their table. Until a table of level l is rewritten, the
 * levels above it fill up, and as much again as the level above it holds goes through into the last
 * one.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_FORECAST_H
#define BB_COMPACTION_FORECAST_H

#include "compaction/rate_request.h"

/* The promise that a budget leads to is never stricter: more bits would hardly be noticed. */
#define BB_FORECAST_TARGET_MIN 1e-6

struct bb_forecast {
    double keys[BB_LEVEL_COUNT];
    double weights[BB_LEVEL_COUNT]; /* of a wasted read: compaction/read_weights.h */
    double runs[BB_LEVEL_COUNT];    /* of equal size, in levels that take several; else 0 or 1 */
};

/* Without growth that goes through: the levels above the output are full, the others as they are.
 */
void bb_forecast_init(struct bb_forecast *forecast, const struct bb_rate_request *request);
/* Adds what goes through. */
void bb_forecast_grow(struct bb_forecast *forecast, const struct bb_rate_request *request);

double bb_forecast_key_count(const struct bb_forecast *forecast);

/* The rates with which the runs waste `target` (above 0) at the least memory: bb_filter_allocate.
 * One rate for each level, for each of its equal runs; 1, too, where there are no keys. */
void bb_forecast_rates(const struct bb_forecast *forecast, double target,
                       double ret_rates[BB_LEVEL_COUNT]);

/* What becomes of such a rate for a run of so many keys: in proportion, where a level has several.
 */
double bb_forecast_scale(const struct bb_forecast *forecast, int level, double run_keys,
                         double rate);

/* The least target whose filters have at most so many bits in all: BB_FORECAST_TARGET_MIN for more
 * bits than are useful; the sum of all weights, which means no filters, for too few. */
double bb_forecast_target(const struct bb_forecast *forecast, const struct bb_filter_cost *cost,
                          double bits);

#endif
