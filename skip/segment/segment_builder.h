/* Builds an inverted segment (segment.h) from pairs.
 *
 * The builder first writes each possible form (segment_plan.h) on trial, for the pairs with the
 * lowest hashes. It builds the form with the fewest bytes; a form with ribbons must save a few
 * percent, because its queries take longer. Sizes follow from exact counts of the pairs.
 *
 * Threads: one builder, one thread.
 */
#ifndef BB_SKIP_SEGMENT_SEGMENT_BUILDER_H
#define BB_SKIP_SEGMENT_SEGMENT_BUILDER_H

#include "skip/segment/segment_plan.h"

struct bb_segment_member;
struct bb_segment_keys;

struct bb_segment_builder {
    struct bb_segment segment;
    struct bb_buf data; /* owned: chunks, with space for their checksums */
    struct bb_buf ends; /* owned: segment.ends */
    /* Set by the caller, before or between segments: no ribbons. */
    bool is_inverted;
    struct bb_segment_form form;
    bool is_on_trial;                  /* ribbons are sized, not solved */
    struct bb_segment_keys *keys;      /* owned: keys and solver of the current ribbon; or NULL */
    struct bb_segment_member *members; /* owned: of the current bucket */
    size_t member_count;
    size_t member_capacity;
    size_t pair_count; /* of these members */
    uint64_t *numbers; /* owned: pairs of an address and a granule of the current bucket */
    size_t number_count;
    size_t number_capacity;
    uint16_t granules[BB_SEGMENT_GRANULES_MAX]; /* of the current member */
};

void bb_segment_builder_deinit(struct bb_segment_builder *builder);

/* pairs: sorted, each once, granules below granule_count. target: 0 < target < 1, the share of
 * granules that seem to hold an absent member; a segment of few granules gets a lower rate
 * (bb_segment_plan_rate). BB_TOO_LARGE: the hashes are so uneven that a chunk would be too large.
 * This does not happen under an unknown secret. */
BB_MUST_CHECK enum bb_status bb_segment_builder_build(struct bb_segment_builder *builder,
                                                      const uint64_t *pairs, size_t count,
                                                      uint32_t granule_count, double target);

#endif
