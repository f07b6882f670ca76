/* See table_blocks.h. */
#include "sstable/table/table_blocks.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "sstable/block/block_iter.h"
#include "sstable/block/stored_block.h"

/* Of a span: a short one seldom takes more, and the system reads ahead in a long one. */
#define ANNOUNCED_READS 2

enum bb_status bb_table_blocks_init(struct bb_table_blocks *blocks, struct bb_table *table)
{
    const struct bb_root *root = &table->root;
    *blocks = (struct bb_table_blocks){.table = table};
    blocks->first_blocks = bb_alloc_zeroed((size_t)root->page_count + 1, sizeof(uint64_t));
    if (blocks->first_blocks == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the places of %u index pages",
                       root->page_count);
    for (uint32_t i = 0; i < root->page_count; i++)
        blocks->first_blocks[i + 1] = blocks->first_blocks[i] + root->pages[i].block_count;
    return BB_OK;
}

static void leave_page(struct bb_table_blocks *blocks)
{
    if (blocks->page != NULL)
        bb_table_page_release(blocks->table, blocks->page);
    blocks->page = NULL;
}

static void drop_block(struct bb_table_blocks *blocks)
{
    bb_block_unref(blocks->block);
    blocks->block = NULL;
}

void bb_table_blocks_deinit(struct bb_table_blocks *blocks)
{
    leave_page(blocks);
    drop_block(blocks);
    bb_buf_deinit(&blocks->stored);
    bb_free(blocks->first_blocks);
    blocks->first_blocks = NULL;
}

static enum bb_status enter_page(struct bb_table_blocks *blocks, uint32_t index)
{
    if (blocks->page != NULL && blocks->page_index == index)
        return BB_OK;
    leave_page(blocks);
    blocks->page_index = index;
    return bb_table_page_acquire(blocks->table, index, &blocks->stats, &blocks->page);
}

/* The page of a block. */
static uint32_t page_of(const struct bb_table_blocks *blocks, uint64_t number)
{
    uint32_t low = 0;
    uint32_t high = blocks->table->root.page_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (blocks->first_blocks[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool is_stored(const struct bb_table_blocks *blocks, uint64_t offset, uint32_t size)
{
    uint64_t begin = blocks->stored_offset;
    return offset >= begin && offset + size <= begin + blocks->stored.size;
}

/* Consecutive bytes of the file. */
struct piece {
    uint64_t offset;
    size_t size;
    uint32_t blocks; /* that it has */
};

/* The block and the following ones of its page, up to block `end`. */
static struct piece piece_from(const struct bb_table_blocks *blocks, uint32_t ordinal, uint64_t end)
{
    uint64_t left = end - blocks->first_blocks[blocks->page_index];
    uint32_t last = (uint32_t)(left < blocks->page->block_count ? left : blocks->page->block_count);
    struct piece piece = {.offset = bb_index_page_block_offset(blocks->page, ordinal),
                          .size = bb_index_page_block_size(blocks->page, ordinal),
                          .blocks = 1};
    for (uint32_t i = ordinal + 1; i < last; i++) {
        size_t next = piece.size + bb_index_page_block_size(blocks->page, i);
        if (next > BB_TABLE_BLOCKS_READ_MAX)
            break;
        piece.size = next;
        piece.blocks++;
    }
    return piece;
}

/* The block and the preceding ones of its page, from block `begin` on. */
static struct piece piece_up_to(const struct bb_table_blocks *blocks, uint32_t ordinal,
                                uint64_t begin)
{
    uint64_t first = blocks->first_blocks[blocks->page_index];
    uint32_t lowest = begin > first ? (uint32_t)(begin - first) : 0;
    struct piece piece = {.offset = bb_index_page_block_offset(blocks->page, ordinal),
                          .size = bb_index_page_block_size(blocks->page, ordinal),
                          .blocks = 1};
    for (uint32_t i = ordinal; i > lowest; i--) {
        size_t next = piece.size + bb_index_page_block_size(blocks->page, i - 1);
        if (next > BB_TABLE_BLOCKS_READ_MAX)
            break;
        piece.offset = bb_index_page_block_offset(blocks->page, i - 1);
        piece.size = next;
        piece.blocks++;
    }
    return piece;
}

static enum bb_status read_piece(struct bb_table_blocks *blocks, struct piece piece)
{
    bb_buf_reset(&blocks->stored);
    enum bb_status status = bb_buf_reserve(&blocks->stored, piece.size);
    if (status != BB_OK)
        return status;
    blocks->read_count++;
    blocks->read_bytes += piece.size;
    status =
        bb_file_read_exactly(blocks->table->file, piece.offset, blocks->stored.data, piece.size);
    if (status == BB_OK) {
        blocks->stored.size = piece.size;
        blocks->stored_offset = piece.offset;
    }
    return status;
}

/* The bytes of the block at this place, which `stored` has. */
static const uint8_t *stored_at(const struct bb_table_blocks *blocks, struct bb_place place)
{
    return blocks->stored.data + (place.offset - blocks->stored_offset);
}

static enum bb_status check(const struct bb_table_blocks *blocks, uint32_t size,
                            struct bb_place place)
{
    return bb_stored_block_check(stored_at(blocks, place), size, blocks->table->id, place);
}

/* Makes sure that `stored` has the block's bytes, verified. The data may be damaged on the way from
 * the disk, so a block with a wrong checksum is read again separately. */
static enum bb_status have_stored(struct bb_table_blocks *blocks, uint32_t size, struct piece piece,
                                  struct bb_place place)
{
    enum bb_status status = BB_OK;
    if (!is_stored(blocks, place.offset, size))
        status = read_piece(blocks, piece);
    if (status == BB_OK)
        status = check(blocks, size, place);
    if (status != BB_CORRUPT)
        return status;
    status = read_piece(blocks, (struct piece){.offset = place.offset, .size = size});
    return status == BB_OK ? check(blocks, size, place) : status;
}

static enum bb_status decode_mapped(struct bb_table_blocks *blocks, uint32_t ordinal)
{
    struct bb_read_stats stats = {0};
    enum bb_status status = bb_table_block_take_mapped(blocks->table, blocks->page, ordinal, NULL,
                                                       true, &stats, &blocks->block);
    blocks->read_count += stats.block_reads;
    blocks->read_bytes += stats.block_read_bytes;
    return status;
}

static enum bb_status decode_read(struct bb_table_blocks *blocks, uint32_t ordinal,
                                  struct piece piece, struct bb_place place)
{
    struct bb_table *table = blocks->table;
    uint32_t size = bb_index_page_block_size(blocks->page, ordinal);
    enum bb_status status = have_stored(blocks, size, piece, place);
    return status == BB_OK
               ? bb_stored_block_copy(stored_at(blocks, place), size, bb_table_spares(table),
                                      table->comparator, place, &blocks->block)
               : status;
}

/* Loads a block of the current page, from the map or from the piece. */
static enum bb_status load(struct bb_table_blocks *blocks, uint32_t ordinal, struct piece piece,
                           const struct bb_block **ret_block, struct bb_place *ret_place)
{
    struct bb_place place =
        bb_table_place(blocks->table, bb_index_page_block_offset(blocks->page, ordinal));
    enum bb_status status = BB_OK;
    drop_block(blocks);
    if (blocks->uses_map)
        status = decode_mapped(blocks, ordinal);
    if (status == BB_OK && blocks->block == NULL)
        status = decode_read(blocks, ordinal, piece, place);
    if (status != BB_OK)
        return status;
    *ret_block = blocks->block;
    *ret_place = place;
    return BB_OK;
}

/* Enters the page of the block. */
static enum bb_status enter(struct bb_table_blocks *blocks, uint64_t number, uint32_t *ret_ordinal)
{
    enum bb_status status = enter_page(blocks, page_of(blocks, number));
    if (status == BB_OK)
        *ret_ordinal = (uint32_t)(number - blocks->first_blocks[blocks->page_index]);
    return status;
}

enum bb_status bb_table_blocks_load(struct bb_table_blocks *blocks, uint64_t number, uint64_t end,
                                    const struct bb_block **ret_block, struct bb_place *ret_place)
{
    uint32_t ordinal = 0;
    BB_ASSERT(number < end && end <= bb_table_blocks_count(blocks));
    enum bb_status status = enter(blocks, number, &ordinal);
    if (status != BB_OK)
        return status;
    return load(blocks, ordinal, piece_from(blocks, ordinal, end), ret_block, ret_place);
}

enum bb_status bb_table_blocks_load_backward(struct bb_table_blocks *blocks, uint64_t number,
                                             uint64_t begin, const struct bb_block **ret_block,
                                             struct bb_place *ret_place)
{
    uint32_t ordinal = 0;
    BB_ASSERT(begin <= number && number < bb_table_blocks_count(blocks));
    enum bb_status status = enter(blocks, number, &ordinal);
    if (status != BB_OK)
        return status;
    return load(blocks, ordinal, piece_up_to(blocks, ordinal, begin), ret_block, ret_place);
}

static bool has_page(const struct bb_table_blocks *blocks, uint32_t index)
{
    struct bb_index_page *page = bb_table_page_peek(blocks->table, index);
    if (page != NULL)
        bb_table_page_release(blocks->table, page);
    return page != NULL;
}

void bb_table_blocks_announce_page(struct bb_table_blocks *blocks, uint64_t number)
{
    const struct bb_table *table = blocks->table;
    uint32_t index = page_of(blocks, number);
    if (!has_page(blocks, index))
        bb_file_will_need(table->file, table->root.pages[index].page_offset,
                          table->root.pages[index].page_size);
}

void bb_table_blocks_announce(struct bb_table_blocks *blocks, uint64_t begin, uint64_t end)
{
    uint32_t ordinal = 0;
    uint64_t number = begin;
    BB_DEBUG_ASSERT(begin < end && end <= bb_table_blocks_count(blocks));
    for (int reads = 0; reads < ANNOUNCED_READS && number < end; reads++) {
        bool waits = reads > 0 && !has_page(blocks, page_of(blocks, number));
        if (waits || enter(blocks, number, &ordinal) != BB_OK)
            return;
        struct piece piece = piece_from(blocks, ordinal, end);
        bb_file_will_need(blocks->table->file, piece.offset, piece.size);
        number += piece.blocks;
    }
}

enum bb_status bb_table_blocks_find(struct bb_table_blocks *blocks, struct bb_bytes key,
                                    uint64_t *ret_number)
{
    struct bb_table *table = blocks->table;
    BB_ASSERT(table->root.page_count > 0);
    uint32_t index = bb_root_find(&table->root, table->comparator, key, BB_SEQUENCE_MAX);
    enum bb_status status = enter_page(blocks, index);
    if (status != BB_OK)
        return status;
    *ret_number = blocks->first_blocks[index] +
                  bb_index_page_find(blocks->page, table->comparator, key, BB_SEQUENCE_MAX);
    return BB_OK;
}

static enum bb_status show_entries(struct bb_table_blocks *blocks, const struct bb_block *block,
                                   struct bb_place place, uint64_t number,
                                   const struct bb_table_observer *observer)
{
    struct bb_block_iter iter;
    enum bb_status status = BB_OK;
    bb_block_iter_init(&iter, blocks->table->comparator);
    bb_block_iter_reset(&iter, block, place);
    bb_block_iter_seek_first(&iter);
    while (iter.is_valid && status == BB_OK) {
        status = observer->add(observer->context, &iter.entry, number);
        if (status == BB_OK)
            bb_block_iter_next(&iter);
    }
    if (status == BB_OK)
        status = iter.status;
    bb_block_iter_deinit(&iter);
    return status;
}

enum bb_status bb_table_blocks_show_block(struct bb_table_blocks *blocks, uint64_t number,
                                          uint64_t end, uint64_t shown_number,
                                          const struct bb_table_observer *observer)
{
    BB_DEBUG_ASSERT(number < end && end <= bb_table_blocks_count(blocks));
    const struct bb_block *block = NULL;
    struct bb_place place = {0};
    enum bb_status status = bb_table_blocks_load(blocks, number, end, &block, &place);
    return status == BB_OK ? show_entries(blocks, block, place, shown_number, observer) : status;
}

enum bb_status bb_table_blocks_show(struct bb_table_blocks *blocks,
                                    const struct bb_table_observer *observer)
{
    uint64_t count = bb_table_blocks_count(blocks);
    enum bb_status status = BB_OK;
    for (uint64_t number = 0; number < count && status == BB_OK; number++)
        status = bb_table_blocks_show_block(blocks, number, count, number, observer);
    return status;
}
