/* Builds one index page. index_page.h draws its bytes. One thread. */
#include "sstable/index/index_page_builder.h"

#include "base/assert.h"
#include "base/status.h"
#include "bloomblock/table/block_filter.h"

void bb_index_page_builder_init(struct bb_index_page_builder *builder,
                                const struct bb_comparator *comparator)
{
    *builder = (struct bb_index_page_builder){0};
    bb_fence_builder_init(&builder->fences, comparator);
}

void bb_index_page_builder_deinit(struct bb_index_page_builder *builder)
{
    bb_fence_builder_deinit(&builder->fences);
    bb_buf_deinit(&builder->sizes);
    bb_buf_deinit(&builder->head_ends);
    bb_buf_deinit(&builder->heads);
    bb_buf_deinit(&builder->shard_counts);
    bb_buf_deinit(&builder->descriptors);
    bb_buf_deinit(&builder->filters);
}

void bb_index_page_builder_start(struct bb_index_page_builder *builder, uint64_t base_offset)
{
    bb_fence_builder_reset(&builder->fences);
    bb_buf_reset(&builder->sizes);
    bb_buf_reset(&builder->head_ends);
    bb_buf_reset(&builder->heads);
    bb_buf_reset(&builder->shard_counts);
    bb_buf_reset(&builder->descriptors);
    bb_buf_reset(&builder->filters);
    builder->base_offset = base_offset;
    builder->data_size = 0;
    builder->block_count = 0;
    builder->group_count = 0;
    builder->shard_count = 0;
}

enum bb_status bb_index_page_builder_add_fence(struct bb_index_page_builder *builder,
                                               const struct bb_fence *fence)
{
    BB_ASSERT(builder->fences.count + 1 == builder->block_count);
    return bb_fence_builder_add(&builder->fences, fence);
}

enum bb_status bb_index_page_builder_add_block(struct bb_index_page_builder *builder,
                                               uint32_t stored_size)
{
    BB_ASSERT(builder->fences.count == builder->block_count &&
              builder->block_count < BB_PAGE_BLOCK_COUNT_MAX);
    enum bb_status status = bb_append_varint(&builder->sizes, stored_size);
    if (status == BB_OK)
        status = bb_append_u32(&builder->head_ends, (uint32_t)builder->heads.size);
    if (status != BB_OK)
        return status;
    builder->data_size += stored_size;
    builder->block_count++;
    BB_ASSERT(builder->data_size <= BB_PAGE_DATA_SIZE_MAX);
    return BB_OK;
}

enum bb_status bb_index_page_builder_add_head(struct bb_index_page_builder *builder,
                                              const struct bb_block_head *head)
{
    BB_ASSERT(builder->block_count > 0);
    uint8_t *end = builder->head_ends.data + builder->head_ends.size - sizeof(uint32_t);
    enum bb_status status = bb_block_head_encode(head, &builder->heads);
    if (status == BB_OK)
        bb_store32(end, (uint32_t)builder->heads.size);
    return status;
}

enum bb_status bb_index_page_builder_add_group(struct bb_index_page_builder *builder,
                                               struct bb_block_filter_builder *filters)
{
    uint32_t shards = 0;
    enum bb_status status =
        bb_block_filter_builder_finish(filters, &builder->descriptors, &builder->filters, &shards);
    if (status != BB_OK)
        return status;
    if (shards > UINT16_MAX - builder->shard_count)
        return bb_fail(BB_TOO_LARGE, "%u filters in one index page: the limit is %d",
                       builder->shard_count + shards, UINT16_MAX);
    builder->shard_count += shards;
    builder->group_count++;
    return bb_append_u16(&builder->shard_counts, (uint16_t)shards);
}

static bool is_sharded(const struct bb_index_page_builder *builder)
{
    return builder->shard_count > builder->group_count;
}

static size_t filter_area_size(const struct bb_index_page_builder *builder)
{
    size_t counts = is_sharded(builder) ? builder->shard_counts.size : 0;
    return counts + builder->descriptors.size + builder->filters.size;
}

static size_t heads_size(const struct bb_index_page_builder *builder)
{
    return builder->heads.size == 0 ? 0 : builder->head_ends.size + builder->heads.size;
}

size_t bb_index_page_builder_size_estimate(const struct bb_index_page_builder *builder)
{
    return BB_PAGE_HEADER_SIZE + builder->sizes.size + heads_size(builder) +
           bb_fence_builder_size_estimate(&builder->fences) + filter_area_size(builder) +
           2 * BB_CHECKSUM_SIZE;
}

static uint8_t flags_of(const struct bb_index_page_builder *builder)
{
    return (uint8_t)((is_sharded(builder) ? BB_PAGE_FLAG_SHARDED : 0) |
                     (builder->heads.size > 0 ? BB_PAGE_FLAG_HEADS : 0));
}

static void encode_header(const struct bb_index_page_builder *builder, size_t fence_size,
                          uint8_t *header)
{
    bb_store32(header, (uint32_t)fence_size);
    bb_store32(header + 4, (uint32_t)filter_area_size(builder));
    bb_store64(header + 8, builder->base_offset);
    bb_store16(header + 16, (uint16_t)builder->block_count);
    bb_store16(header + 18, (uint16_t)builder->group_count);
    bb_store16(header + 20, (uint16_t)builder->shard_count);
    header[22] = flags_of(builder);
    header[23] = 0;
}

/* Appends nothing if no block has a head. */
static enum bb_status append_heads(const struct bb_index_page_builder *builder, struct bb_buf *page)
{
    if (builder->heads.size == 0)
        return BB_OK;
    enum bb_status status = bb_buf_append(page, builder->head_ends.data, builder->head_ends.size);
    return status == BB_OK ? bb_buf_append(page, builder->heads.data, builder->heads.size) : status;
}

/* Appends header and fence area, with space for their checksum. */
static enum bb_status append_fences(const struct bb_index_page_builder *builder,
                                    struct bb_buf *pages)
{
    size_t start = pages->size;
    uint8_t *header = NULL;
    enum bb_status status = bb_buf_extend(pages, BB_PAGE_HEADER_SIZE, &header);
    if (status == BB_OK)
        status = bb_buf_append(pages, builder->sizes.data, builder->sizes.size);
    if (status == BB_OK)
        status = append_heads(builder, pages);
    if (status == BB_OK)
        status = bb_fence_builder_encode(&builder->fences, pages);
    if (status != BB_OK)
        return status;
    encode_header(builder, pages->size - start - BB_PAGE_HEADER_SIZE, pages->data + start);
    return bb_append_u64(pages, 0);
}

static enum bb_status append_filters(const struct bb_index_page_builder *builder,
                                     struct bb_buf *pages)
{
    enum bb_status status = BB_OK;
    if (is_sharded(builder))
        status = bb_buf_append(pages, builder->shard_counts.data, builder->shard_counts.size);
    if (status == BB_OK)
        status = bb_buf_append(pages, builder->descriptors.data, builder->descriptors.size);
    if (status == BB_OK)
        status = bb_buf_append(pages, builder->filters.data, builder->filters.size);
    return status == BB_OK ? bb_append_u64(pages, 0) : status;
}

enum bb_status bb_index_page_builder_finish(struct bb_index_page_builder *builder,
                                            struct bb_buf *pages, size_t *ret_size,
                                            size_t *ret_filter_size)
{
    BB_ASSERT(builder->block_count > 0);
    size_t start = pages->size;
    enum bb_status status = append_fences(builder, pages);
    size_t fences_end = pages->size;
    if (status == BB_OK && builder->group_count > 0)
        status = append_filters(builder, pages);
    if (status == BB_OK && pages->size - start > BB_PAGE_STORED_SIZE_MAX)
        status = bb_fail(BB_TOO_LARGE, "an index page of %zu bytes: the limit is %d",
                         pages->size - start, BB_PAGE_STORED_SIZE_MAX);
    if (status != BB_OK)
        return status;
    *ret_size = pages->size - start;
    *ret_filter_size = pages->size - fences_end;
    return BB_OK;
}

size_t bb_index_page_builder_seal(uint8_t *page, struct bb_table_id table, uint64_t page_offset)
{
    size_t fences_end = BB_PAGE_HEADER_SIZE + (size_t)bb_load32(page);
    size_t filters = fences_end + BB_CHECKSUM_SIZE;
    size_t filter_size = bb_load32(page + 4);
    bb_store64(page + fences_end,
               bb_checksum(table, BB_STORED_FENCES, page_offset, page, fences_end));
    if (filter_size == 0)
        return filters;
    bb_store64(
        page + filters + filter_size,
        bb_checksum(table, BB_STORED_FILTERS, page_offset + filters, page + filters, filter_size));
    return filters + filter_size + BB_CHECKSUM_SIZE;
}
