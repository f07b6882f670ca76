/* What the picking of compactions goes by, beside the levels. */
#ifndef BB_COMPACTION_PICK_OPTIONS_H
#define BB_COMPACTION_PICK_OPTIONS_H

#include "compaction/rate_request.h"
#include "compaction/shape.h"

struct bb_pick_options {
    struct bb_shape shape;
    /* Level 0 is merged from so many runs on just now; at most as many as the shape has. 0: these. */
    uint32_t level0_run_count_due;
    bool has_filters; /* false: rates are not looked at */
    double target_wasted_reads;
    struct bb_read_weights weights; /* zeros: every wasted read counts 1 */
    struct bb_filter_budget budget; /* zeros: none; else in the place of the target */
    double pending_waste;           /* of other work under way (compaction/rate_request.h) */
    /* Tombstones and hidden versions of sequences up to here are to go (pick_tombstones.h), but for
     * what the oldest snapshot still needs. 0: none have to. */
    uint64_t tombstone_horizon;
    uint64_t oldest_snapshot; /* its sequence; BB_SEQUENCE_MAX when there is none */
};

#endif
