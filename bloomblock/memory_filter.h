/* The filter in front of a memtable: a blocked Bloom filter in 64-byte lines that grows by setting
 * bits while readers ask it.
 *
 * Layout: line_count lines of 8 words of 64 bits; the high half of the hash chooses the line, the
 * rest is remixed into six probes inside it. Words are written with relaxed stores, so that a key is
 * found by every reader that the memtable's own publication (release/acquire) reaches.
 *
 * Threads: one writer at a time (add); any number of readers beside it.
 */
#ifndef BB_BLOOMBLOCK_MEMORY_FILTER_H
#define BB_BLOOMBLOCK_MEMORY_FILTER_H

#include <stdatomic.h>

#include "bb/base.h"

struct bb_memory_filter {
    _Atomic uint64_t *words; /* owned, 64-byte aligned */
    uint32_t line_count;
};

/* Room for about key_count_max keys at bits_per_key. */
BB_MUST_CHECK enum bb_status bb_memory_filter_init(struct bb_memory_filter *filter,
                                                   uint64_t key_count_max, uint32_t bits_per_key);
void bb_memory_filter_deinit(struct bb_memory_filter *filter);
/* Empties it. No reader may be inside. */
void bb_memory_filter_reset(struct bb_memory_filter *filter);
void bb_memory_filter_add(struct bb_memory_filter *filter, uint64_t hash);
/* Asks for the line that a hash touches. */
void bb_memory_filter_prefetch(const struct bb_memory_filter *filter, uint64_t hash);
bool bb_memory_filter_may_contain(const struct bb_memory_filter *filter, uint64_t hash);

#endif
