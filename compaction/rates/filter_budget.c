/* See filter_budget.h. */
#include "compaction/rates/filter_budget.h"

#include "base/assert.h"

/* The part of a budget in bits per key that is planned. The rest is a margin, so that a store with
 * a single run does not exceed the budget. A budget in bytes has a margin already, because its
 * levels are planned as full. */
#define PLANNED_SHARE 0.99

bool bb_filter_budget_is_given(const struct bb_filter_budget *budget)
{
    return budget->bytes > 0 || budget->bits_per_key > 0;
}

double bb_filter_budget_bits(const struct bb_filter_budget *budget, double key_count)
{
    BB_DEBUG_ASSERT(budget->bytes == 0 || budget->bits_per_key == 0);
    return budget->bytes > 0 ? 8 * (double)budget->bytes : budget->bits_per_key * key_count;
}

double bb_filter_budget_planned_bits(const struct bb_filter_budget *budget, double key_count)
{
    double share = budget->bytes > 0 ? 1 : PLANNED_SHARE;
    return share * bb_filter_budget_bits(budget, key_count);
}

double bb_filter_budget_uncounted_bytes(const struct bb_filter_budget *budget)
{
    return budget->bits_per_key > 0 ? BB_FILTER_COST_TABLE_BYTES : 0;
}

double bb_filter_budget_used_bits(const struct bb_filter_budget *budget,
                                  const struct bb_levels *levels)
{
    double uncounted_bytes = bb_filter_budget_uncounted_bytes(budget);
    double bytes = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        if (uncounted_bytes == 0)
            bytes += (double)levels->levels[level].filter_bytes;
        for (size_t i = 0; uncounted_bytes > 0 && i < bb_levels_table_count(levels, level); i++)
            bytes +=
                bb_filter_cost_bytes(&bb_levels_table(levels, level, i)->meta, uncounted_bytes);
    }
    return 8 * bytes;
}
