/* See table_range.h. */
#include "tools/store/table_range.h"

#include "base/buf.h"
#include "base/bytes.h"

enum bb_status table_page_range(const struct bb_table *table, uint32_t page_index,
                                struct bb_buf *first, struct bb_buf *end)
{
    /* The fence of page i + 1 has number i: page 0 has no fence before it. */
    enum bb_status status = page_index == 0
                                ? bb_buf_assign(first, bb_buf_bytes(&table->meta.smallest))
                                : bb_fence_index_key(&table->root.fences, page_index - 1, first);
    if (status != BB_OK)
        return status;
    return page_index + 1 == table->root.page_count
               ? bb_buf_assign(end, bb_buf_bytes(&table->meta.largest))
               : bb_fence_index_key(&table->root.fences, page_index, end);
}

enum bb_status table_block_range(const struct bb_table_walk *walk, struct bb_buf *first,
                                 struct bb_buf *end)
{
    enum bb_status status = table_page_range(walk->table, walk->page_index, first, end);
    if (status == BB_OK && walk->has_fence)
        status = bb_buf_assign(first, bb_buf_bytes(&walk->fence_key));
    if (status == BB_OK && walk->ordinal + 1 < walk->page->block_count)
        status = bb_fence_index_key(&walk->page->fences, walk->ordinal, end);
    return status;
}
