/* Picks runs to merge in a level of several runs, and the place of the result.
 *
 *     runs, newest first     [1][1][2] [9] [40]     sizes
 *     taken                   \___4___/             the two newest, and more while the next one is
 *                                                   no larger than the sum so far: sizes stay in
 *                                                   order, and no large run is rewritten for small
 *                                                   ones
 *
 * If these are all runs of the level, and have at least half the size of a unit run of the next
 * level (compaction/levels/shape.h), they descend to the next level, in slices (pick_slice.h).
 * There they become a new run, or, in the last level of lazy leveling, part of its only run. Runs
 * that have begun to descend continue. Otherwise they become one run in place of the oldest of
 * them. Runs without common keys are moved as a whole.
 *
 * Used by bb_pick. Pure functions.
 */
#ifndef BB_COMPACTION_PICK_PICK_TIERS_H
#define BB_COMPACTION_PICK_PICK_TIERS_H

#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"

/* REQUIRES: a level below level 0 with at least two runs, or the last level of lazy leveling with
 * any number of runs. All runs of such a last level move down one level. */
BB_MUST_CHECK enum bb_status bb_pick_tiers(const struct bb_levels *levels,
                                           const struct bb_pick_options *options, int level,
                                           struct bb_plan *plan);

/* Merges all runs of a level in place, for a level that should have one run only. */
BB_MUST_CHECK enum bb_status bb_pick_tiers_unite(const struct bb_levels *levels, int level,
                                                 struct bb_plan *plan);

#endif
