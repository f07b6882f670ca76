/* Picks tables that have cost iterators as much as a compaction costs.
 *
 * A lookup probes the filter of a table, and most filters rule out its key. An iterator has no such
 * filter: it seeks in every run, and reads every tombstone and the entry that the tombstone hides.
 * Each table above the last level is charged for this, in bytes that a compaction may read
 * (compaction/merge/run_iter.c). When the charge reaches the sum of the table's bytes, the bytes of
 * the tables that it overlaps in the level below, and BB_PICK_SCANS_BYTES_MIN, the table is merged
 * with those tables. For level 0, the sums over its tables count. So compactions for iterators read
 * at most as many bytes as tables were charged, and a store that is only read by iterators becomes
 * one run.
 *
 *     level 1      [a      f][g    k]      charge 7 MiB: due; 1 MiB: not due
 *     level 2   [a  c][d  f][g   j][k]     2 MiB each
 *
 * Charges are not stored. A new table begins without one. Only for leveled stores: other styles
 * keep runs to write less (docs/decisions/0040-compactions-for-iterators.md).
 *
 * Used by bb_pick, when no level is due.
 */
#ifndef BB_COMPACTION_PICK_PICK_SCANS_H
#define BB_COMPACTION_PICK_PICK_SCANS_H

#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"

/* Added to the bytes of a compaction, because it also creates and syncs files, which takes
 * milliseconds. */
#define BB_PICK_SCANS_BYTES_MIN (UINT64_C(1024) * 1024)

/* Errors: BB_NO_MEMORY. The reason in *plan may be BB_PLAN_NOTHING. REQUIRES: no level has more
 * runs than its shape allows. */
BB_MUST_CHECK enum bb_status bb_pick_scans(const struct bb_levels *levels,
                                           const struct bb_pick_options *options,
                                           struct bb_plan *plan);

#endif
