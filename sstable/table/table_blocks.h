/* The data blocks of a table by number, for readers that take a granule at a time. Consecutive
 * blocks are read from the file in one piece, bypassing the cache. With uses_map, blocks of a
 * mapped table are decoded from its map instead.
 *
 *     block     0   1   2 ... 63 | 64  65 ...        numbers, counted over the table
 *     page      0                  1
 *
 * Call order: init (load | find)* deinit. One thread per reader; a table can have any number of
 * readers.
 */
#ifndef BB_SSTABLE_TABLE_TABLE_BLOCKS_H
#define BB_SSTABLE_TABLE_TABLE_BLOCKS_H

#include "base/buf.h"
#include "sstable/build/table_observer.h"
#include "sstable/table/table.h"

/* Limit of one read in bytes; it always takes at least one whole block. */
#define BB_TABLE_BLOCKS_READ_MAX (256u * 1024)

struct bb_table_blocks {
    struct bb_table *table;     /* borrowed */
    uint64_t *first_blocks;     /* number of each page's first block, and the end; owned */
    struct bb_index_page *page; /* acquired; NULL if none */
    uint32_t page_index;
    struct bb_buf stored;       /* bytes of the file */
    uint64_t stored_offset;     /* their offset in the file */
    struct bb_block *block;     /* loaded last; one reference */
    bool uses_map;              /* false after init; the caller may set it before the first load */
    struct bb_read_stats stats; /* of index pages */
    uint64_t read_count;        /* preads of data blocks, and blocks decoded from the map */
    uint64_t read_bytes;
};

/* Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_table_blocks_init(struct bb_table_blocks *blocks,
                                                  struct bb_table *table);
void bb_table_blocks_deinit(struct bb_table_blocks *blocks);

static inline uint64_t bb_table_blocks_count(const struct bb_table_blocks *blocks)
{
    return blocks->table->root.block_count;
}

/* Loads block `number`, ready to be searched and borrowed until the next load or deinit. *ret_place
 * is its place in the file. The caller is about to load the blocks up to `end` (exclusive) too:
 * they are read in the same piece where they are adjacent. Errors: BB_CORRUPT, BB_IO, BB_NO_MEMORY.
 *
 * REQUIRES: number < end <= count.
 */
BB_MUST_CHECK enum bb_status bb_table_blocks_load(struct bb_table_blocks *blocks, uint64_t number,
                                                  uint64_t end, const struct bb_block **ret_block,
                                                  struct bb_place *ret_place);

/* The same for readers that move backward: the caller is about to load the blocks from `begin` on
 * too.
 *
 * REQUIRES: begin <= number < count.
 */
BB_MUST_CHECK enum bb_status bb_table_blocks_load_backward(struct bb_table_blocks *blocks,
                                                           uint64_t number, uint64_t begin,
                                                           const struct bb_block **ret_block,
                                                           struct bb_place *ret_place);

/* Announces to the system that the index page of a block will be read, unless it is in memory.
 * REQUIRES: number < count. */
void bb_table_blocks_announce_page(struct bb_table_blocks *blocks, uint64_t number);
/* The same for the data blocks begin ... end - 1: for their first read, and for the second one if
 * its index page is in memory. Loads the index page of `begin`; without it announces nothing.
 * REQUIRES: begin < end <= count. */
void bb_table_blocks_announce(struct bb_table_blocks *blocks, uint64_t begin, uint64_t end);

/* Passes every entry of the table to the observer. */
BB_MUST_CHECK enum bb_status bb_table_blocks_show(struct bb_table_blocks *blocks,
                                                  const struct bb_table_observer *observer);

/* Shows every entry of block `number`, as of block `shown_number`. Blocks up to `end` are shown
 * next. REQUIRES: number < end <= count. */
BB_MUST_CHECK enum bb_status bb_table_blocks_show_block(struct bb_table_blocks *blocks,
                                                        uint64_t number, uint64_t end,
                                                        uint64_t shown_number,
                                                        const struct bb_table_observer *observer);

/* *ret_number is the block of the newest version of the first key at or after `key`, or the block
 * before that one. REQUIRES: count > 0. */
BB_MUST_CHECK enum bb_status bb_table_blocks_find(struct bb_table_blocks *blocks,
                                                  struct bb_bytes key, uint64_t *ret_number);

#endif
