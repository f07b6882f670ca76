/* Picks work for a full level 0. In a leveled store, the tables that overlap no other table of
 * level 0 or 1 move to level 1, so keys in order are written only once. Without such tables, or if
 * their filters do not keep the target there, all runs of level 0 are merged. */
#ifndef BB_COMPACTION_PICK_PICK_LEVEL0_H
#define BB_COMPACTION_PICK_PICK_LEVEL0_H

#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"

/* REQUIRES: level 0 has tables. */
BB_MUST_CHECK enum bb_status bb_pick_level0(const struct bb_levels *levels,
                                            const struct bb_pick_options *options,
                                            struct bb_plan *ret_plan);

#endif
