/* The position of a key in a table's file, which is the position of its block: bounds -> root ->
 * index page; and the key in the middle. Any thread. */
#include "sstable/table/table.h"

/* Of the pages of its group that describe blocks before those of page `index`. */
static uint64_t size_of_earlier_pages(const struct bb_root *root, uint32_t index)
{
    const struct bb_root_page *page = &root->pages[index];
    return page->page_offset - root->pages[page->group_begin].page_offset;
}

/* The size of all blocks before the block for the first entry of key, and of their index pages. */
static enum bb_status find_block(struct bb_table *table, struct bb_bytes key,
                                 struct bb_read_stats *stats, uint64_t *ret_offset)
{
    struct bb_index_page *page = NULL;
    uint32_t index = bb_root_find(&table->root, table->comparator, key, BB_SEQUENCE_MAX);
    enum bb_status status = bb_table_page_acquire(table, index, stats, &page);
    if (status != BB_OK)
        return status;
    uint32_t ordinal = bb_index_page_find(page, table->comparator, key, BB_SEQUENCE_MAX);
    *ret_offset =
        bb_index_page_block_offset(page, ordinal) + size_of_earlier_pages(&table->root, index);
    bb_table_page_release(table, page);
    return BB_OK;
}

static bool is_after(const struct bb_table *table, struct bb_bytes key)
{
    int order = bb_key_compare(table->comparator, key, table->bounds.largest);
    return order > 0 || (order == 0 && table->bounds.largest_is_exclusive);
}

enum bb_status bb_table_offset(struct bb_table *table, struct bb_bytes key,
                               struct bb_read_stats *stats, uint64_t *ret_offset)
{
    struct bb_read_stats unwanted = {0};
    uint64_t offset = 0;
    if (bb_key_compare(table->comparator, key, table->bounds.smallest) <= 0) {
        *ret_offset = 0;
        return BB_OK;
    }
    if (table->root.page_count == 0 || is_after(table, key)) {
        *ret_offset = table->file_size;
        return BB_OK;
    }
    enum bb_status status = find_block(table, key, stats == NULL ? &unwanted : stats, &offset);
    if (status != BB_OK)
        return status;
    /* The sections after the pages are shared by all blocks in proportion. */
    double share = (double)offset / (double)table->root.data_end;
    uint64_t sections = table->file_size - table->root.data_end;
    *ret_offset = offset + (uint64_t)(share * (double)sections);
    return BB_OK;
}

enum bb_status bb_table_middle_key(const struct bb_table *table, struct bb_bytes after,
                                   struct bb_buf *ret_key)
{
    const struct bb_root *root = &table->root;
    bb_buf_reset(ret_key);
    if (root->page_count == 0)
        return BB_OK;
    uint32_t first = bb_root_find(root, table->comparator, after, BB_SEQUENCE_MAX);
    uint32_t middle = first + (root->page_count - first) / 2;
    return middle == first ? BB_OK : bb_fence_index_key(&root->fences, middle - 1, ret_key);
}
