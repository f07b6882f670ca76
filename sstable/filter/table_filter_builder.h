/* Builds the table filter of a table. table_filter.h draws its bytes.
 *
 * The builder collects the hashes of a part, 8 bytes per key. At the end of the part it sorts them,
 * cuts them into shards and builds the filter of each shard. The caller bounds the memory by ending
 * a part. Finished parts are kept in their stored form.
 *
 * Call order: create add* (cut add add*)* finish destroy. One thread.
 */
#ifndef BB_SSTABLE_FILTER_TABLE_FILTER_BUILDER_H
#define BB_SSTABLE_FILTER_TABLE_FILTER_BUILDER_H

#include "sstable/checksum.h"
#include "sstable/index/fence_builder.h"

struct bb_block_filter_format;
struct bb_table_filter_builder;

BB_MUST_CHECK enum bb_status
bb_table_filter_builder_create(const struct bb_block_filter_format *format,
                               const struct bb_comparator *comparator,
                               struct bb_table_filter_builder **ret_builder);
void bb_table_filter_builder_destroy(struct bb_table_filter_builder *builder);
/* Adds the hash of a key, once for all versions of the key. */
BB_MUST_CHECK enum bb_status bb_table_filter_builder_add(struct bb_table_filter_builder *builder,
                                                         uint64_t key_hash);
/* Number of keys in the current part. */
size_t bb_table_filter_builder_key_count(const struct bb_table_filter_builder *builder);
/* The mean predicted rate over absent keys, of all shards so far. */
double bb_table_filter_builder_rate(const struct bb_table_filter_builder *builder);
/* The excess (bloomblock/table/shard.h) at the end of this table, from which the builder of the
 * next table continues. */
double bb_table_filter_builder_excess(const struct bb_table_filter_builder *builder);
void bb_table_filter_builder_set_excess(struct bb_table_filter_builder *builder, double excess);
/* Ends the current part, which must have keys. All keys added later are at or after the fence. */
BB_MUST_CHECK enum bb_status bb_table_filter_builder_cut(struct bb_table_filter_builder *builder,
                                                         const struct bb_fence *fence);
/* The section as it is stored at offset. Borrowed until the builder is destroyed. */
BB_MUST_CHECK enum bb_status bb_table_filter_builder_finish(struct bb_table_filter_builder *builder,
                                                            struct bb_table_id table,
                                                            uint64_t offset,
                                                            struct bb_bytes *ret_section);

#endif
