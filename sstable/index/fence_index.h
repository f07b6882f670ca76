/* Searchable fences of an index page or of the root.
 *
 * Next to the stored fences, memory holds the eight bytes after the common prefix of each fence as
 * a native number. The search is a binary search over these numbers without branches. Only a number
 * equal to the key's needs whole fences, with a second binary search among the equal ones.
 * Zero-padded numbers are ambiguous ("ab" and "ab\0"), so equality decides nothing. (Measured on 64
 * fences: 15 to 20 ns; 40 ns with branches, half of which are mispredicted.)
 *
 * Under a comparator that is not bytewise there are no numbers, and every step compares whole keys.
 * Threads: constant after init.
 */
#ifndef BB_SSTABLE_INDEX_FENCE_INDEX_H
#define BB_SSTABLE_INDEX_FENCE_INDEX_H

#include "sstable/index/fence.h"
#include "sstable/prefix_search.h"

struct bb_fence_index {
    const uint64_t *prefixes; /* one per fence; NULL when not bytewise */
    uint32_t count;
    struct bb_prefix common; /* in the stored bytes */
    /* Rarely used by a search: */
    const uint8_t *text; /* the stored fences */
    const uint8_t *text_end;
    const uint32_t *offsets; /* of each fence in text */
};

/* Bytes that init needs for count fences; a multiple of 8. */
size_t bb_fence_index_memory(size_t count);
/* Reads a list of count fences from the cursor and checks that they ascend. The list and memory
 * (8-byte aligned) are borrowed while the index lives. On failure *ret_problem describes the
 * problem, and the cursor shows where it is. */
BB_MUST_CHECK bool bb_fence_index_init(struct bb_fence_index *index,
                                       const struct bb_comparator *comparator,
                                       struct bb_cursor *cursor, uint32_t count, void *memory,
                                       const char **ret_problem);

/* The number of fences at or before (key, sequence), which is the ordinal of the block or page for
 * that position. */
uint32_t bb_fence_index_find(const struct bb_fence_index *index,
                             const struct bb_comparator *comparator, struct bb_bytes key,
                             uint64_t sequence);

/* The whole key of fence number i. */
BB_MUST_CHECK enum bb_status bb_fence_index_key(const struct bb_fence_index *index, uint32_t i,
                                                struct bb_buf *ret_key);
/* Returns the suffix and sequence of fence number i, borrowed. Its key is the common prefix
 * followed by the suffix. */
struct bb_fence bb_fence_index_get(const struct bb_fence_index *index, uint32_t i);
/* < 0, 0, > 0: fence number i sorts before, at, after (key, sequence). */
int bb_fence_index_compare(const struct bb_fence_index *index, uint32_t i,
                           const struct bb_comparator *comparator, struct bb_bytes key,
                           uint64_t sequence);

#endif
