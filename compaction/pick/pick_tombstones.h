/* Picks tombstones beyond their maximum age.
 *
 * A tombstone is due when its sequence is at most the horizon and no snapshot is older than it: a
 * merge at the bottom would drop it. So its table is merged into the next older run with keys
 * between the table's bounds, the result into the next such run, and so on. When no older run has
 * such keys, the table is rewritten in place, and the tombstone is dropped.
 *
 *     level 1      [b  d]            the due table
 *     level 2   [a]       [e  g]     nothing between b and d: skipped
 *     level 3   [a    c][cb    k]    both are merged with it, in place
 *
 * This applies to every style: the order of runs is their age, not their level. Level 0 always goes
 * down as a whole. No table is moved without being read, because reading it drops entries that need
 * not go further down.
 *
 * At the bottom, versions that were kept for a snapshot are due too, when no remaining snapshot may
 * need them.
 *
 * The newest due table has priority, because its merges also include due tables below it. Each plan
 * takes a due tombstone to an older run, or drops it, and only level 0 becomes a new run. The
 * process therefore terminates.
 *
 * Used by bb_pick. Pure functions.
 */
#ifndef BB_COMPACTION_PICK_PICK_TOMBSTONES_H
#define BB_COMPACTION_PICK_PICK_TOMBSTONES_H

#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"

/* Plans nothing when the horizon is 0. */
BB_MUST_CHECK enum bb_status bb_pick_tombstones(const struct bb_levels *levels,
                                                const struct bb_pick_options *options,
                                                struct bb_plan *plan);

#endif
