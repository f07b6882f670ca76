/* Remembers which blocks were missed recently: one mark per place, that of the latest miss. It may
 * forget a miss, and takes another block for a missed one with a probability of 2^-31.
 *
 * Threads: the caller serialises all calls, except prefetch. */
#ifndef BB_SSTABLE_BLOCK_MISS_MARKS_H
#define BB_SSTABLE_BLOCK_MISS_MARKS_H

#include "base/alloc.h"

#define BB_MISS_MARKS_BYTES     4096 /* the usual size of a block */
#define BB_MISS_MARKS_COUNT_MIN 16
/* There are marks for half of the blocks that fit into the cache. WHY not for all: a block that
 * comes back after more misses than that is used no more often than the block that it would
 * displace. (2Q remembers half too: Johnson and Shasha, VLDB 1994.) */
#define BB_MISS_MARKS_PART 2

struct bb_miss_marks {
    uint32_t *marks; /* upper halves of the hashes, found by the lower halves; 0 if empty; owned */
    size_t count;
    uint64_t cache_bytes;
};

/* For a cache of this many bytes. False: no memory. */
static inline bool bb_miss_marks_init(struct bb_miss_marks *misses, uint64_t cache_bytes)
{
    uint64_t count = cache_bytes / BB_MISS_MARKS_BYTES / BB_MISS_MARKS_PART;
    misses->cache_bytes = cache_bytes;
    misses->count = count < BB_MISS_MARKS_COUNT_MIN ? BB_MISS_MARKS_COUNT_MIN : (size_t)count;
    misses->marks = bb_alloc_zeroed(misses->count, sizeof(*misses->marks));
    return misses->marks != NULL;
}

/* One of the first `count` marks, by the lower half of the hash. */
static inline uint32_t *bb_miss_marks_at(const struct bb_miss_marks *misses, uint64_t hash,
                                         uint64_t count)
{
    return &misses->marks[(uint32_t)hash * count >> 32];
}

static inline void bb_miss_marks_prefetch(const struct bb_miss_marks *misses, uint64_t hash)
{
    __builtin_prefetch(bb_miss_marks_at(misses, hash, misses->count));
}

/* Marks a miss, and returns whether the same block was missed recently. Large blocks use fewer
 * marks, because fewer of them fit into the cache. */
static inline bool bb_miss_marks_add(struct bb_miss_marks *misses, uint64_t hash, uint64_t size)
{
    uint32_t mark = (uint32_t)(hash >> 32) | 1;
    bool is_large = size > 2 * (uint64_t)BB_MISS_MARKS_BYTES;
    uint32_t *at = bb_miss_marks_at(misses, hash,
                                    is_large ? misses->cache_bytes / size / BB_MISS_MARKS_PART + 1
                                             : misses->count);
    bool was_marked = *at == mark;
    *at = mark;
    return was_marked;
}

#endif
