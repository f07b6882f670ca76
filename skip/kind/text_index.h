/* text: a dictionary of the distinct tokens of a segment. Each token has the granules that hold it;
 * in an index with counts, also the number of records of each granule that hold it. The index is
 * exact: no granule seems to hold a token that it does not hold.
 *
 *     fields of a segment in the head := varint offset of the data
 *                                        | u8 has granules that are not indexed
 *                                        | with 1: (granules + 7) / 8 bytes, a bit for each
 *                                        | varint tokens | varint pairs
 *                                        | varint blocks | block fields*
 *     block fields := varint size, checksum included | bytes fence
 *
 * Blocks (token_block.h) follow one another; each is a data unit. A token is in the last block
 * whose fence is not above it. The fence of a block is the shortest prefix of its first token that
 * is above the token before it. The fence of the first block is empty.
 *
 * A segment ends after 1,024 granules, or earlier if its pairs, tokens or their bytes would exceed
 * the available memory.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_KIND_TEXT_INDEX_H
#define BB_SKIP_KIND_TEXT_INDEX_H

#include "skip/member/member_scan.h"
#include "skip/layout/segment_sink.h"
#include "skip/kind/token_block.h"
#include "skip/kind/token_table.h"

struct bb_text_index_builder {
    bool has_counts;
    size_t pairs_max; /* at which a segment ends */
    size_t tokens_max;
    struct bb_token_table table;
    struct bb_member_scan scan;
    struct bb_granule_bits unindexed;
    struct bb_token_block_builder block;
    struct bb_buf unit;   /* owned */
    struct bb_buf blocks; /* owned: fields of the segment's blocks */
};

BB_MUST_CHECK enum bb_status bb_text_index_builder_init(struct bb_text_index_builder *builder,
                                                        const struct bb_skip_spec *spec,
                                                        const struct bb_hash_secret *secret,
                                                        size_t pairs_max);
/* pairs_max: of an index of members with as much memory. */
void bb_text_index_builder_set_pairs_max(struct bb_text_index_builder *builder, size_t pairs_max);
void bb_text_index_builder_deinit(struct bb_text_index_builder *builder);
/* attribute: present. */
void bb_text_index_builder_add(struct bb_text_index_builder *builder,
                               const struct bb_attribute *attribute);
/* *ret_is_full: the segment has to end. */
BB_MUST_CHECK enum bb_status
bb_text_index_builder_end_granule(struct bb_text_index_builder *builder, bool *ret_is_full);
/* spare: bb_member_index_builder_end_segment. */
BB_MUST_CHECK enum bb_status
bb_text_index_builder_end_segment(struct bb_text_index_builder *builder, struct bb_buf *spare,
                                  struct bb_segment_sink *sink);
/* Begins a segment. */
void bb_text_index_builder_reset(struct bb_text_index_builder *builder);

#endif
