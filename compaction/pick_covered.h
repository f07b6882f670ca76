/* Tables that range tombstones of one newer run hide altogether: they go without being read.
 *
 *     level 0         [d ===================== r)    a range tombstone, sequence 90
 *     level 1     [a    e] [f   h] [j  k]*  [p   t]  goes: f-h      * has an entry of sequence 95
 *     level 2       [c  f]  [g           o]          goes: g-o
 *
 * A table goes if all between its bounds, its own range tombstones included, is covered by tombstones
 * that are newer than all it has, and no snapshot lies between: nobody sees anything of it then. What
 * its own tombstones hide in older runs is older still, and hidden by the same that hide them. The
 * hiding tombstones stay; a merge drops them when nothing older is left below (compaction/retain.h).
 *
 * Where tables of one run have filters of different rates, and those of low ones go, the mean of the
 * rest is above the level's share, and may be above the promise until the next pick, which takes the
 * excess up. No look-up costs more for it: that for a key of what went asks one table less, and every
 * other what it asked before. Waiting for filters would keep what nobody sees.
 *
 * Tombstones of several tables and fragments count together where they touch, those of several runs
 * do not. Tables with range tombstones are opened for it; one that is damaged is passed over, as those
 * find out who need it. Apart from that a function of its arguments.
 */
#ifndef BB_COMPACTION_PICK_COVERED_H
#define BB_COMPACTION_PICK_COVERED_H

#include "compaction/plan.h"

/* All such tables, reason BB_PLAN_COVERED; there is no output. Nothing if there are none.
 * snapshots: ascending. BB_NO_MEMORY, or as opening a table fails; nothing is planned then. */
BB_MUST_CHECK enum bb_status bb_pick_covered(const struct bb_levels *levels,
                                             const uint64_t *snapshots, size_t snapshot_count,
                                             struct bb_plan *ret_plan);

#endif
