/* The filter of a memtable: relaxed atomic words, one writer, any number of readers. */
#include "bloomblock/table/memory_filter.h"

#include "base/alloc.h"
#include "base/status.h"
#include "bloomblock/bloom/blocked_bloom.h"

#define WORDS_PER_LINE (BB_LINE_BITS / 64)
/* One product's worth; the best number from 9 to 10 bits per key. */
#define PROBES BB_LINE_PROBES_PER_PRODUCT

_Static_assert(sizeof(_Atomic uint64_t) == 8, "a line of atomic words is a cache line");

enum bb_status bb_memory_filter_init(struct bb_memory_filter *filter, uint64_t key_count_max,
                                     uint32_t bits_per_key)
{
    uint64_t bits = 0;
    if (__builtin_mul_overflow(key_count_max, bits_per_key, &bits) ||
        bits / BB_LINE_BITS >= UINT32_MAX)
        return bb_fail(BB_TOO_LARGE, "a memory filter of %llu keys at %u bits is too large",
                       (unsigned long long)key_count_max, bits_per_key);
    uint32_t line_count = (uint32_t)(bits / BB_LINE_BITS) + 1;
    size_t size = (size_t)line_count * BB_LINE_SIZE;
    _Atomic uint64_t *words = bb_alloc_aligned(BB_LINE_SIZE, size);
    if (words == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a memory filter of %zu bytes", size);
    *filter = (struct bb_memory_filter){.words = words, .line_count = line_count};
    bb_memory_filter_reset(filter);
    return BB_OK;
}

void bb_memory_filter_deinit(struct bb_memory_filter *filter)
{
    bb_free_aligned((void *)filter->words);
    *filter = (struct bb_memory_filter){0};
}

void bb_memory_filter_reset(struct bb_memory_filter *filter)
{
    size_t word_count = (size_t)filter->line_count * WORDS_PER_LINE;
    for (size_t i = 0; i < word_count; i++)
        atomic_store_explicit(&filter->words[i], 0, memory_order_relaxed);
}

static _Atomic uint64_t *line_of(const struct bb_memory_filter *filter, uint64_t hash)
{
    return filter->words + (size_t)bb_blocked_bloom_line(hash, filter->line_count) * WORDS_PER_LINE;
}

/* The only writer needs no locked OR, which costs some twenty loads; and a branch on whether the
 * bit is set already would be guessed wrong half of the time. */
static void set_bit(_Atomic uint64_t *word, uint64_t bit)
{
    uint64_t bits = atomic_load_explicit(word, memory_order_relaxed);
    atomic_store_explicit(word, bits | bit, memory_order_relaxed);
}

void bb_memory_filter_prefetch(const struct bb_memory_filter *filter, uint64_t hash)
{
    __builtin_prefetch((const void *)line_of(filter, hash), 1);
}

void bb_memory_filter_add(struct bb_memory_filter *filter, uint64_t hash)
{
    _Atomic uint64_t *line = line_of(filter, hash);
    struct bb_blocked_bloom_line_probes probes = bb_blocked_bloom_line_probes(hash);
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t position = bb_blocked_bloom_line_probes_next(&probes);
        set_bit(&line[position / 64], UINT64_C(1) << (position % 64));
    }
}

bool bb_memory_filter_may_contain(const struct bb_memory_filter *filter, uint64_t hash)
{
    _Atomic uint64_t *line = line_of(filter, hash);
    struct bb_blocked_bloom_line_probes probes = bb_blocked_bloom_line_probes(hash);
    uint64_t all = 1;
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t position = bb_blocked_bloom_line_probes_next(&probes);
        uint64_t word = atomic_load_explicit(&line[position / 64], memory_order_relaxed);
        all &= word >> (position % 64);
    }
    return all != 0;
}
