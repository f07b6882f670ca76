/* Estimates how many keys are between two keys. Keys are assumed to be spread like the keys of the
 * run with most tables, whose bounds are known. Where it has fewer than four tables, and within a
 * table, keys are assumed to be spread evenly: the first bytes that differ are read as a number, of
 * decimal or hexadecimal digits, letters or bytes. With a comparator bytes tell nothing, and a part
 * of a table counts as the whole.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_LEVELS_SPREAD_H
#define BB_COMPACTION_LEVELS_SPREAD_H

#include "compaction/levels/hull.h"
#include "compaction/levels/levels.h"

/* The share of the keys from low to high that the hull contains: 0 ... 1. */
double bb_spread_share(const struct bb_levels *levels, const struct bb_hull *hull,
                       struct bb_bytes low, struct bb_bytes high);
/* The number of keys of a run that the hull contains. */
double bb_spread_run_keys(const struct bb_levels *levels, const struct bb_hull *hull,
                          const struct bb_run *run);
/* The same for all runs together. */
double bb_spread_keys(const struct bb_levels *levels, const struct bb_hull *hull);

#endif
