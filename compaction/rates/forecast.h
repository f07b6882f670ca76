/* Predicts the future runs of a store, and computes the best rates for them.
 *
 * A filter is written once for the life of its table. A table is rewritten after about as much new
 * data as the level above it can hold. The levels above it take this data until they are full; the
 * rest passes into the last level.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATES_FORECAST_H
#define BB_COMPACTION_RATES_FORECAST_H

#include "compaction/rates/rate_request.h"

/* The lowest target that a budget leads to: lookups would hardly benefit from a lower one. */
#define BB_FORECAST_TARGET_MIN 1e-6

struct bb_forecast {
    double keys[BB_LEVEL_COUNT];
    double weights[BB_LEVEL_COUNT]; /* mean over the level's runs: read_weights.h */
    /* The number of runs, of equal size, in a level that takes several; otherwise 0 or 1. */
    double runs[BB_LEVEL_COUNT];
};

/* Predicts the store without the data that passes through: the levels above the output get this
 * part of the keys and runs that they have space for, 0 ... 1; the others stay unchanged. */
void bb_forecast_init(struct bb_forecast *forecast, const struct bb_rate_request *request,
                      double growth);
/* Adds the data that passes through. */
void bb_forecast_grow(struct bb_forecast *forecast, const struct bb_rate_request *request);

double bb_forecast_key_count(const struct bb_forecast *forecast);

/* The rates whose waste is `target` (above 0), with minimal memory: bb_filter_allocate. One rate
 * per level, which holds for each of its equal runs; 1 where there are no keys. */
void bb_forecast_rates(const struct bb_forecast *forecast, double target,
                       double ret_rates[BB_LEVEL_COUNT]);

/* Scales a rate of bb_forecast_rates to a run of this many keys. In a level with several runs the
 * rate is proportional to the keys of the run; in another it stays the same. */
double bb_forecast_scale(const struct bb_forecast *forecast, int level, double run_keys,
                         double rate);

/* The lowest target whose filters need at most this many bits in total. BB_FORECAST_TARGET_MIN when
 * there are more bits than are useful. The sum of all weights, which means no filters, when there
 * are too few. */
double bb_forecast_target(const struct bb_forecast *forecast, const struct bb_filter_cost *cost,
                          double bits);

#endif
