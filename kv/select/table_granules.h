/* The blocks of a table that a selection reads: granules of consecutive blocks, and a bit per
 * block.
 *
 *     granule     0            1         2
 *     blocks      0 1 2 3 4    5 6 7 8   9 ...      ends[0] = 5, ends[1] = 9
 *     wants       1 1 1 1 1    0 0 0 0   0 1 ...
 *
 * An index rules out whole granules; a column also rules out single blocks of a granule. Without an
 * index the table is one granule.
 */
#ifndef BB_KV_SELECT_TABLE_GRANULES_H
#define BB_KV_SELECT_TABLE_GRANULES_H

#include "bb/base.h"

struct bb_candidate_source;
struct bb_table_reading;

struct bb_table_granules {
    bool is_indexed; /* the granules come from an index file */
    size_t count;
    uint64_t *ends; /* number of the block after each granule's last; ascending; owned */
    uint64_t block_count;
    uint64_t *wants; /* one bit per block: it must be read; owned */
};

/* All blocks, as one granule. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_table_granules_init_all(struct bb_table_granules *granules,
                                                        uint64_t block_count);
/* This many granules, none of whose blocks is needed; the caller sets the ends. Errors:
 * BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_table_granules_init(struct bb_table_granules *granules,
                                                    size_t count, uint64_t block_count);
/* The granules of a table that its indexes do not rule out; count is 0 if they rule out all. A
 * granule is added to the source's counted_records instead if the source has counts_unread, the
 * indexes know the matches of the granule, and its visible matches can be counted
 * (table_counting.h). Missing or damaged indexes rule out no granule, and are counted. Errors:
 * BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_table_granules_choose(struct bb_table_granules *granules,
                                                      struct bb_candidate_source *source,
                                                      const struct bb_table_reading *reading);
void bb_table_granules_deinit(struct bb_table_granules *granules);

/* Marks the blocks begin ... end - 1 as needed. */
void bb_table_granules_want(struct bb_table_granules *granules, uint64_t begin, uint64_t end);

static inline uint64_t bb_table_granules_begin(const struct bb_table_granules *granules,
                                               size_t granule)
{
    return granule == 0 ? 0 : granules->ends[granule - 1];
}

/* The granule of a block. REQUIRES: block is below the last end. */
size_t bb_table_granules_find(const struct bb_table_granules *granules, uint64_t block);

/* The span of contiguous needed blocks around a needed block: its first block, and the block after
 * its last one. */
uint64_t bb_table_granules_span_begin(const struct bb_table_granules *granules, uint64_t block);
uint64_t bb_table_granules_span_end(const struct bb_table_granules *granules, uint64_t block);

/* The first needed block from this one on; block_count if none. */
uint64_t bb_table_granules_next(const struct bb_table_granules *granules, uint64_t block);
/* The last needed block up to this one; block_count if none. */
uint64_t bb_table_granules_previous(const struct bb_table_granules *granules, uint64_t block);

#endif
