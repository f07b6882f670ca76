/* What to compact next: a pure function of the levels and the options.
 *
 * Each level has a score: one that takes several runs (shape.h) their number against that at which
 * they are merged, the others their bytes against their target. The greatest score of at least 1
 * wins. Level 0 gathers more runs while flushes follow each other (kv/write/pace.h): a merge rewrites what
 * level 1 has, however many runs come along.
 *
 *     level 0    all of its runs (pick_level0.h)
 *     one run    leveled: the table that overlaps the fewest bytes below for its size, with these
 *                last level of lazy leveling: all of it moves down
 *     tiers      runs of about one size (pick_tiers.h)
 *
 * A level that is to have one run and has several, because it was written with another style, is
 * united first.
 *
 * A table of a deeper level that overlaps nothing below is moved, not rewritten. Both only where
 * the sum of the filters' rates stays within the promise: a level's mean rises when a table with a
 * low rate leaves it, and a table that moves to an empty level brings its rate along.
 *
 * When nothing is due but the sum is beyond the promise (it was made stricter, or deletions have
 * thinned out a level), the table with the greatest excess is rewritten in its place; with weights
 * also before a last level opens the one below it. With a budget there is no promise: when the
 * filters have more bytes than it, the table that saves most is rewritten in its place, and what
 * would be moved is rewritten if that saves.
 *
 * Last come tombstones that are older than they may be (pick_tombstones.h).
 */
#ifndef BB_COMPACTION_PICK_H
#define BB_COMPACTION_PICK_H

#include "compaction/pick_options.h"
#include "compaction/plan.h"

/* A level's size over its target, or its runs over their count. */
double bb_pick_score(const struct bb_levels *levels, const struct bb_pick_options *options,
                     int level);

/* BB_NO_MEMORY; else *ret_plan, whose reason may be BB_PLAN_NOTHING. */
BB_MUST_CHECK enum bb_status bb_pick(const struct bb_levels *levels,
                                     const struct bb_pick_options *options,
                                     struct bb_plan *ret_plan);

/* All tables into one run: in the first level, at least level 1 and not above one that has tables,
 * where it has room. Nothing to do for a single run without old versions and tombstones whose
 * filters keep the promise closely. */
BB_MUST_CHECK enum bb_status bb_pick_all(const struct bb_levels *levels,
                                         const struct bb_pick_options *options,
                                         struct bb_plan *ret_plan);

/* The filters' rate for the output of a plan. A request merges everything there is: its result
 * keeps the promise exactly, and nothing is planned for beside it. */
double bb_pick_rate(const struct bb_levels *levels, const struct bb_pick_options *options,
                    const struct bb_plan *plan);
/* The same in the options of the new tables, with their part of the summary's bits. */
void bb_pick_filters(const struct bb_levels *levels, const struct bb_pick_options *options,
                     const struct bb_plan *plan, struct bb_table_options *table);
/* What a plan adds to the store's waste, weighted, when it is carried out with that rate; 0 when it
 * takes some away. For a flush that is planned meanwhile. */
double bb_pick_waste_added(const struct bb_levels *levels, const struct bb_pick_options *options,
                           const struct bb_plan *plan, double rate);

#endif
