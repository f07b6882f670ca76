/* See searcher.h. */
#include "skip/condition/searcher.h"

#include "base/assert.h"
#include "base/coding.h"
#include "skip/condition/search.h"

#include <string.h>

/* The first bytes of `wanted`, from which the rare ones are chosen. */
#define HEAD_MAX 64
/* Places that nearly match cost about as much as 32 bytes that do not, for each 16 bytes of the
 * search: more than twice the text's own cost is too much. */
#define MISS_BYTES 32
#define CREDIT     1024

/* Bytes of logs and text, the most frequent first; others are rarer than all of them. */
static const char frequent[] =
    " e0t1oa2in/s.r34-:5l6d789cm\"p,uhg;+_()MbGfw[]ykTAvSWE=HPCIONKLFDRB{}\tx'"
    "UV&?%@zjqXY";

/* Bytes up to "g": places with two of them are frequent. */
#define FREQUENT_RANK 33

static size_t rank_of(uint8_t byte)
{
    const char *found = byte == 0 ? NULL : strchr(frequent, byte);
    return found == NULL ? sizeof(frequent) : (size_t)(found - frequent);
}

static uint8_t case_of(const struct bb_searcher *searcher, size_t at)
{
    uint8_t byte = searcher->wanted.data[at];
    return searcher->ignores_case && byte >= 'a' && byte <= 'z' ? 'a' ^ 'A' : 0;
}

/* Of a byte of the searched ones, in the case in which it is more frequent. */
static size_t rank_at(const struct bb_searcher *searcher, size_t at)
{
    uint8_t byte = searcher->wanted.data[at];
    size_t rank = rank_of(byte);
    size_t other = rank_of(byte ^ case_of(searcher, at));
    return rank < other ? rank : other;
}

/* The rarest byte that is not at these two places, if there is one. */
static size_t find_rarest(const struct bb_searcher *searcher, size_t first, size_t second)
{
    size_t size = searcher->wanted.size;
    size_t count = size < HEAD_MAX ? size : HEAD_MAX;
    size_t rarest = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (i != first && i != second &&
            (rarest == SIZE_MAX || rank_at(searcher, i) > rank_at(searcher, rarest)))
            rarest = i;
    return rarest == SIZE_MAX ? second : rarest;
}

static void set_word(struct bb_searcher *searcher)
{
    uint8_t bytes[3][sizeof(uint64_t)] = {{0}};
    for (size_t i = 0; i < sizeof(uint64_t) && i < searcher->wanted.size; i++) {
        bytes[0][i] = searcher->wanted.data[i];
        bytes[1][i] = case_of(searcher, i);
        bytes[2][i] = UINT8_MAX;
    }
    searcher->word = bb_load64(bytes[0]);
    searcher->word_case = bb_load64(bytes[1]);
    searcher->word_mask = bb_load64(bytes[2]);
}

void bb_searcher_init(struct bb_searcher *searcher, struct bb_bytes wanted, bool ignores_case,
                      enum bb_cpu cpu)
{
    BB_DEBUG_ASSERT(wanted.size > 0 && bb_cpu_has(cpu));
    *searcher = (struct bb_searcher){.wanted = wanted, .ignores_case = ignores_case};
    searcher->first = find_rarest(searcher, SIZE_MAX, SIZE_MAX);
    searcher->second = find_rarest(searcher, searcher->first, searcher->first);
    searcher->third = find_rarest(searcher, searcher->first, searcher->second);
    searcher->first_case = case_of(searcher, searcher->first);
    searcher->second_case = case_of(searcher, searcher->second);
    searcher->is_frequent = rank_at(searcher, searcher->second) < FREQUENT_RANK;
    searcher->third_case = case_of(searcher, searcher->third);
    set_word(searcher);
    searcher->step = bb_searcher_step_portable;
#if BB_CPU_X86
    if (cpu >= BB_CPU_AVX2)
        searcher->step = bb_searcher_step_avx2;
#endif
    (void)cpu;
}

/* The first place, below end, of a byte in either case; end: not found. */
static size_t find_byte(const uint8_t *text, size_t from, size_t end, uint8_t byte, uint8_t of_case)
{
    if (of_case == 0) {
        const uint8_t *found = memchr(text + from, byte, end - from);
        return found == NULL ? end : (size_t)(found - text);
    }
    while (from < end && (text[from] | of_case) != byte)
        from++;
    return from;
}

bool bb_searcher_step_portable(const struct bb_searcher *searcher, const uint8_t *text, size_t from,
                               size_t end, size_t *ret_at)
{
    const uint8_t *wanted = searcher->wanted.data;
    const uint8_t *firsts = text + searcher->first;
    while (from < end) {
        from = find_byte(firsts, from, end, wanted[searcher->first], searcher->first_case);
        if (from == end)
            return false;
        if ((text[from + searcher->second] | searcher->second_case) == wanted[searcher->second]) {
            *ret_at = from;
            return true;
        }
        from++;
    }
    return false;
}

/* WHY a word first: a call for each place where both bytes are takes 1 % of a scan for a number of
 * three digits. */
static inline bool is_at(const struct bb_searcher *searcher, struct bb_bytes text, size_t at)
{
    struct bb_bytes wanted = searcher->wanted;
    if (text.size - at >= sizeof(uint64_t)) {
        uint64_t word = bb_load64(text.data + at) | searcher->word_case;
        if (((word ^ searcher->word) & searcher->word_mask) != 0)
            return false;
        if (wanted.size <= sizeof(uint64_t))
            return true;
    }
    return searcher->ignores_case ? bb_search_folded_is_at(text, at, wanted)
                                  : memcmp(text.data + at, wanted.data, wanted.size) == 0;
}

static bool find_otherwise(const struct bb_searcher *searcher, struct bb_bytes text, size_t from,
                           size_t *ret_at)
{
    struct bb_bytes wanted = searcher->wanted;
    if (searcher->ignores_case)
        return bb_search_folded(text, from, wanted, ret_at);
    const uint8_t *found = memmem(text.data + from, text.size - from, wanted.data, wanted.size);
    if (found == NULL)
        return false;
    *ret_at = (size_t)(found - text.data);
    return true;
}

bool bb_searcher_find(const struct bb_searcher *searcher, struct bb_bytes text, size_t from,
                      size_t *ret_at)
{
    BB_DEBUG_ASSERT(from <= text.size);
    struct bb_bytes wanted = searcher->wanted;
    size_t miss = MISS_BYTES * (1 + wanted.size / 16);
    size_t begin = from;
    size_t at = 0;
    if (text.size - from < wanted.size)
        return false;
    size_t end = text.size - wanted.size + 1;
    for (size_t missed = 0; missed <= CREDIT + (from - begin); missed += miss) {
        if (!searcher->step(searcher, text.data, from, end, &at))
            return false;
        if (is_at(searcher, text, at)) {
            *ret_at = at;
            return true;
        }
        from = at + 1;
    }
    return find_otherwise(searcher, text, from, ret_at);
}
