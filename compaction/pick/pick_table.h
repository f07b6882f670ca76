/* Picks one table of a level that is one run, with the tables of the level below that it overlaps.
 * If it overlaps none, it is moved, unless a rewrite drops data or is needed for the rates of the
 * filters (pick.h). Pure functions. */
#ifndef BB_COMPACTION_PICK_PICK_TABLE_H
#define BB_COMPACTION_PICK_PICK_TABLE_H

#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"

/* Bytes of the tables of the level below, in its oldest run, that the table overlaps. */
uint64_t bb_pick_table_overlap_bytes(const struct bb_levels *levels, int level,
                                     const struct bb_table_file *file);

/* Plans the table with this index in the single run of a level. *ret_waste: the store's waste after
 * the plan. REQUIRES: the level and the one below have at most one run, and the level is above the
 * last one. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_pick_table(const struct bb_levels *levels,
                                           const struct bb_pick_options *options,
                                           enum bb_plan_reason reason, int number, size_t index,
                                           struct bb_plan *plan, double *ret_waste);

#endif
