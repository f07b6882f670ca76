/* Walks over the blocks of an open table in file order, each with its place, fence and filters from
 * its index page. For tools and verification; lookups do not use it.
 *
 *     bb_table_walk_init(&walk, table);
 *     while ((status = bb_table_walk_next(&walk, &has_block)) == BB_OK && has_block) {
 *         ...                                   // walk.block_number, walk.offset, walk.fence_key
 *         status = bb_table_walk_load(&walk);   // only to read the entries
 *         for (; walk.entries.is_valid; bb_block_iter_next(&walk.entries))
 *             ...
 *     }
 *     bb_table_walk_deinit(&walk);
 *
 * All reads are from the file and bypass the page slots and the block cache. After a failure of
 * next or load the walk can continue: bb_table_walk_next then moves to the page or block after the
 * damage. One thread.
 */
#ifndef BB_SSTABLE_TABLE_TABLE_WALK_H
#define BB_SSTABLE_TABLE_TABLE_WALK_H

#include "sstable/block/block_iter.h"
#include "sstable/table/table.h"

struct bb_table_walk {
    struct bb_table *table; /* borrowed */
    struct bb_read_stats stats;

    uint32_t page_index; /* of the current page */
    struct bb_index_page *page;

    /* The current block, as its page describes it. */
    uint32_t ordinal;
    uint64_t block_number; /* counted over the table, including damaged pages */
    uint64_t offset;
    uint32_t stored_size; /* trailer included */
    bool has_fence;       /* false for the table's first block */
    struct bb_buf fence_key;
    uint64_t fence_sequence;
    uint32_t group;        /* filter group within the page */
    uint32_t group_blocks; /* number of blocks of the group */
    uint32_t shard_count;  /* number of filters of the group; 0 if none */

    /* Set by load. */
    enum bb_compression compression;
    uint32_t raw_size;
    struct bb_block *block;
    struct bb_block_iter entries; /* at the first entry */

    /* Private. */
    bool is_started;
};

/* The walk must not be moved after init. */
void bb_table_walk_init(struct bb_table_walk *walk, struct bb_table *table);
void bb_table_walk_deinit(struct bb_table_walk *walk);
/* Moves to the next block. *ret_has_block is false after the last. Errors: BB_CORRUPT for a damaged
 * page. */
BB_MUST_CHECK enum bb_status bb_table_walk_next(struct bb_table_walk *walk, bool *ret_has_block);
/* Reads the current block and moves `entries` to its first entry. Errors: BB_CORRUPT, also when the
 * block and its head differ. */
BB_MUST_CHECK enum bb_status bb_table_walk_load(struct bb_table_walk *walk);

/* One filter of the current block's group. */
struct bb_walk_filter {
    uint16_t descriptor;
    struct bb_bytes payload; /* borrowed until the walk leaves the page */
    struct bb_block_filter_info info;
};
/* shard: below shard_count. False when the descriptor is not one of the table's filter kind. */
BB_MUST_CHECK bool bb_table_walk_filter(const struct bb_table_walk *walk, uint32_t shard,
                                        struct bb_walk_filter *ret_filter);
/* Probes the current block's filter. True when it returns maybe or does not exist: then a lookup
 * that reaches the block would read it. */
bool bb_table_walk_may_contain(const struct bb_table_walk *walk, struct bb_bytes key);

#endif
