/* The root: fences and places of all index pages. In memory while the table is open.
 *
 *     section := varint pages | (varint data size | varint page size | varint blocks) per page
 *                | fence list of pages 1 ...
 *
 * Data size is the size of the page's blocks together. Consecutive pages are in groups. Groups fill
 * the file from offset 0 without a gap: the blocks of all pages of a group, then these pages:
 *
 *     blocks of page 0 | blocks of page 1 | page 0 | page 1 | blocks of page 2 | page 2 | sections
 *
 * A group ends with the page that brings the size of its pages to `group_bytes`, and with the last
 * page. So places are sums of sizes, and the sections start at the sum of all sizes. The fence of
 * page 0 is not stored, because page 0 is the first.
 * Threads: constant after init.
 */
#ifndef BB_SSTABLE_INDEX_ROOT_H
#define BB_SSTABLE_INDEX_ROOT_H

#include "base/status.h"
#include "sstable/index/fence_builder.h"
#include "sstable/index/fence_index.h"

struct bb_root_page {
    uint64_t data_offset; /* of its first block */
    uint64_t first_block; /* its number, counted over the table */
    uint64_t page_offset;
    uint32_t data_size; /* of its blocks */
    uint32_t page_size;
    uint32_t block_count;
    uint32_t group_begin; /* number of the first page of its group */
};

struct bb_root {
    uint32_t page_count;
    uint64_t block_count;
    uint64_t data_end; /* end of the last group */
    struct bb_root_page *pages;
    struct bb_fence_index fences;
    void *memory;       /* owned: pages and fences */
    struct bb_buf text; /* owned: the stored section */
    uint64_t memory_size;
};

/* Takes ownership of the stored section, also on failure. group_bytes is the table's property; 0:
 * each group has one page. Errors: BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_root_init(struct bb_root *root,
                                          const struct bb_comparator *comparator,
                                          uint64_t group_bytes, struct bb_buf *section,
                                          struct bb_place place);
void bb_root_deinit(struct bb_root *root);

/* The number of the page for the position (key, sequence). */
static inline uint32_t bb_root_find(const struct bb_root *root,
                                    const struct bb_comparator *comparator, struct bb_bytes key,
                                    uint64_t sequence)
{
    return bb_fence_index_find(&root->fences, comparator, key, sequence);
}

/* The end of the group that has page `index`. Pages group_begin ... end - 1 are contiguous in the
 * file. */
uint32_t bb_root_group_end(const struct bb_root *root, uint32_t index);

/* Call order: init (add_page (add_fence add_page)* encode) deinit. */
struct bb_root_builder {
    struct bb_fence_builder fences;
    struct bb_buf pages;
    uint64_t page_count;
};

void bb_root_builder_init(struct bb_root_builder *builder, const struct bb_comparator *comparator);
void bb_root_builder_deinit(struct bb_root_builder *builder);
BB_MUST_CHECK enum bb_status bb_root_builder_add_fence(struct bb_root_builder *builder,
                                                       const struct bb_fence *fence);
BB_MUST_CHECK enum bb_status bb_root_builder_add_page(struct bb_root_builder *builder,
                                                      uint64_t data_size, uint64_t page_size,
                                                      uint32_t block_count);
/* Appends the section. */
BB_MUST_CHECK enum bb_status bb_root_builder_encode(const struct bb_root_builder *builder,
                                                    struct bb_buf *buf);

#endif
