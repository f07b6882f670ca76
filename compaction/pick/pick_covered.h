/* Finds tables that range tombstones of one newer run hide completely. They are removed without
 * being read.
 *
 *     level 0         [d ===================== r)    a range tombstone, sequence 90
 *     level 1     [a    e] [f   h] [j  k]*  [p   t]  removed: f-h   * has an entry of sequence 95
 *     level 2       [c  f]  [g           o]          removed: g-o
 *
 * A table is removed if tombstones newer than all of its entries cover everything between its
 * bounds, its own range tombstones included, and no snapshot is in between: no reader can see any
 * of it. Its own tombstones hide only older data, which the same covering tombstones hide too. The
 * covering tombstones stay. A merge drops them when no older data remains below
 * (compaction/merge/retain.h).
 *
 * Tables of one run may have filters of different rates. When tables with low rates are removed,
 * the mean of the rest exceeds the level's share and may exceed the target until the next pick,
 * which corrects the excess. No lookup gets slower: a lookup of a removed key checks one table
 * less, and all others check the same tables as before. Waiting for better filters would keep
 * invisible data.
 *
 * Adjacent tombstones of several tables and fragments of one run count together, but tombstones of
 * several runs do not. Tables with range tombstones are opened to read them. A damaged one is
 * skipped; readers that need it report the damage. Otherwise the result depends only on the
 * arguments.
 */
#ifndef BB_COMPACTION_PICK_PICK_COVERED_H
#define BB_COMPACTION_PICK_PICK_COVERED_H

#include "compaction/pick/plan.h"

/* Plans the removal of all such tables, with reason BB_PLAN_COVERED and no output. The plan is
 * empty if there are no such tables. snapshots: ascending. Errors: BB_NO_MEMORY, or the failure to
 * open a table; then the plan is empty. */
BB_MUST_CHECK enum bb_status bb_pick_covered(const struct bb_levels *levels,
                                             const uint64_t *snapshots, size_t snapshot_count,
                                             struct bb_plan *ret_plan);

#endif
