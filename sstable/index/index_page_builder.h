/* Builds one index page: fences, sizes and filters of consecutive blocks. index_page.h draws its
 * bytes.
 *
 * Call order: init (start add_block (add_fence add_block)* finish)* deinit, add_head after a block
 * that has a head, and add_group after the last block of each filter group. A page gets its
 * checksums when its place is known (bb_index_page_builder_seal). One thread.
 */
#ifndef BB_SSTABLE_INDEX_INDEX_PAGE_BUILDER_H
#define BB_SSTABLE_INDEX_INDEX_PAGE_BUILDER_H

#include "sstable/checksum.h"
#include "sstable/index/block_head.h"
#include "sstable/index/fence_builder.h"

struct bb_block_filter_builder;

struct bb_index_page_builder {
    struct bb_fence_builder fences; /* of all blocks except the first */
    struct bb_buf sizes;            /* varint stored size of each block */
    struct bb_buf head_ends;        /* u32 per block, in heads */
    struct bb_buf heads;
    uint64_t base_offset; /* of the first block */
    uint64_t data_size;   /* of all blocks */
    uint32_t block_count;

    struct bb_buf shard_counts; /* u16 per group */
    struct bb_buf descriptors;  /* u16 per shard */
    struct bb_buf filters;
    uint32_t group_count;
    uint32_t shard_count;
};

void bb_index_page_builder_init(struct bb_index_page_builder *builder,
                                const struct bb_comparator *comparator);
void bb_index_page_builder_deinit(struct bb_index_page_builder *builder);
/* Begins a page whose first block is at base_offset. */
void bb_index_page_builder_start(struct bb_index_page_builder *builder, uint64_t base_offset);

/* Adds the fence before the next block; not for the first block of a page. */
BB_MUST_CHECK enum bb_status bb_index_page_builder_add_fence(struct bb_index_page_builder *builder,
                                                             const struct bb_fence *fence);
/* Adds the next block, which follows the last one and takes stored_size bytes. */
BB_MUST_CHECK enum bb_status bb_index_page_builder_add_block(struct bb_index_page_builder *builder,
                                                             uint32_t stored_size);
/* Adds the head of the last block. */
BB_MUST_CHECK enum bb_status bb_index_page_builder_add_head(struct bb_index_page_builder *builder,
                                                            const struct bb_block_head *head);
/* Ends a filter group. Its blocks are those since the previous group, and its filters are built
 * from the keys in `filters`. */
BB_MUST_CHECK enum bb_status
bb_index_page_builder_add_group(struct bb_index_page_builder *builder,
                                struct bb_block_filter_builder *filters);

/* The approximate size of the page if it ended now, without the filters of the open group. */
size_t bb_index_page_builder_size_estimate(const struct bb_index_page_builder *builder);
/* Appends the page, with zeros instead of its checksums. *ret_filter_size is the size of its filter
 * area, including the checksum. */
BB_MUST_CHECK enum bb_status bb_index_page_builder_finish(struct bb_index_page_builder *builder,
                                                          struct bb_buf *pages, size_t *ret_size,
                                                          size_t *ret_filter_size);

/* Sets the checksums of a finished page that will be stored at page_offset. Returns its size. */
size_t bb_index_page_builder_seal(uint8_t *page, struct bb_table_id table, uint64_t page_offset);

#endif
