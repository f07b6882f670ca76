/* Picks all of level 0. */
#ifndef BB_COMPACTION_PICK_PICK_LEVEL0_H
#define BB_COMPACTION_PICK_PICK_LEVEL0_H

#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"

/* Takes all runs of level 0. In a shape that keeps level 1 as one run, they are merged with the
 * tables of level 1 that they overlap; otherwise they become a new run of level 1. REQUIRES: level
 * 0 has tables. */
BB_MUST_CHECK enum bb_status bb_pick_level0(const struct bb_levels *levels,
                                            const struct bb_pick_options *options,
                                            enum bb_plan_reason reason, struct bb_plan *plan);

#endif
