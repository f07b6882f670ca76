/* The range tombstones of a compaction, cut at the borders of its outputs.
 *
 *     inputs' tombstones      [--------------)   [------------------------)
 *     outputs, by entries        . .. .  |  .. ... .     |   . . .
 *     written                 [----------|---)   [-------|----------------)
 *
 * The outputs share out the whole key range: each has what lies between its cut and the next one, so
 * that no tombstone reaches over a neighbour and none is lost in between. Of what overlaps only that
 * is kept which somebody can still see the effect of (compaction/retain.h).
 *
 * Threads: one.
 */
#ifndef BB_COMPACTION_RANGE_CUTTER_H
#define BB_COMPACTION_RANGE_CUTTER_H

#include "compaction/plan.h"
#include "compaction/retain.h"

/* Zeroed it has nothing to cut. Owned: bb_range_cutter_deinit. */
struct bb_range_cutter {
    struct bb_range_tombstones *list; /* of all inputs; owned; NULL: none */
    size_t index;                     /* of the first fragment that reaches behind the last cut */
    bool has_cut;
    struct bb_buf cut;     /* the last one: what is before it was taken */
    size_t passed;         /* of the first fragment that begins behind what was passed */
    uint64_t passed_bytes; /* of those from the last cut to there, as they are written */
};

/* Opens the tables that have range tombstones, and gathers of these what can be seen. */
BB_MUST_CHECK enum bb_status bb_range_cutter_init(struct bb_range_cutter *cutter,
                                                  struct bb_table_file *const *inputs,
                                                  size_t input_count,
                                                  const struct bb_retain *retain);
void bb_range_cutter_deinit(struct bb_range_cutter *cutter);

/* Is nothing left behind the last cut? */
static inline bool bb_range_cutter_is_done(const struct bb_range_cutter *cutter)
{
    return cutter->list == NULL || cutter->index == cutter->list->count;
}

/* The part of a fragment of the list that lies between the last cut and high (NULL: the end): low is
 * not below high when nothing does. Borrowed from cutter and high. */
struct bb_range_fragment bb_range_cutter_part(const struct bb_range_cutter *cutter, size_t index,
                                              const struct bb_bytes *high);
/* About how many bytes a table takes for what lies between the last cut and the key, when nothing of
 * it can be left out. REQUIRES: keys do not descend between two cuts. */
uint64_t bb_range_cutter_pass(struct bb_range_cutter *cutter, struct bb_bytes key);
/* Adds to the array what is to be written between the last cut and high (NULL: to the end). Keys
 * are borrowed from cutter and high. Tombstones that hide nothing in runs older than the plan's output
 * are left out as retain allows it. */
BB_MUST_CHECK enum bb_status
bb_range_cutter_take(const struct bb_range_cutter *cutter, const struct bb_bytes *high,
                     const struct bb_levels *levels, const struct bb_plan *plan,
                     const struct bb_retain *retain, struct bb_range_array *array);
/* high, copied, is the last cut. REQUIRES: not before the one there was. */
BB_MUST_CHECK enum bb_status bb_range_cutter_cut(struct bb_range_cutter *cutter,
                                                 struct bb_bytes high);

#endif
