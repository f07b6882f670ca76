/* Filter groups, index pages and page groups of a table that is built. One thread. */
#include "base/assert.h"
#include "bloomblock/table/block_filter.h"
#include "sstable/build/table_builder.h"

enum bb_status bb_table_builder_finish_group(struct bb_table_builder *builder)
{
    BB_DEBUG_ASSERT(builder->filters != NULL);
    builder->group_blocks = 0;
    return bb_index_page_builder_add_group(&builder->page, builder->filters);
}

enum bb_status bb_table_builder_write_pages(struct bb_table_builder *builder)
{
    struct bb_buf *pages = &builder->pages;
    for (size_t at = 0; at < pages->size;)
        at +=
            bb_index_page_builder_seal(pages->data + at, builder->id, builder->writer.offset + at);
    enum bb_status status = bb_table_writer_append(&builder->writer, bb_buf_bytes(pages));
    bb_buf_reset(pages);
    return status;
}

/* A table in which each group has one page has no property, and versions before it can read it. */
static enum bb_status note_page(struct bb_table_builder *builder, size_t size)
{
    struct bb_properties *p = &builder->properties;
    if (builder->pages.size > size)
        p->page_group_bytes = builder->page_group_bytes;
    p->page_count++;
    p->index_size += size;
    return bb_root_builder_add_page(&builder->root, builder->page.data_size, size,
                                    builder->page.block_count);
}

enum bb_status bb_table_builder_finish_page(struct bb_table_builder *builder)
{
    BB_DEBUG_ASSERT(builder->page.block_count > 0);
    enum bb_status status = BB_OK;
    size_t size = 0;
    size_t filter_size = 0;
    if (builder->group_blocks > 0)
        status = bb_table_builder_finish_group(builder);
    if (status == BB_OK)
        status = bb_index_page_builder_finish(&builder->page, &builder->pages, &size, &filter_size);
    if (status == BB_OK)
        status = note_page(builder, size);
    builder->properties.filter_size += filter_size;
    if (status == BB_OK && builder->pages.size >= builder->page_group_bytes)
        status = bb_table_builder_write_pages(builder);
    bb_index_page_builder_start(&builder->page, builder->writer.offset);
    return status;
}

bool bb_table_builder_is_page_cut(const struct bb_table_builder *builder,
                                  const struct bb_fence *fence)
{
    const struct bb_index_page_builder *page = &builder->page;
    const struct bb_table_options *options = &builder->options;
    if (page->block_count == BB_PAGE_BLOCK_COUNT_MAX)
        return true;
    if (page->data_size >
        BB_PAGE_DATA_SIZE_MAX - (uint64_t)BB_BLOCK_RAW_SIZE_MAX - BB_BLOCK_TRAILER_SIZE)
        return true;
    size_t size = bb_index_page_builder_size_estimate(page);
    if (builder->group_blocks > 0)
        size += bb_block_filter_builder_size_estimate(builder->filters);
    if (size >= BB_PAGE_CUT_FACTOR * (size_t)options->index_page_size_bytes)
        return true;
    if (page->block_count < BB_PAGE_CUT_BLOCK_COUNT || size < BB_PAGE_CUT_SIZE)
        return false;
    /* The next block is expected to take as much space as the others. */
    bool is_full = page->block_count >= BB_PAGE_FULL_BLOCK_COUNT &&
                   size + size / page->block_count > options->index_page_size_bytes;
    return is_full || bb_fence_builder_collapses(&page->fences, fence);
}
