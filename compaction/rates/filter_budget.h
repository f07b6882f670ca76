/* A memory budget for all filters of a store, instead of a target for the waste: a number of bytes,
 * or a number of bits per key.
 *
 * A budget in bytes stays the same while the store grows. So a new table is planned for the keys
 * that the store will have during the table's life (forecast.h), and tables written when there were
 * fewer keys are rewritten with fewer bits. A budget in bits per key grows with the store: a table
 * keeps its share.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATES_FILTER_BUDGET_H
#define BB_COMPACTION_RATES_FILTER_BUDGET_H

#include "compaction/rates/filter_cost.h"

/* At most one of bytes and bits_per_key is set. If neither is, there is no budget. */
struct bb_filter_budget {
    uint64_t bytes;
    double bits_per_key;
    double level0_runs;         /* with bits per key: runs that level 0 is planned for */
    struct bb_filter_cost cost; /* cost of the filters */
};

bool bb_filter_budget_is_given(const struct bb_filter_budget *budget);

/* The bits for the filters of tables with this many keys in total. REQUIRES: a budget. */
double bb_filter_budget_bits(const struct bb_filter_budget *budget, double key_count);
/* The part of these bits that plans use. The rest is a margin, because filters may become slightly
 * larger than planned. */
double bb_filter_budget_planned_bits(const struct bb_filter_budget *budget, double key_count);

/* The bytes of each table filter that a budget in bits per key does not count:
 * BB_FILTER_COST_TABLE_BYTES, which do not depend on the number of keys. WHY: if they counted, a
 * table of twenty large values would get no filter from 10 bits per key. 0 for a budget in bytes,
 * which counts all bytes. */
double bb_filter_budget_uncounted_bytes(const struct bb_filter_budget *budget);
/* The bits that the filters of these levels use of the budget. */
double bb_filter_budget_used_bits(const struct bb_filter_budget *budget,
                                  const struct bb_levels *levels);

#endif
