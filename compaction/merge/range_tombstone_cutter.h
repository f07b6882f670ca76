/* Cuts the range tombstones of a compaction at the borders of its outputs.
 *
 *     inputs' tombstones      [--------------)   [------------------------)
 *     outputs, by entries        . .. .  |  .. ... .     |   . . .
 *     written                 [----------|---)   [-------|----------------)
 *
 * The outputs divide the whole key range: each has everything between its cut and the next one, so
 * that no tombstone extends into a neighbour and no tombstone is lost in between. Overlapping
 * tombstones are kept only if they have a visible effect (compaction/merge/retain.h).
 *
 * Threads: one.
 */
#ifndef BB_COMPACTION_MERGE_RANGE_TOMBSTONE_CUTTER_H
#define BB_COMPACTION_MERGE_RANGE_TOMBSTONE_CUTTER_H

#include "compaction/merge/retain.h"
#include "compaction/pick/plan.h"

/* A zeroed cutter has nothing to cut. Owned: bb_range_tombstone_cutter_deinit. */
struct bb_range_tombstone_cutter {
    struct bb_range_tombstones *list; /* of all inputs; owned; NULL if none */
    size_t index;                     /* first fragment that extends beyond the last cut */
    bool has_cut;
    struct bb_buf cut;     /* the last cut; everything before it was taken */
    size_t passed;         /* first fragment that begins after the passed key */
    uint64_t passed_bytes; /* stored bytes of those from the last cut to there */
};

/* Opens the tables that have range tombstones, and collects the visible ones. */
BB_MUST_CHECK enum bb_status
bb_range_tombstone_cutter_init(struct bb_range_tombstone_cutter *cutter,
                               struct bb_table_file *const *inputs, size_t input_count,
                               const struct bb_retain *retain);
void bb_range_tombstone_cutter_deinit(struct bb_range_tombstone_cutter *cutter);

/* True when no fragment remains after the last cut. */
static inline bool bb_range_tombstone_cutter_is_done(const struct bb_range_tombstone_cutter *cutter)
{
    return cutter->list == NULL || cutter->index == cutter->list->count;
}

/* The part of a fragment between the last cut and high (NULL: the end). If it is empty, low is not
 * below high. Borrowed from cutter and high. */
struct bb_range_tombstone_fragment
bb_range_tombstone_cutter_part(const struct bb_range_tombstone_cutter *cutter, size_t index,
                               const struct bb_bytes *high);
/* An estimate of the stored bytes of everything between the last cut and the key, if no tombstone
 * can be dropped. REQUIRES: keys do not descend between two cuts. */
uint64_t bb_range_tombstone_cutter_pass(struct bb_range_tombstone_cutter *cutter,
                                        struct bb_bytes key);
/* Adds the tombstones to write between the last cut and high (NULL: the end) to the array. Keys are
 * borrowed from cutter and high. Tombstones that hide nothing in runs older than the plan's output
 * are dropped where retain permits it. */
BB_MUST_CHECK enum bb_status
bb_range_tombstone_cutter_take(const struct bb_range_tombstone_cutter *cutter,
                               const struct bb_bytes *high, const struct bb_levels *levels,
                               const struct bb_plan *plan, const struct bb_retain *retain,
                               struct bb_range_tombstone_array *array);
/* Makes high (copied) the last cut. REQUIRES: not before the previous cut. */
BB_MUST_CHECK enum bb_status bb_range_tombstone_cutter_cut(struct bb_range_tombstone_cutter *cutter,
                                                           struct bb_bytes high);

#endif
