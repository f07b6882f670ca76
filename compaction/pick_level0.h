/* Level 0 goes down as a whole. */
#ifndef BB_COMPACTION_PICK_LEVEL0_H
#define BB_COMPACTION_PICK_LEVEL0_H

#include "compaction/pick_options.h"
#include "compaction/plan.h"

/* All runs of level 0: into the run of level 1, with what they overlap there, when that level has
 * one run for good; else they become a new run of level 1. REQUIRES: level 0 has tables. */
BB_MUST_CHECK enum bb_status bb_pick_level0(const struct bb_levels *levels,
                                            const struct bb_pick_options *options,
                                            enum bb_plan_reason reason, struct bb_plan *plan);

#endif
