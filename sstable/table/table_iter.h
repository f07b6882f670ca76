/* An iterator over a table, or part of one, in memory of the caller. bb_table_iter_create makes one
 * on the heap. */
#ifndef BB_SSTABLE_TABLE_TABLE_ITER_H
#define BB_SSTABLE_TABLE_TABLE_ITER_H

#include "bb/table.h"
#include "sstable/block/block_iter.h"
#include "sstable/table/table.h"
#include "sstable/table/table_ahead.h"

/* Private to table_iter.c and table_iter_block.c, except base. */
struct bb_table_iter {
    struct bb_iter base; /* must be first */
    struct bb_table *table;
    struct bb_read_options options;
    struct bb_key_range range;
    struct bb_read_stats *stats; /* never NULL */
    uint32_t page_index;
    uint32_t ordinal;
    struct bb_index_page *page; /* acquired; NULL if none */
    struct bb_block *block;     /* one reference; NULL if none */
    struct bb_block *stored;    /* its stored form, if that is kept; else NULL */
    bool keeps_stored;
    bool skips_values; /* a head is shown instead of its block */
    bool is_at_head;   /* entries shows head, that of block `ordinal`. block is NULL. */
    bool uses_map;     /* large blocks are used where they are in the table's map, which exists */
    bool is_in_map;    /* block is used there */
    bool reads_ahead;
    /* The cache does not have block `ordinal`, and is_wanted is its judgement. block is NULL. */
    bool is_judged;
    bool is_wanted;
    bool is_near; /* page and ordinal are those of the seek that follows: bb_table_iter_approach */
    struct bb_block_head head;
    struct bb_table_ahead ahead;
    struct bb_block_iter entries;
    struct bb_read_stats own_stats; /* set if the caller has none */
};

/* Like bb_table_iter_create, but reads no index page and no block that is entirely outside the
 * range: moves end at its borders. seek_first and seek_last go to the ends of the range. Entries
 * outside the range may still appear when they share a block with entries inside: the caller
 * compares keys. range is borrowed while the iterator lives; NULL: everything. options and stats
 * may be NULL. The iterator must not be copied or moved. Released by bb_table_iter_deinit, not
 * bb_iter_destroy.
 *
 * In a mapped table, a large value is shown where it is, and may be lost while the caller reads it.
 * The next step (next or prev) then fails with BB_IO; bb_table_check_shown reports it before. */
void bb_table_iter_init(struct bb_table_iter *iter, struct bb_table *table,
                        const struct bb_read_options *options, const struct bb_key_range *range,
                        struct bb_read_stats *stats);
void bb_table_iter_deinit(struct bb_table_iter *iter);

/* Makes the iterator keep the stored form (sstable/block/stored_entry.h) of entries that fill a
 * separate large block, for callers that copy entries into another table. REQUIRES: the iterator is
 * over a table. */
void bb_table_iter_keep_stored(struct bb_iter *iter);

/* Makes the iterator use heads instead of their blocks. The caller uses no values: entries of heads
 * have empty ones. Call before the first move. REQUIRES: the iterator is over a table. */
void bb_table_iter_skip_values(struct bb_iter *iter);

/* sstable/approach.h. REQUIRES: the iterator is over a table. */
bool bb_table_iter_approach(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence,
                            unsigned step);

/* True when everything after a fence is above the range. */
static inline bool bb_table_iter_is_high_before(const struct bb_table_iter *iter,
                                                const struct bb_fence_index *fences, uint32_t fence)
{
    return iter->range.high != NULL &&
           bb_fence_index_compare(fences, fence, iter->table->comparator, *iter->range.high,
                                  BB_SEQUENCE_MAX) >= 0;
}

/* table_iter_block.c: enters and leaves the block `ordinal` of the iterator's page, or its head.
 * pass enters the block after the current one, and may read ahead. Errors: as bb_table_block_load;
 * BB_CORRUPT if the block and its head differ. show sets entries to the block. */
BB_MUST_CHECK enum bb_status bb_table_iter_block_enter(struct bb_table_iter *iter,
                                                       uint32_t ordinal);
BB_MUST_CHECK enum bb_status bb_table_iter_block_pass(struct bb_table_iter *iter, uint32_t ordinal);
void bb_table_iter_block_leave(struct bb_table_iter *iter);
void bb_table_iter_block_show(struct bb_table_iter *iter);
/* Move entries within the block that was entered, like the functions of bb_block_iter. */
void bb_table_iter_block_seek_first(struct bb_table_iter *iter);
void bb_table_iter_block_seek_last(struct bb_table_iter *iter);
void bb_table_iter_block_seek(struct bb_table_iter *iter, struct bb_bytes key, uint64_t sequence);
/* The last block of the iterator's page that is not entirely above the range. If a fence equals the
 * end of the range, the block after it has no entries in the range. */
uint32_t bb_table_iter_block_last(const struct bb_table_iter *iter);
/* Whether enter shows the block's head instead. */
static inline bool bb_table_iter_block_is_skipped(const struct bb_table_iter *iter,
                                                  uint32_t ordinal)
{
    return iter->skips_values && bb_index_page_has_head(iter->page, ordinal);
}
/* Whether enter tries to use the block where it is in the table's map. */
bool bb_table_iter_block_may_be_in_map(const struct bb_table_iter *iter, uint32_t ordinal);

#endif
