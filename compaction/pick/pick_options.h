/* Inputs of picking a compaction, in addition to the levels. */
#ifndef BB_COMPACTION_PICK_PICK_OPTIONS_H
#define BB_COMPACTION_PICK_PICK_OPTIONS_H

#include "compaction/levels/shape.h"
#include "compaction/rates/rate_request.h"

struct bb_pick_options {
    struct bb_shape shape;
    /* Level 0 is currently merged when it has this number of runs, at most the number in the shape.
     * 0: the number in the shape. */
    uint32_t level0_run_count_due;
    bool has_filters; /* false: rates are ignored */
    /* Tables without a companion leave level 0 only by a rewrite, which makes one. */
    bool needs_companions;
    double target_wasted_reads;
    struct bb_read_weights weights; /* zeros: every run has weight 1 */
    struct bb_filter_budget budget; /* zeros: none; otherwise it replaces the target */
    /* A request compacts a range with nearly all keys, and changes the rates of its tables. So no
     * table is rewritten because of its rate. */
    bool rates_will_change;
    /* As in compaction/rates/rate_request.h. */
    const struct bb_waste_share *shares;
    const struct bb_waste_share *own_share;
    /* Tombstones and hidden versions with sequences up to this one must be dropped
     * (pick_tombstones.h), unless the oldest snapshot needs them. 0: none. */
    uint64_t tombstone_horizon;
    /* The sequence of the oldest snapshot; BB_SEQUENCE_MAX without snapshots. */
    uint64_t oldest_snapshot;
};

#endif
