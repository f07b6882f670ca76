/* See table_ahead.h. */
#include "sstable/table/table_ahead.h"

#include "base/assert.h"
#include "base/counter.h"

/* The first blocks that an iterator passes are read one by one. */
#define PASSED_MIN 2

void bb_table_ahead_deinit(struct bb_table_ahead *ahead)
{
    bb_buf_deinit(&ahead->piece);
}

const uint8_t *bb_table_ahead_find(const struct bb_table_ahead *ahead,
                                   const struct bb_index_page *page, uint32_t ordinal)
{
    uint64_t begin = bb_index_page_block_offset(page, ordinal);
    uint64_t end = begin + bb_index_page_block_size(page, ordinal);
    bool is_inside = begin >= ahead->offset && end <= ahead->offset + ahead->piece.size;
    return is_inside ? ahead->piece.data + (begin - ahead->offset) : NULL;
}

bool bb_table_ahead_wants(const struct bb_table_ahead *ahead, const struct bb_index_page *page,
                          uint32_t ordinal)
{
    return ahead->passed >= PASSED_MIN && bb_table_ahead_find(ahead, page, ordinal) == NULL;
}

/* The size of the next blocks: as many as were passed, but at least one. */
static size_t size_of_piece(const struct bb_table_ahead *ahead, const struct bb_index_page *page,
                            uint32_t ordinal, uint32_t last)
{
    size_t size = bb_index_page_block_size(page, ordinal);
    for (uint32_t i = ordinal + 1; i <= last && i - ordinal < ahead->passed; i++) {
        uint32_t next = bb_index_page_block_size(page, i);
        if (next > BB_BLOCK_SCRATCH_SIZE || size + next > BB_TABLE_AHEAD_MAX)
            break;
        size += next;
    }
    return size;
}

enum bb_status bb_table_ahead_read(struct bb_table_ahead *ahead, struct bb_table *table,
                                   const struct bb_index_page *page, uint32_t ordinal,
                                   uint32_t last, struct bb_read_stats *stats)
{
    BB_DEBUG_ASSERT(ordinal < page->block_count && last < page->block_count);
    size_t size = size_of_piece(ahead, page, ordinal, last);
    bb_buf_reset(&ahead->piece);
    ahead->offset = bb_index_page_block_offset(page, ordinal);
    enum bb_status status = bb_buf_reserve(&ahead->piece, size);
    if (status != BB_OK)
        return status;
    bb_counter_add(&stats->block_read_bytes, size);
    status = bb_file_read_exactly(table->file, ahead->offset, ahead->piece.data, size);
    ahead->piece.size = status == BB_OK ? size : 0;
    return status;
}
