/* Builds the summary of a table (the picture of its bytes is in summary.h).
 *
 * Hashes of a part are collected, then sorted, cut into shards and solved at once: 8 bytes per key.
 * Whoever adds bounds that by ending a part. The parts so far are kept as they will be stored.
 *
 * Call order: create add* (cut add add*)* finish destroy. One thread.
 */
#ifndef BB_SSTABLE_SUMMARY_BUILDER_H
#define BB_SSTABLE_SUMMARY_BUILDER_H

#include "bloomblock/sharded_ribbon.h"
#include "sstable/checksum.h"
#include "sstable/index/fence_builder.h"

struct bb_summary_builder;

BB_MUST_CHECK enum bb_status bb_summary_builder_create(const struct bb_block_filter_format *format,
                                                       const struct bb_comparator *comparator,
                                                       struct bb_summary_builder **ret_builder);
void bb_summary_builder_destroy(struct bb_summary_builder *builder);
/* The hash of a key; once for all its versions. */
BB_MUST_CHECK enum bb_status bb_summary_builder_add(struct bb_summary_builder *builder,
                                                    uint64_t key_hash);
/* Keys of the part at hand. */
size_t bb_summary_builder_key_count(const struct bb_summary_builder *builder);
/* Ends the part at hand, which has keys. All keys added later are at or behind the fence. */
BB_MUST_CHECK enum bb_status bb_summary_builder_cut(struct bb_summary_builder *builder,
                                                    const struct bb_fence *fence);
/* The section as it is stored at offset; borrowed until the builder is destroyed. */
BB_MUST_CHECK enum bb_status bb_summary_builder_finish(struct bb_summary_builder *builder,
                                                       struct bb_table_id table, uint64_t offset,
                                                       struct bb_bytes *ret_section);
/* Chunks so far. */
uint32_t bb_summary_builder_chunk_count(const struct bb_summary_builder *builder);

#endif
