/* Picks the next compaction: a pure function of the levels and the options.
 *
 * Each level has a score: a level of several runs (shape.h) compares their number with the number
 * at which they are merged, other levels compare their bytes with their target size. The highest
 * score of at least 1 wins, but a full last level of lazy leveling has priority, since it moves
 * without a rewrite. Level 0 collects more runs during a series of flushes (kv/store/pace.h): a
 * merge rewrites all of level 1, however many runs it takes.
 *
 *     level 0    leveled: tables that overlap no other table of level 0 or 1 move; otherwise all of
 *                its runs are merged (pick_level0.h)
 *     one run    leveled: the table with the smallest overlap below, relative to its size, with
 *                the tables that it overlaps; of equal ones the oldest
 *                last level of lazy leveling: the whole level moves down
 *     tiers      runs of about one size (pick_tiers.h)
 *
 * A level that should have one run but has several, because it was written with another style, is
 * merged first.
 *
 * A table of a deeper level that overlaps nothing below is moved, not rewritten. A level's mean
 * rate rises when a table with a low rate leaves it, and a table that moves to an empty level takes
 * its rate along. A table is therefore moved only if the planned waste (rates.h) then stays within
 * the target, and is rewritten otherwise. Of the tables with the smallest overlap, the first that
 * keeps the waste within the target is taken, else the one with which the waste exceeds it least.
 *
 * If no level is due but the mean waste over all keys exceeds BB_RATES_EXCESS times the target (the
 * target was lowered, or deletions have removed most keys of a level), the table whose rewrite
 * lowers it most is rewritten in place. With weights this also happens before a last level opens
 * the one below it. With a budget there is no target: when the filters exceed the budget, the table
 * that saves most is rewritten in place, and a table that would be moved is rewritten if that saves
 * memory.
 *
 * Without such work, tables that iterators have paid for are merged (pick_scans.h).
 *
 * Tombstones beyond their maximum age have the lowest priority (pick_tombstones.h).
 */
#ifndef BB_COMPACTION_PICK_PICK_H
#define BB_COMPACTION_PICK_PICK_H

#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"

/* A level's size divided by its target size, or its runs by the number at which they are merged. */
double bb_pick_score(const struct bb_levels *levels, const struct bb_pick_options *options,
                     int level);

/* Errors: BB_NO_MEMORY. The reason in *ret_plan may be BB_PLAN_NOTHING. */
BB_MUST_CHECK enum bb_status bb_pick(const struct bb_levels *levels,
                                     const struct bb_pick_options *options,
                                     struct bb_plan *ret_plan);

/* The level for a run of all tables: the first where it fits, from level 1 on and not above a level
 * with tables. In a smaller level it would move down immediately, and until then two levels would
 * share the target. */
int bb_pick_level_for_all(const struct bb_levels *levels, const struct bb_pick_options *options);

/* Merges all tables into one run of that level. Plans nothing for a single run without old versions
 * and tombstones whose filters are close to the target. */
BB_MUST_CHECK enum bb_status bb_pick_all(const struct bb_levels *levels,
                                         const struct bb_pick_options *options,
                                         struct bb_plan *ret_plan);

#endif
