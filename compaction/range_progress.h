/* A requested compaction of a range of keys, piece by piece: the tables of level 0 that meet the
 * range go to level 1, what lies in level 1 to level 2, and so on until nothing deeper holds keys
 * of the range; then the tables of that last level that hold tombstones or old versions and were
 * there before are rewritten in their place.
 *
 *     level 0   [======]  [=====]              1st piece: these, and what they overlap below
 *     level 1       [==][===][==]              2nd, 3rd: a few tables, and what they overlap below
 *     level 2     [====][=====][====]          then: those with tombstones
 *                   |---------|                the range
 *
 * Pieces are small (bytes_max of the upper level), so that other work can be done in between; a level
 * of several runs is one piece, as level 0. What
 * comes into the range after the request is nobody's concern, so that it ends.
 * Threads: one at a time.
 */
#ifndef BB_COMPACTION_RANGE_PROGRESS_H
#define BB_COMPACTION_RANGE_PROGRESS_H

#include "base/buf.h"
#include "compaction/plan.h"

struct bb_range_progress {
    bool has_low; /* false: from the first key on */
    bool has_high;
    struct bb_buf low;   /* inclusive; owned */
    struct bb_buf high;  /* exclusive; owned */
    uint64_t number_end; /* tables from this number on were written since the request */
    uint64_t bytes_max;
    int level;             /* whose turn it is */
    bool is_whole;         /* it has several runs: the piece that was picked last is all of it */
    bool has_done;         /* of its tables these are done: */
    struct bb_buf done_to; /* up to this largest key; owned */
    bool done_is_exclusive;
};

/* Bounds are copied; NULL: open to that side. */
BB_MUST_CHECK enum bb_status bb_range_progress_init(struct bb_range_progress *progress,
                                                    const struct bb_bytes *low,
                                                    const struct bb_bytes *high,
                                                    uint64_t number_end, uint64_t bytes_max);
void bb_range_progress_deinit(struct bb_range_progress *progress);

/* The next piece; reason BB_PLAN_NOTHING when all is done. Asked again it gives the same. */
BB_MUST_CHECK enum bb_status bb_range_progress_pick(struct bb_range_progress *progress,
                                                    const struct bb_levels *levels,
                                                    struct bb_plan *ret_plan);
/* The piece was carried out. Should memory fail, the tables of the level are looked at once more.
 */
void bb_range_progress_finish(struct bb_range_progress *progress, const struct bb_plan *plan);

#endif
