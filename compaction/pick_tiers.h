/* Levels of several runs: which of them become one, and where it goes.
 *
 *     runs, newest first     [1][1][2] [9] [40]     sizes
 *     taken                   \___4___/             the two newest, and on while the next one is no
 *                                                   larger than what was taken: sizes stay in order,
 *                                                   so that no large run is rewritten for small ones
 *
 * When these are all the runs of the level, and about as much as a unit run of the next one, they
 * become a new run of the next level, or part of its only run where that is the last level of lazy
 * leveling. Else they become one run in the place of the oldest of them.
 *
 * For bb_pick. Pure functions.
 */
#ifndef BB_COMPACTION_PICK_TIERS_H
#define BB_COMPACTION_PICK_TIERS_H

#include "compaction/pick_options.h"
#include "compaction/plan.h"

/* REQUIRES: a level below level 0 with at least two runs, or any of the last level of lazy
 * leveling, which then moves down one level. */
BB_MUST_CHECK enum bb_status bb_pick_tiers(const struct bb_levels *levels,
                                           const struct bb_pick_options *options, int level,
                                           struct bb_plan *plan);

/* All runs of a level become one in their place: for a level that is to have one run only. */
BB_MUST_CHECK enum bb_status bb_pick_tiers_unite(const struct bb_levels *levels, int level,
                                                 struct bb_plan *plan);

#endif
