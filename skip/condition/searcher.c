/* See searcher.h. */
#include "skip/condition/searcher.h"

#include "base/assert.h"

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

static size_t rank_of(uint8_t byte)
{
    const char *found = byte == 0 ? NULL : strchr(frequent, byte);
    return found == NULL ? sizeof(frequent) : (size_t)(found - frequent);
}

/* The rarest byte that is not at `other`. */
static size_t find_rarest(struct bb_bytes wanted, size_t other)
{
    size_t count = wanted.size < HEAD_MAX ? wanted.size : HEAD_MAX;
    size_t rarest = other == 0 && count > 1 ? 1 : 0;
    for (size_t i = 0; i < count; i++)
        if (i != other && rank_of(wanted.data[i]) > rank_of(wanted.data[rarest]))
            rarest = i;
    return rarest;
}

void bb_searcher_init(struct bb_searcher *searcher, struct bb_bytes wanted, enum bb_cpu cpu)
{
    BB_DEBUG_ASSERT(wanted.size > 0 && bb_cpu_has(cpu));
    size_t first = find_rarest(wanted, SIZE_MAX);
    *searcher = (struct bb_searcher){.wanted = wanted,
                                     .first = first,
                                     .second = find_rarest(wanted, first),
                                     .step = bb_searcher_step_portable};
#if BB_CPU_X86
    if (cpu >= BB_CPU_AVX2)
        searcher->step = bb_searcher_step_avx2;
#endif
    (void)cpu;
}

bool bb_searcher_step_portable(const struct bb_searcher *searcher, const uint8_t *text, size_t from,
                               size_t end, size_t *ret_at)
{
    const uint8_t *wanted = searcher->wanted.data;
    const uint8_t *firsts = text + searcher->first;
    while (from < end) {
        const uint8_t *found = memchr(firsts + from, wanted[searcher->first], end - from);
        if (found == NULL)
            return false;
        from = (size_t)(found - firsts);
        if (text[from + searcher->second] == wanted[searcher->second]) {
            *ret_at = from;
            return true;
        }
        from++;
    }
    return false;
}

static bool find_otherwise(struct bb_bytes text, size_t from, struct bb_bytes wanted,
                           size_t *ret_at)
{
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
        if (memcmp(text.data + at, wanted.data, wanted.size) == 0) {
            *ret_at = at;
            return true;
        }
        from = at + 1;
    }
    return find_otherwise(text, from, wanted, ret_at);
}
