/* Reads and writes the root. See root.h. Threads: constant after init. */
#include "sstable/index/root.h"

#include "base/alloc.h"
#include "base/assert.h"

/* The minimum size of a page's entry in the section. It limits the number of pages, before memory
 * is allocated for them. */
#define PAGE_ENTRY_SIZE_MIN 3

void bb_root_builder_init(struct bb_root_builder *builder, const struct bb_comparator *comparator)
{
    *builder = (struct bb_root_builder){0};
    bb_fence_builder_init(&builder->fences, comparator);
}

void bb_root_builder_deinit(struct bb_root_builder *builder)
{
    bb_fence_builder_deinit(&builder->fences);
    bb_buf_deinit(&builder->pages);
}

enum bb_status bb_root_builder_add_fence(struct bb_root_builder *builder,
                                         const struct bb_fence *fence)
{
    BB_ASSERT(builder->fences.count + 1 == builder->page_count);
    return bb_fence_builder_add(&builder->fences, fence);
}

enum bb_status bb_root_builder_add_page(struct bb_root_builder *builder, uint64_t data_size,
                                        uint64_t page_size, uint32_t block_count)
{
    BB_ASSERT(builder->fences.count == builder->page_count);
    enum bb_status status = bb_append_varint(&builder->pages, data_size);
    if (status == BB_OK)
        status = bb_append_varint(&builder->pages, page_size);
    if (status == BB_OK)
        status = bb_append_varint(&builder->pages, block_count);
    if (status == BB_OK)
        builder->page_count++;
    return status;
}

enum bb_status bb_root_builder_encode(const struct bb_root_builder *builder, struct bb_buf *buf)
{
    BB_DEBUG_ASSERT(builder->page_count == 0 || builder->fences.count + 1 == builder->page_count);
    enum bb_status status = bb_append_varint(buf, builder->page_count);
    if (status == BB_OK)
        status = bb_buf_append(buf, builder->pages.data, builder->pages.size);
    if (status == BB_OK)
        status = bb_fence_builder_encode(&builder->fences, buf);
    return status;
}

static bool decode_page(struct bb_cursor *cursor, struct bb_root *root, struct bb_root_page *page)
{
    if (!bb_decode_varint32(cursor, &page->data_size) ||
        !bb_decode_varint32(cursor, &page->page_size) ||
        !bb_decode_varint32(cursor, &page->block_count))
        return false;
    if (page->block_count == 0 || page->block_count > BB_PAGE_BLOCK_COUNT_MAX)
        return false;
    if (page->page_size < BB_PAGE_HEADER_SIZE || page->page_size > BB_PAGE_STORED_SIZE_MAX)
        return false;
    page->data_offset = root->data_end;
    page->first_block = root->block_count;
    root->data_end += page->data_size;
    root->block_count += page->block_count;
    return true;
}

/* Places the pages of a group after its blocks. */
static void place_pages(struct bb_root *root, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++) {
        root->pages[i].page_offset = root->data_end;
        root->pages[i].group_begin = begin;
        root->data_end += root->pages[i].page_size;
    }
}

/* Page 0 has no fence; a table with only range tombstones has no pages. */
static uint32_t fence_count(const struct bb_root *root)
{
    return root->page_count == 0 ? 0 : root->page_count - 1;
}

static enum bb_status read_page_count(struct bb_root *root, struct bb_cursor *cursor,
                                      struct bb_place place)
{
    if (!bb_decode_varint32(cursor, &root->page_count) ||
        root->page_count > bb_cursor_left(cursor) / PAGE_ENTRY_SIZE_MIN)
        return bb_corrupt(place, 0, "a root of %zu bytes claims %u pages", root->text.size,
                          root->page_count);
    size_t pages_size = root->page_count * sizeof(*root->pages);
    size_t size = pages_size + bb_fence_index_memory(fence_count(root));
    root->memory = bb_alloc(size);
    if (root->memory == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a root of %zu bytes", size);
    root->memory_size = size + root->text.capacity;
    root->pages = root->memory;
    return BB_OK;
}

static enum bb_status read_pages(struct bb_root *root, uint64_t group_bytes,
                                 struct bb_cursor *cursor, struct bb_place place)
{
    uint32_t group_begin = 0;
    uint64_t size = 0; /* of the group's pages */
    for (uint32_t i = 0; i < root->page_count; i++) {
        size_t at = (size_t)(cursor->position - root->text.data);
        if (!decode_page(cursor, root, &root->pages[i]))
            return bb_corrupt(place, at, "entry %u of %u of the root is out of range", i,
                              root->page_count);
        size += root->pages[i].page_size;
        if (size < group_bytes && i + 1 < root->page_count)
            continue;
        place_pages(root, group_begin, i + 1);
        group_begin = i + 1;
        size = 0;
    }
    return BB_OK;
}

static enum bb_status read_root(struct bb_root *root, const struct bb_comparator *comparator,
                                uint64_t group_bytes, struct bb_place place)
{
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&root->text));
    enum bb_status status = read_page_count(root, &cursor, place);
    if (status == BB_OK)
        status = read_pages(root, group_bytes, &cursor, place);
    if (status != BB_OK)
        return status;
    const char *problem = NULL;
    bool is_list = bb_fence_index_init(&root->fences, comparator, &cursor, fence_count(root),
                                       root->pages + root->page_count, &problem);
    size_t at = (size_t)(cursor.position - root->text.data);
    if (!is_list)
        return bb_corrupt(place, at, "a root with %s", problem);
    if (bb_cursor_left(&cursor) > 0)
        return bb_corrupt(place, at, "%zu bytes after the fences of the root",
                          bb_cursor_left(&cursor));
    return BB_OK;
}

enum bb_status bb_root_init(struct bb_root *root, const struct bb_comparator *comparator,
                            uint64_t group_bytes, struct bb_buf *section, struct bb_place place)
{
    *root = (struct bb_root){.text = *section};
    *section = (struct bb_buf){0};
    enum bb_status status = read_root(root, comparator, group_bytes, place);
    if (status != BB_OK)
        bb_root_deinit(root);
    return status;
}

uint32_t bb_root_group_end(const struct bb_root *root, uint32_t index)
{
    uint32_t end = index + 1;
    BB_DEBUG_ASSERT(index < root->page_count);
    while (end < root->page_count && root->pages[end].group_begin == root->pages[index].group_begin)
        end++;
    return end;
}

void bb_root_deinit(struct bb_root *root)
{
    bb_free(root->memory);
    bb_buf_deinit(&root->text);
    *root = (struct bb_root){0};
}
