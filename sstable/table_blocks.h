/* The data blocks of a table by number, for readers that take a granule at a time: consecutive
 * blocks are read from the file in one piece, and go past the cache.
 *
 *     block     0   1   2 ... 63 | 64  65 ...        numbers, counted over the table
 *     page      0                  1
 *
 * Call order: init (load | find)* deinit. One thread; any number of readers of one table.
 */
#ifndef BB_SSTABLE_TABLE_BLOCKS_H
#define BB_SSTABLE_TABLE_BLOCKS_H

#include "base/buf.h"
#include "sstable/table.h"
#include "sstable/table_observer.h"

/* One read takes at most so many bytes, but always a whole block. */
#define BB_TABLE_BLOCKS_READ_MAX (256u * 1024)

struct bb_table_blocks {
    struct bb_table *table;     /* borrowed */
    uint64_t *first_blocks;     /* number of each page's first block, and the end; owned */
    struct bb_index_page *page; /* acquired; NULL: none */
    uint32_t page_index;
    struct bb_buf stored;       /* bytes of the file */
    uint64_t stored_offset;     /* where they begin there */
    struct bb_block *block;     /* loaded last; one reference */
    struct bb_read_stats stats; /* of index pages */
    uint64_t read_count;        /* preads of data blocks */
    uint64_t read_bytes;
};

/* BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_table_blocks_init(struct bb_table_blocks *blocks,
                                                  struct bb_table *table);
void bb_table_blocks_deinit(struct bb_table_blocks *blocks);

static inline uint64_t bb_table_blocks_count(const struct bb_table_blocks *blocks)
{
    return blocks->table->root.block_count;
}

/* Block `number`, searchable, borrowed until the next load or deinit; *ret_place is where it is in
 * the file. Blocks up to `end` (exclusive) are about to be loaded too: they are read in the same
 * piece as far as they follow in the file. BB_CORRUPT, BB_IO, BB_NO_MEMORY.
 * REQUIRES: number < end <= count. */
BB_MUST_CHECK enum bb_status bb_table_blocks_load(struct bb_table_blocks *blocks, uint64_t number,
                                                  uint64_t end, const struct bb_block **ret_block,
                                                  struct bb_place *ret_place);

/* The same for readers that go back: blocks from `begin` on are about to be loaded too.
 * REQUIRES: begin <= number < count. */
BB_MUST_CHECK enum bb_status bb_table_blocks_load_backward(struct bb_table_blocks *blocks,
                                                           uint64_t number, uint64_t begin,
                                                           const struct bb_block **ret_block,
                                                           struct bb_place *ret_place);

/* Shows every entry of the table. */
BB_MUST_CHECK enum bb_status bb_table_blocks_show(struct bb_table_blocks *blocks,
                                                  const struct bb_table_observer *observer);

/* Shows every entry of block `number`, as of block `shown_number`. Blocks up to `end` are about to be
 * shown too. REQUIRES: number < end <= count. */
BB_MUST_CHECK enum bb_status bb_table_blocks_show_block(struct bb_table_blocks *blocks,
                                                        uint64_t number, uint64_t end,
                                                        uint64_t shown_number,
                                                        const struct bb_table_observer *observer);

/* Number of the block where the newest version of the first key at or after `key` is, or of the one
 * before it. REQUIRES: count > 0. */
BB_MUST_CHECK enum bb_status bb_table_blocks_find(struct bb_table_blocks *blocks,
                                                  struct bb_bytes key, uint64_t *ret_number);

#endif
