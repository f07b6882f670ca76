/* A requested compaction of a key range, in pieces. The tables of level 0 that overlap the range go
 * to level 1, tables of level 1 to level 2, and so on until no deeper level has keys of the range.
 * Then the tables of that last level that have tombstones or old versions are rewritten in place,
 * except tables written after the request.
 *
 *     level 0   [======]  [=====]              1st piece: these, and the overlap below
 *     level 1       [==][===][==]              2nd, 3rd: a few tables, and the overlap below
 *     level 2     [====][=====][====]          then: tables with tombstones
 *                   |---------|                the range
 *
 * A piece is small, so that other work can be done between two of them: it takes tables of its
 * upper level until they have bytes_max. A level of several runs is one piece, like level 0. No
 * piece goes back to a level or a key that is done, so the request ends even if new data enters the
 * range all the time.
 *
 * The filters of the last level are planned for the store as the request leaves it. A range with
 * nearly all keys thus ends as a full compaction does: it goes down to the level that a full
 * compaction would choose, gives all tables the rate of a single run, and then also rewrites those
 * of the last level that have another rate. Until then the planned waste exceeds the target,
 * though a lookup does not: below a key that is done, it checks the last level only.
 *
 * Threads: one at a time.
 */
#ifndef BB_COMPACTION_PICK_RANGE_PROGRESS_H
#define BB_COMPACTION_PICK_RANGE_PROGRESS_H

#include "base/buf.h"
#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"
#include "sstable/kept_range.h"

struct bb_range_progress {
    struct bb_kept_range kept;
    /* Tables from this number on were written after the request. */
    uint64_t number_end;
    uint64_t bytes_max;
    int level; /* current level */
    /* The last picked piece took all of the range in the level: level 0, or a level of several
     * runs. */
    bool is_whole;
    bool has_done;         /* some tables of the level are done: */
    struct bb_buf done_to; /* up to this largest key; owned */
    bool done_is_exclusive;
};

/* Copies the range. *progress must not be moved afterwards. */
BB_MUST_CHECK enum bb_status bb_range_progress_init(struct bb_range_progress *progress,
                                                    const struct bb_key_range *range,
                                                    uint64_t number_end, uint64_t bytes_max);
void bb_range_progress_deinit(struct bb_range_progress *progress);

/* True when the range has nearly all keys of the store. */
bool bb_range_progress_is_full(const struct bb_range_progress *progress,
                               const struct bb_levels *levels);

/* Returns the next piece; reason BB_PLAN_NOTHING when all is done. Until finish, repeated calls for
 * the same levels return the same piece. */
BB_MUST_CHECK enum bb_status bb_range_progress_pick(struct bb_range_progress *progress,
                                                    const struct bb_levels *levels,
                                                    const struct bb_pick_options *options,
                                                    struct bb_plan *ret_plan);
/* Records that the piece is done. If there is no memory for this, the tables of the level are
 * considered again. */
void bb_range_progress_finish(struct bb_range_progress *progress, const struct bb_plan *plan);

#endif
