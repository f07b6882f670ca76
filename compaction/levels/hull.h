/* The smallest key range that contains some keys, or the bounds of some tables. Keys are borrowed.
 * Pure functions. */
#ifndef BB_COMPACTION_LEVELS_HULL_H
#define BB_COMPACTION_LEVELS_HULL_H

#include "compaction/levels/run.h"

/* A struct with only a comparator is the hull of no tables. */
struct bb_hull {
    const struct bb_comparator *comparator;
    bool has_any;
    struct bb_bytes low;
    struct bb_bytes high;
};

/* Widens the hull to contain low ... high. REQUIRES: low <= high. */
void bb_hull_widen(struct bb_hull *hull, struct bb_bytes low, struct bb_bytes high);
void bb_hull_add(struct bb_hull *hull, const struct bb_table_file *file);
/* Adds the first tables of a run. */
void bb_hull_add_run(struct bb_hull *hull, const struct bb_run *run, size_t count);
bool bb_hull_meets(const struct bb_hull *hull, const struct bb_table_file *file);
/* Tables *ret_first ... *ret_end - 1 of the run overlap the hull. */
void bb_hull_find_overlap(const struct bb_hull *hull, const struct bb_run *run, size_t *ret_first,
                          size_t *ret_end);

#endif
