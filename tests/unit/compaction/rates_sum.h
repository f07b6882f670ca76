/* Waste of all levels together. */
#ifndef BB_TESTS_UNIT_COMPACTION_RATES_SUM_H
#define BB_TESTS_UNIT_COMPACTION_RATES_SUM_H

#include "compaction/rates/rates.h"

/* Wasted requests of a level per lookup of an absent key, as its rates are planned. */
static inline double rates_level(const struct bb_levels *levels, int number)
{
    const struct bb_level *level = &levels->levels[number];
    double sum = 0;
    for (size_t i = 0; i < level->run_count; i++)
        sum += bb_run_rate(&level->runs[i]);
    return sum;
}

/* Expected wasted requests per lookup of an absent key. */
static inline double rates_expected(const struct bb_levels *levels)
{
    double sum = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        sum += rates_level(levels, level);
    return sum;
}

/* The same with weights. */
static inline double rates_waste(const struct bb_levels *levels,
                                 const struct bb_read_weights *weights)
{
    double sum = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        sum += bb_rates_level(levels, level, weights).waste;
    return sum;
}

#endif
