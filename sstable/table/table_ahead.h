/* Blocks that an iterator reads ahead: as many as it has passed in a row, in one piece.
 *
 *     blocks   0 | 1 | 2 3 | 4 5 6 7 | 8 ...     the reads of a scan that begins at block 0
 *
 * WHY: a system call takes a third of the time of reading a small block from the page cache. A
 * range query that passes few blocks reads one at a time. A scan needs at least half of the bytes
 * that it reads, unless the cache has some of the blocks. A piece ends with the index page of its
 * blocks, and before a large block, which the iterator reads separately. One thread.
 */
#ifndef BB_SSTABLE_TABLE_TABLE_AHEAD_H
#define BB_SSTABLE_TABLE_TABLE_AHEAD_H

#include "base/buf.h"
#include "sstable/table/table.h"

/* Limit of a piece in bytes. */
#define BB_TABLE_AHEAD_MAX (32u * 1024)

/* Zeroed: empty. */
struct bb_table_ahead {
    struct bb_buf piece; /* bytes of the file, not verified */
    uint64_t offset;     /* of the piece in the file */
    uint32_t passed;     /* blocks that the iterator has passed in a row; set by the iterator */
};

void bb_table_ahead_deinit(struct bb_table_ahead *ahead);

/* Whether the block has to be read, and should be read with blocks after it. */
bool bb_table_ahead_wants(const struct bb_table_ahead *ahead, const struct bb_index_page *page,
                          uint32_t ordinal);
/* Reads the block, and blocks after it up to `last`. stats counts the bytes, and not the blocks.
 * Errors: BB_IO, BB_CORRUPT (the file is too short), BB_NO_MEMORY.
 * REQUIRES: both are blocks of the page. A last block before this one counts as this one. */
BB_MUST_CHECK enum bb_status bb_table_ahead_read(struct bb_table_ahead *ahead,
                                                 struct bb_table *table,
                                                 const struct bb_index_page *page, uint32_t ordinal,
                                                 uint32_t last, struct bb_read_stats *stats);
/* The stored bytes of the block, not verified, and borrowed until the next read. NULL: the piece
 * does not have them. */
const uint8_t *bb_table_ahead_find(const struct bb_table_ahead *ahead,
                                   const struct bb_index_page *page, uint32_t ordinal);

#endif
