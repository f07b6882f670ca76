/* Searching long texts for the same bytes again and again: decoded blocks for the needles of a
 * match.
 *
 * Two of the searched bytes are compared at 32 places together. They are the rarest ones in logs
 * and text. Where they are frequent nevertheless, memmem takes over: time is linear in the text's
 * size. A search that ignores case takes the product of the sizes at worst (search.h).
 *
 * Threads: constant after init.
 */
#ifndef BB_SKIP_CONDITION_SEARCHER_H
#define BB_SKIP_CONDITION_SEARCHER_H

#include "bb/base.h"
#include "bloomblock/cpu.h"

struct bb_searcher;

/* The first place at or after from where the first two bytes are, below end: of places, not of
 * bytes. A step may require the third one too. */
typedef bool (*bb_searcher_step)(const struct bb_searcher *searcher, const uint8_t *text,
                                 size_t from, size_t end, size_t *ret_at);

struct bb_searcher {
    struct bb_bytes wanted; /* borrowed */
    bool ignores_case;      /* of ASCII letters: `wanted` is in lower case */
    size_t first;           /* where the rarest byte is in it */
    size_t second;          /* the next one; the same where it is a single byte */
    size_t third;           /* the third rarest; the second again where there are only two */
    bool is_frequent;       /* are the first two bytes frequent? */
    uint8_t first_case;     /* the bit by which both cases of the first one differ, or 0 */
    uint8_t second_case;
    uint8_t third_case;
    /* Its first eight bytes as a little-endian word, the bits of their case, and the bits that
     * count. */
    uint64_t word;
    uint64_t word_case;
    uint64_t word_mask;
    bb_searcher_step step;
};

/* REQUIRES: `wanted` is not empty, and in lower case if case is ignored; bb_cpu_has(cpu). */
void bb_searcher_init(struct bb_searcher *searcher, struct bb_bytes wanted, bool ignores_case,
                      enum bb_cpu cpu);

/* The first place of the searched bytes, at or after from. REQUIRES: from <= text.size. */
bool bb_searcher_find(const struct bb_searcher *searcher, struct bb_bytes text, size_t from,
                      size_t *ret_at);

bool bb_searcher_step_portable(const struct bb_searcher *searcher, const uint8_t *text, size_t from,
                               size_t end, size_t *ret_at);
#if BB_CPU_X86
bool bb_searcher_step_avx2(const struct bb_searcher *searcher, const uint8_t *text, size_t from,
                           size_t end, size_t *ret_at);
#endif

#endif
