/* The filter of a memtable: a blocked Bloom filter in 64-byte lines, to which one thread adds keys
 * while readers probe it.
 *
 * Layout: line_count lines of 8 words of 64 bits; the high half of the hash selects the line, the
 * rest is remixed into six probes inside it. Words are written with relaxed stores. A reader finds
 * a key if the memtable's publication of it (release/acquire) has reached the reader.
 *
 * Threads: one writer at a time (add), concurrent with any number of readers. */
#ifndef BB_BLOOMBLOCK_TABLE_MEMORY_FILTER_H
#define BB_BLOOMBLOCK_TABLE_MEMORY_FILTER_H

#include <stdatomic.h>

#include "bb/base.h"

struct bb_memory_filter {
    _Atomic uint64_t *words; /* owned, 64-byte aligned */
    uint32_t line_count;
};

/* Allocates a filter for about key_count_max keys with bits_per_key. */
BB_MUST_CHECK enum bb_status bb_memory_filter_init(struct bb_memory_filter *filter,
                                                   uint64_t key_count_max, uint32_t bits_per_key);
void bb_memory_filter_deinit(struct bb_memory_filter *filter);
/* Removes all keys. No reader may be probing the filter. */
void bb_memory_filter_reset(struct bb_memory_filter *filter);
void bb_memory_filter_add(struct bb_memory_filter *filter, uint64_t hash);
/* Prefetches the line that a hash uses. */
void bb_memory_filter_prefetch(const struct bb_memory_filter *filter, uint64_t hash);
bool bb_memory_filter_may_contain(const struct bb_memory_filter *filter, uint64_t hash);

#endif
