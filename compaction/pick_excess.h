/* Tables that are rewritten in their place, for the sake of their filters.
 *
 * For bb_pick. Pure functions.
 */
#ifndef BB_COMPACTION_PICK_EXCESS_H
#define BB_COMPACTION_PICK_EXCESS_H

#include "compaction/pick_options.h"
#include "compaction/plan.h"

/* Is the sum of the rates beyond the promise? */
bool bb_pick_excess_is_due(const struct bb_levels *levels, const struct bb_pick_options *options);
/* The table with the greatest excess, whose rate would get smaller; else nothing. */
BB_MUST_CHECK enum bb_status bb_pick_excess(const struct bb_levels *levels,
                                            const struct bb_pick_options *options,
                                            struct bb_plan *plan);

/* The table below level 0 whose filters save most of the budget; else nothing. */
BB_MUST_CHECK enum bb_status bb_pick_excess_of_budget(const struct bb_levels *levels,
                                                      const struct bb_pick_options *options,
                                                      struct bb_plan *plan);

#endif
