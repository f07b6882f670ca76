/* Picks tables that are rewritten in place to get better filters.
 *
 * Used by bb_pick. Pure functions.
 */
#ifndef BB_COMPACTION_PICK_PICK_EXCESS_H
#define BB_COMPACTION_PICK_PICK_EXCESS_H

#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"

/* If the waste exceeds BB_RATES_EXCESS times the target, picks the table whose rewrite lowers it
 * most, judged by three tables of each run; if that table is in level 0, picks all of level 0.
 * Picks no table without filters, with a budget, and if no rewrite lowers a table's rate enough. */
BB_MUST_CHECK enum bb_status bb_pick_excess(const struct bb_levels *levels,
                                            const struct bb_pick_options *options,
                                            struct bb_plan *plan);

/* Picks the table below level 0 whose rewrite saves the most filter memory, if any saves some. */
BB_MUST_CHECK enum bb_status bb_pick_excess_of_budget(const struct bb_levels *levels,
                                                      const struct bb_pick_options *options,
                                                      struct bb_plan *plan);

#endif
