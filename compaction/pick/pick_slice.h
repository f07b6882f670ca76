/* Picks the next slice of runs that descend to the next level (compaction/levels/descent.h): from
 * the lowest keys on, with at most as many bytes as a full level 1. Of these slices it picks the
 * one with the fewest written bytes for each byte that descends. So a slice ends before a gap in
 * the keys of the descending runs where the receiver has tables.
 *
 *     level 2, newer     [==][==][==]|[==][==][==]        taken: the tables that end up to a key,
 *              older     [=====][=====] [=====][=====]    and of an older run also tables that
 *     level 3, receiver    [=][=][=][=]|                    overlap taken tables of newer ones
 *                        the slice   |
 *
 * So a merge does not grow with its level: it needs no space for a second copy of the level, and
 * level 0 does not wait for it. A slice is larger only if its lowest table overlaps more. A
 * newer run may keep tables with keys of the slice, an older one may not. The next slice then
 * begins some tables below the end of the receiver, and takes these too.
 *
 * Used by bb_pick_tiers. Pure functions.
 */
#ifndef BB_COMPACTION_PICK_PICK_SLICE_H
#define BB_COMPACTION_PICK_PICK_SLICE_H

#include "compaction/levels/descent.h"
#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"

/* Adds the tables of the slice to the plan, and the tables of later slices. REQUIRES: the plan is
 * empty, and its output goes to the next level. */
void bb_pick_slice(const struct bb_descent *descent, const struct bb_shape *shape,
                   struct bb_plan *plan);

#endif
