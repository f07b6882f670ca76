/* See searcher_set.h. */
#include "skip/condition/searcher_set.h"

#include <string.h>

#include "base/assert.h"
#include "skip/condition/search.h"

static size_t step_portable(const struct bb_searcher_set *set, const uint8_t *text, size_t from,
                            size_t end, uint8_t *ret_strings)
{
    for (; from < end; from++) {
        uint8_t strings = UINT8_MAX;
        for (size_t place = 0; place < BB_SEARCHER_SET_PLACES; place++) {
            uint8_t byte = text[from + place];
            strings &= set->low[place][byte & 15] & set->high[place][byte >> 4];
        }
        *ret_strings = strings;
        if (strings != 0)
            break;
    }
    return from;
}

void bb_searcher_set_init(struct bb_searcher_set *set, enum bb_cpu cpu)
{
    BB_DEBUG_ASSERT(bb_cpu_has(cpu));
    *set = (struct bb_searcher_set){.step = step_portable};
#if BB_CPU_X86
    if (cpu >= BB_CPU_AVX2)
        set->step = bb_searcher_set_step_avx2;
#endif
    (void)cpu;
}

static void add_byte(struct bb_searcher_set *set, size_t place, uint8_t byte, uint8_t bit)
{
    set->low[place][byte & 15] |= bit;
    set->high[place][byte >> 4] |= bit;
}

static void add_any(struct bb_searcher_set *set, size_t place, uint8_t bit)
{
    for (size_t half = 0; half < 16; half++) {
        set->low[place][half] |= bit;
        set->high[place][half] |= bit;
    }
}

void bb_searcher_set_add(struct bb_searcher_set *set, struct bb_bytes wanted, bool ignores_case)
{
    BB_DEBUG_ASSERT(wanted.size > 0 && set->count < BB_SEARCHER_SET_MAX);
    uint8_t bit = (uint8_t)(1u << set->count);
    set->wanted[set->count].bytes = wanted;
    set->wanted[set->count].ignores_case = ignores_case;
    set->count++;
    for (size_t place = 0; place < BB_SEARCHER_SET_PLACES; place++) {
        if (place >= wanted.size) {
            add_any(set, place, bit);
            continue;
        }
        uint8_t byte = wanted.data[place];
        add_byte(set, place, byte, bit);
        if (ignores_case && byte >= 'a' && byte <= 'z')
            add_byte(set, place, byte ^ ('a' ^ 'A'), bit);
    }
}

/* ---- searching ---- */

/* Is one of the strings with a bit at this place? */
static bool is_at(const struct bb_searcher_set *set, uint8_t strings, struct bb_bytes text,
                  size_t at)
{
    for (unsigned left = strings; left != 0; left &= left - 1) {
        size_t i = (size_t)__builtin_ctz(left);
        struct bb_bytes wanted = set->wanted[i].bytes;
        if (text.size - at < wanted.size)
            continue;
        if (set->wanted[i].ignores_case ? bb_search_folded_is_at(text, at, wanted)
                                        : memcmp(text.data + at, wanted.data, wanted.size) == 0)
            return true;
    }
    return false;
}

/* Places from ... end - 1 of the text. bytes: the text from origin on, and more bytes after
 * it for a step. */
static bool find_among(const struct bb_searcher_set *set, struct bb_bytes text,
                       const uint8_t *bytes, size_t origin, size_t from, size_t end, size_t *ret_at)
{
    uint8_t strings = 0;
    for (; from < end; from++) {
        from = origin + set->step(set, bytes, from - origin, end - origin, &strings);
        if (from == end)
            return false;
        if (is_at(set, strings, text, from)) {
            *ret_at = from;
            return true;
        }
    }
    return false;
}

bool bb_searcher_set_find(const struct bb_searcher_set *set, struct bb_bytes text, size_t from,
                          size_t *ret_at)
{
    BB_DEBUG_ASSERT(set->count > 0 && from <= text.size);
    uint8_t rest[2 * BB_SEARCHER_SET_READ] = {0};
    size_t end = text.size < BB_SEARCHER_SET_READ ? 0 : text.size - BB_SEARCHER_SET_READ + 1;
    if (find_among(set, text, text.data, 0, from, end, ret_at))
        return true;
    size_t origin = from > end ? from : end;
    if (text.size > origin)
        memcpy(rest, text.data + origin, text.size - origin);
    return find_among(set, text, rest, origin, origin, text.size, ret_at);
}
