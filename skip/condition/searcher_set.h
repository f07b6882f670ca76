/* Searching long texts for several byte strings together: one pass for any number of them.
 *
 * A bit of a byte is a string. Two tables show for each half of a byte which strings can have such
 * a byte at a place, and two places are looked up at 32 places of the text together:
 *
 *     text            ... q z t ...
 *     place 0         strings that begin with q       1011
 *     place 1         strings with a z after it       1010    so two of them may be here
 *
 * (The search of Teddy, of the library Hyperscan: Wang and others, NSDI 2019.) 15 GB/s, where one
 * string is found at 30: three places took 10.
 *
 * Threads: constant after init.
 */
#ifndef BB_SKIP_CONDITION_SEARCHER_SET_H
#define BB_SKIP_CONDITION_SEARCHER_SET_H

#include "bb/base.h"
#include "bloomblock/cpu.h"

#define BB_SEARCHER_SET_MAX    8
#define BB_SEARCHER_SET_PLACES 2

struct bb_searcher_set;

/* The first place from `from` on where a string may begin, and a bit for each of these; end: not
 * found. Reads BB_SEARCHER_SET_READ bytes from any place below end on. */
typedef size_t (*bb_searcher_set_step)(const struct bb_searcher_set *set, const uint8_t *text,
                                       size_t from, size_t end, uint8_t *ret_strings);
#define BB_SEARCHER_SET_READ 33

struct bb_searcher_set {
    size_t count;
    struct {
        struct bb_bytes bytes; /* borrowed */
        bool ignores_case;     /* of ASCII letters: the bytes are in lower case */
    } wanted[BB_SEARCHER_SET_MAX];
    /* A bit for each string, by the lower and the upper half of the byte at a place. */
    uint8_t low[BB_SEARCHER_SET_PLACES][16];
    uint8_t high[BB_SEARCHER_SET_PLACES][16];
    bb_searcher_set_step step;
};

/* Is one pass faster than a search for each of this many strings? */
static inline bool bb_searcher_set_is_faster(size_t count, enum bb_cpu cpu)
{
    return count > 2 && cpu >= BB_CPU_AVX2;
}

/* REQUIRES: bb_cpu_has(cpu). */
void bb_searcher_set_init(struct bb_searcher_set *set, enum bb_cpu cpu);
/* REQUIRES: the string is not empty, and in lower case if case is ignored; the set has less than
 * BB_SEARCHER_SET_MAX. */
void bb_searcher_set_add(struct bb_searcher_set *set, struct bb_bytes wanted, bool ignores_case);

/* The first place, at or after from, of any of the strings. REQUIRES: from <= text.size; the set is
 * not empty. */
bool bb_searcher_set_find(const struct bb_searcher_set *set, struct bb_bytes text, size_t from,
                          size_t *ret_at);

#if BB_CPU_X86
size_t bb_searcher_set_step_avx2(const struct bb_searcher_set *set, const uint8_t *text,
                                 size_t from, size_t end, uint8_t *ret_strings);
#endif

#endif
