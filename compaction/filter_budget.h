/* A budget of memory for all filters of a store, in the place of a promise on wasted reads: so many
 * bytes, or so many bits for each key that its tables have.
 *
 * Bytes stay the same while a store grows: tables are planned for the keys there will be, and those
 * that were written when there were fewer are rewritten with fewer bits. Bits per key grow with the
 * store: a table that has its part keeps it.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_FILTER_BUDGET_H
#define BB_COMPACTION_FILTER_BUDGET_H

#include "compaction/filter_cost.h"

/* One of bytes and bits_per_key, or neither: there is no budget. */
struct bb_filter_budget {
    uint64_t bytes;
    double bits_per_key;
    double level0_runs;         /* with bits per key: that level 0 is planned to have */
    struct bb_filter_cost cost; /* what filters take */
};

bool bb_filter_budget_is_given(const struct bb_filter_budget *budget);

/* Bits for the filters of tables with so many keys in all. REQUIRES: a budget. */
double bb_filter_budget_bits(const struct bb_filter_budget *budget, double key_count);
/* What of it is planned for: filters turn out a little larger or smaller than planned. */
double bb_filter_budget_planned(const struct bb_filter_budget *budget, double key_count);

#endif
