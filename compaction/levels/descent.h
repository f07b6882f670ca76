/* The descent of runs: the oldest runs of a level are merged into the newest run of the next level,
 * their receiver, in slices, from the lowest keys on (compaction/pick/pick_slice.h).
 *
 *     level 1    (a . . . . . . z)     a newer run, which waits
 *                        (o . . z)     two descending runs: their lower keys are in the receiver
 *                      (n . . . z)
 *     level 2    (a . . . m)           the receiver
 *
 * A descent is not recorded. It is recognised from the tables, so that it continues after the store
 * is reopened: before the lowest key of a run and of all older ones, the receiver has a table that
 * was written after the run.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_LEVELS_DESCENT_H
#define BB_COMPACTION_LEVELS_DESCENT_H

#include "compaction/levels/levels.h"

struct bb_descent {
    const struct bb_levels *levels;
    int level;
    size_t first;              /* index of the newest descending run; all older ones descend too */
    const struct bb_run *runs; /* from there on */
    size_t run_count;
    uint64_t file_bytes;           /* of these runs */
    const struct bb_run *receiver; /* NULL: a new run */
};

/* A descent that begins with this run. */
struct bb_descent bb_descent_of(const struct bb_levels *levels, int level, size_t first,
                                const struct bb_run *receiver);
/* False when no run of the level descends. REQUIRES: a level below level 0. */
bool bb_descent_find(const struct bb_levels *levels, int level, struct bb_descent *ret_descent);

#endif
