/* The cover of a run: how many of the lookups search it, and its waste. A lookup searches a run if
 * the bounds of one of the run's tables contain its key.
 *
 *     level 1    (a . . d)         (p . . z)     covers half of the keys
 *     level 2    (a . f) (g . . m)               covers the other half
 *
 * Lookups are assumed to be spread like the keys of all runs (spread.h). A narrow gap next to
 * tables counts as covered, because it has hardly any keys. Pure functions.
 */
#ifndef BB_COMPACTION_LEVELS_COVER_H
#define BB_COMPACTION_LEVELS_COVER_H

#include "compaction/levels/levels.h"

struct bb_cover {
    double share;         /* of the lookups that search the run: 0 ... 1 */
    double waste;         /* wasted requests per lookup, from the predicted rates of the filters */
    double planned_waste; /* the same from their target rates */
};
/* Takes a few comparisons for each table of the run, and about a thousand for each run, or more if
 * the run has many wide gaps. In a store without keys, whose tables have only range tombstones, the
 * share is 1. */
struct bb_cover bb_cover_of(const struct bb_levels *levels, const struct bb_run *run);
/* The planned waste of all runs together. */
double bb_cover_planned_waste(const struct bb_levels *levels);

#endif
