/* Tombstones that have lived too long.
 *
 * A tombstone is due when it is at least as old as the horizon, and no snapshot is older than it: it
 * would go if it met the bottom. So its table sinks into the next older run that has keys between
 * its bounds, and on from there; where none has, it is rewritten in its place, and the tombstone
 * goes.
 *
 *     level 1      [b  d]            the due one
 *     level 2   [a]       [e  g]     nothing between b and d: passed over
 *     level 3   [a    c][cb    k]    both are merged with it, in their place
 *
 * That holds for every style: runs count by their age, not by their level. Level 0 goes down as a
 * whole, as always. Nothing is moved unread: whoever reads a table drops what need not sink.
 *
 * At the bottom, versions that were kept for a snapshot are due, too, when none is left that may need
 * them.
 *
 * The newest due table comes first, so that what sinks on its way takes the place of what is due
 * below. Each plan takes a due tombstone to an older run, or away, and only level 0 becomes a new
 * one: that comes to an end.
 *
 * For bb_pick. Pure functions.
 */
#ifndef BB_COMPACTION_PICK_TOMBSTONES_H
#define BB_COMPACTION_PICK_TOMBSTONES_H

#include "compaction/pick_options.h"
#include "compaction/plan.h"

/* Nothing when the horizon is 0. */
BB_MUST_CHECK enum bb_status bb_pick_tombstones(const struct bb_levels *levels,
                                                const struct bb_pick_options *options,
                                                struct bb_plan *plan);

#endif
