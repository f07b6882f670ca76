/* An index page: fences, places and filters of up to 64 consecutive blocks.
 *
 * It is stored after the blocks of its group (root.h) and read in one piece:
 *
 *     header  0  u32  size of the fence area
 *             4  u32  size of the filter area without its checksum; 0: neither exists
 *             8  u64  offset of the first block in the file
 *            16  u16  blocks
 *            18  u16  filter groups
 *            20  u16  filters of all groups ("shards")
 *            22  u8   flags: bit 0: some group does not have exactly one shard; bit 1: heads
 *            23  u8   0
 *     fence area      varint stored size of each block
 *                     | [u32 end of the head of each block | heads (block_head.h), if flag bit 1]
 *                     | fence list of blocks 1 ... (fence.h)
 *     u64 checksum    of header and fence area
 *     filter area     [u16 shards of each group, if flag bit 0]
 *                     | u16 descriptor of each shard | payloads
 *     u64 checksum    of the filter area
 *
 * The blocks are contiguous, from the header's offset. The fence of block 0 is in the root. A group
 * is `granularity` consecutive blocks of the page; the last may have fewer. The descriptors before
 * a payload determine where it starts.
 *
 * Damage in the filter area costs only the filters: the page then returns maybe for every key.
 *
 * In memory a page is one allocation, 64-byte aligned: native arrays first, then the stored fences,
 * then the filters with BB_FILTER_PAD_BYTES after them. The BB_FILTER_LEAD_BYTES before the filters
 * are other parts of the page. WHY not aligned to 4096 bytes: such pages map to the same cache sets
 * (measured: 20 % slower). Threads: constant after load.
 */
#ifndef BB_SSTABLE_INDEX_INDEX_PAGE_H
#define BB_SSTABLE_INDEX_INDEX_PAGE_H

#include "base/assert.h"
#include "base/large_pages.h"
#include "base/status.h"
#include "bloomblock/table/block_filter.h"
#include "sstable/block/block_cache.h"
#include "sstable/checksum.h"
#include "sstable/index/block_head.h"
#include "sstable/index/fence_index.h"

#define BB_CACHE_LINE_SIZE 64
/* The struct from its hot line on, and four arrays for 64 blocks: places of filters, descriptors,
 * places of blocks, numbers of fences. */
#define BB_PAGE_PREFETCH_LINES 21

struct bb_index_page {
    struct bb_cache_item item; /* must be first */
    /* The memory of the page; borrowed. NULL: the allocator. */
    struct bb_large_pages *memory;

    /* One cache line with all that a negative answer of a filter reads, including the first fields
     * of the fences. */
    _Alignas(BB_CACHE_LINE_SIZE) uint8_t *filters;
    uint32_t *shard_offsets; /* offsets in filters; one more than shards */
    uint16_t *descriptors;
    /* First shard of each group, one more than groups. NULL: one shard per group. */
    uint16_t *group_shards;
    uint32_t granularity;
    bool has_filters;         /* there are filters, and they are usable */
    bool has_damaged_filters; /* there should be filters, but they are not usable */
    struct bb_fence_index fences;

    uint32_t *block_ends; /* end of each block, relative to base_offset */
    uint64_t base_offset;
    uint32_t block_count;
    uint32_t group_count;
    uint32_t shard_count;
    uint32_t filter_area_size; /* as stored, with its checksum */
    uint64_t first_block;      /* number of block 0, counted over the table; set by the reader */
    const uint8_t *heads;      /* with their ends, as stored; NULL: no block has a head */
    uint32_t heads_offset;     /* in the stored page */
};

static_assert(sizeof(struct bb_index_page) - sizeof(struct bb_cache_item) >= BB_FILTER_LEAD_BYTES,
              "probes may read the struct before the first filter, but not its item");
static_assert(offsetof(struct bb_index_page, fences) % BB_CACHE_LINE_SIZE +
                      offsetof(struct bb_fence_index, common) <=
                  BB_CACHE_LINE_SIZE,
              "a negative answer reads one line");

/* Prefetches the lines that a search touches: the fields above, and the arrays after them. Without
 * this the binary search would miss on one line after the other. (Measured over 2,285 pages in a
 * shared third-level cache: a third less time per absent key.) */
static inline void bb_index_page_prefetch(const struct bb_index_page *page)
{
    const char *line = (const char *)page + offsetof(struct bb_index_page, filters);
    for (size_t i = 0; i < BB_PAGE_PREFETCH_LINES; i++)
        __builtin_prefetch(line + i * BB_CACHE_LINE_SIZE);
}

/* The context for reading a page. */
struct bb_index_page_reading {
    const struct bb_comparator *comparator;
    const struct bb_block_filter_format *filter_format; /* NULL: filters are not used */
    uint32_t granularity;
    struct bb_table_id table;
    struct bb_place place; /* of the page */
    /* Memory for the page, which must outlive the page. NULL: the allocator. */
    struct bb_large_pages *memory;
};

/* Reads a stored page. One reference, owned. Errors: BB_CORRUPT for damage outside the filter
 * area. */
BB_MUST_CHECK enum bb_status bb_index_page_decode(const struct bb_index_page_reading *reading,
                                                  struct bb_bytes stored,
                                                  struct bb_index_page **ret_page);
static inline void bb_index_page_unref(struct bb_index_page *page)
{
    if (page != NULL)
        bb_block_cache_item_unref(&page->item);
}

/* The ordinal of the block for the position (key, sequence). */
static inline uint32_t bb_index_page_find(const struct bb_index_page *page,
                                          const struct bb_comparator *comparator,
                                          struct bb_bytes key, uint64_t sequence)
{
    return bb_fence_index_find(&page->fences, comparator, key, sequence);
}

static inline uint64_t bb_index_page_block_offset(const struct bb_index_page *page,
                                                  uint32_t ordinal)
{
    return page->base_offset + (ordinal == 0 ? 0 : page->block_ends[ordinal - 1]);
}

/* Stored bytes of a block, trailer included: more than BB_BLOCK_TRAILER_SIZE. */
static inline uint32_t bb_index_page_block_size(const struct bb_index_page *page, uint32_t ordinal)
{
    BB_DEBUG_ASSERT(ordinal < page->block_count);
    return page->block_ends[ordinal] - (ordinal == 0 ? 0 : page->block_ends[ordinal - 1]);
}

/* The end of a block's head in the stored heads. */
static inline uint32_t bb_index_page_head_end(const struct bb_index_page *page, uint32_t ordinal)
{
    BB_DEBUG_ASSERT(ordinal < page->block_count && page->heads != NULL);
    return bb_load32(page->heads + ordinal * sizeof(uint32_t));
}

static inline uint32_t bb_index_page_head_begin(const struct bb_index_page *page, uint32_t ordinal)
{
    return ordinal == 0 ? 0 : bb_index_page_head_end(page, ordinal - 1);
}

/* True when the block has a head. */
static inline bool bb_index_page_has_head(const struct bb_index_page *page, uint32_t ordinal)
{
    return page->heads != NULL &&
           bb_index_page_head_begin(page, ordinal) != bb_index_page_head_end(page, ordinal);
}

/* The offset of a block's head in the stored page. */
static inline uint64_t bb_index_page_head_offset(const struct bb_index_page *page, uint32_t ordinal)
{
    return page->heads_offset + page->block_count * sizeof(uint32_t) +
           bb_index_page_head_begin(page, ordinal);
}

/* Reads the head of a block. Its key is borrowed from the page. place: of the page. WHY not when
 * the page is read: lookups use no heads, and reading a page would take a third longer. Errors:
 * BB_CORRUPT. REQUIRES: has_head. */
BB_MUST_CHECK enum bb_status bb_index_page_head(const struct bb_index_page *page, uint32_t ordinal,
                                                struct bb_place place,
                                                struct bb_block_head *ret_head);

static inline uint32_t bb_index_page_group(const struct bb_index_page *page, uint32_t ordinal)
{
    return page->granularity == 1 ? ordinal : ordinal / page->granularity;
}

/* The first shard of a group. *ret_count is the number of its shards. REQUIRES: has_filters. */
static inline uint32_t bb_index_page_group_shards(const struct bb_index_page *page, uint32_t group,
                                                  uint32_t *ret_count)
{
    BB_DEBUG_ASSERT(page->has_filters);
    if (page->group_shards == NULL) {
        *ret_count = 1;
        return group;
    }
    *ret_count = (uint32_t)page->group_shards[group + 1] - page->group_shards[group];
    return page->group_shards[group];
}

/* Probes the block's filter. True when it returns maybe, or when no usable filter exists. */
bool bb_index_page_may_contain(const struct bb_index_page *page,
                               const struct bb_block_filter_format *format, uint32_t ordinal,
                               struct bb_block_filter_key key);

#endif
