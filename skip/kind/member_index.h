/* values, tokens, ngrams: which granules hold a member, as inverted segments.
 *
 *     fields of a segment in the head := varint offset of the data
 *                                        | u8 has granules that are not indexed
 *                                        | with 1: (granules + 7) / 8 bytes, a bit for each
 *                                        | fields of segment.h
 *
 * A segment ends after 1,024 granules, or earlier if its pairs would exceed the available memory.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_KIND_MEMBER_INDEX_H
#define BB_SKIP_KIND_MEMBER_INDEX_H

#include "skip/member/distinct_set.h"
#include "skip/member/member_scan.h"
#include "skip/segment/segment_builder.h"
#include "skip/layout/segment_sink.h"
#include "skip/kind/tail_memo.h"

struct bb_member_index_builder {
    struct bb_skip_spec spec;
    struct bb_hash_secret secret;
    size_t pairs_max; /* at which a segment ends */
    struct bb_distinct_set members;
    struct bb_member_scan scan; /* of tokens and n-grams */
    struct bb_tail_memo tails;
    struct bb_granule_bits unindexed;
    struct bb_segment_builder segment;
};

BB_MUST_CHECK enum bb_status bb_member_index_builder_init(struct bb_member_index_builder *builder,
                                                          const struct bb_skip_spec *spec,
                                                          const struct bb_hash_secret *secret,
                                                          size_t pairs_max);
void bb_member_index_builder_deinit(struct bb_member_index_builder *builder);
/* attribute: present. */
void bb_member_index_builder_add(struct bb_member_index_builder *builder,
                                 const struct bb_attribute *attribute);
/* *ret_is_full: the segment has to end. */
BB_MUST_CHECK enum bb_status
bb_member_index_builder_end_granule(struct bb_member_index_builder *builder, bool *ret_is_full);
/* spare: memory for sorting, which grows as needed; shared by the indexes of a file. */
BB_MUST_CHECK enum bb_status
bb_member_index_builder_end_segment(struct bb_member_index_builder *builder, struct bb_buf *spare,
                                    struct bb_segment_sink *sink);

#endif
