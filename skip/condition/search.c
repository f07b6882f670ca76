/* See search.h.
 *
 * WHY not just memmem: it prepares a table for each search, and values are short. Sixteen places at
 * a time are ruled out by the first and the last byte of the searched bytes: a condition on values
 * of 80 bytes takes 28 ns so, and 73 with memmem. Where these two bytes are everywhere, memmem
 * takes over after a few places. */
#include "skip/condition/search.h"

#include "base/assert.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK      16
#define MISSES_MAX 32 /* until memmem takes over */

/* The ends of the searched bytes, and the bit by which letters may differ. */
struct ends {
    uint8_t first;
    uint8_t last;
    uint8_t first_case;
    uint8_t last_case;
    size_t distance;
};

static uint8_t case_bit(uint8_t byte, bool is_folded)
{
    return is_folded && byte >= 'a' && byte <= 'z' ? 0x20 : 0;
}

static struct ends ends_of(struct bb_bytes wanted, bool is_folded)
{
    uint8_t first = wanted.data[0];
    uint8_t last = wanted.data[wanted.size - 1];
    return (struct ends){.first = first,
                         .last = last,
                         .first_case = case_bit(first, is_folded),
                         .last_case = case_bit(last, is_folded),
                         .distance = wanted.size - 1};
}

static bool ends_are_at(const struct ends *ends, const uint8_t *at)
{
    return (at[0] | ends->first_case) == ends->first &&
           (at[ends->distance] | ends->last_case) == ends->last;
}

#ifdef __SSE2__
/* A bit for each of the places from here on at which both ends are. */
static uint32_t places_in_block(const struct ends *ends, const uint8_t *at)
{
    __m128i first = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i last = _mm_loadu_si128((const __m128i *)(const void *)(at + ends->distance));
    first = _mm_or_si128(first, _mm_set1_epi8((char)ends->first_case));
    last = _mm_or_si128(last, _mm_set1_epi8((char)ends->last_case));
    first = _mm_cmpeq_epi8(first, _mm_set1_epi8((char)ends->first));
    last = _mm_cmpeq_epi8(last, _mm_set1_epi8((char)ends->last));
    return (uint32_t)_mm_movemask_epi8(_mm_and_si128(first, last));
}
#else
static uint32_t places_in_block(const struct ends *ends, const uint8_t *at)
{
    uint32_t places = 0;
    for (uint32_t i = 0; i < BLOCK; i++)
        places |= (uint32_t)ends_are_at(ends, at + i) << i;
    return places;
}
#endif

/* The first place from `from` on, up to text.size - `wanted`.size, at which both ends match. */
static bool next_place(struct bb_bytes text, size_t from, const struct ends *ends, size_t *ret_at)
{
    size_t count = text.size - ends->distance; /* of places */
    size_t at = from;
    for (; at < count && count - at >= BLOCK; at += BLOCK) {
        uint32_t places = places_in_block(ends, text.data + at);
        if (places == 0)
            continue;
        *ret_at = at + (size_t)__builtin_ctz(places);
        return true;
    }
    if (at < count && count >= BLOCK) { /* the last block begins before `at` */
        size_t back = at - (count - BLOCK);
        uint32_t places = places_in_block(ends, text.data + at - back) >> back;
        *ret_at = places == 0 ? 0 : at + (size_t)__builtin_ctz(places);
        return places != 0;
    }
    for (; at < count; at++)
        if (ends_are_at(ends, text.data + at)) {
            *ret_at = at;
            return true;
        }
    return false;
}

static bool search_long(struct bb_bytes text, size_t from, struct bb_bytes wanted, size_t *ret_at)
{
    const uint8_t *found = memmem(text.data + from, text.size - from, wanted.data, wanted.size);
    if (found == NULL)
        return false;
    *ret_at = (size_t)(found - text.data);
    return true;
}

bool bb_search(struct bb_bytes text, size_t from, struct bb_bytes wanted, size_t *ret_at)
{
    BB_DEBUG_ASSERT(from <= text.size);
    if (wanted.size == 0) {
        *ret_at = from;
        return true;
    }
    if (text.size - from < wanted.size)
        return false;
    struct ends ends = ends_of(wanted, false);
    size_t at = 0;
    for (size_t misses = 0; misses < MISSES_MAX; misses++) {
        if (!next_place(text, from, &ends, &at))
            return false;
        if (memcmp(text.data + at, wanted.data, wanted.size) == 0) {
            *ret_at = at;
            return true;
        }
        from = at + 1;
    }
    return search_long(text, from, wanted, ret_at);
}

bool bb_search_folded_is_at(struct bb_bytes text, size_t at, struct bb_bytes wanted)
{
    BB_DEBUG_ASSERT(at <= text.size);
    if (text.size - at < wanted.size)
        return false;
    for (size_t i = 0; i < wanted.size; i++)
        if (bb_fold_byte(text.data[at + i]) != wanted.data[i])
            return false;
    return true;
}

bool bb_search_folded(struct bb_bytes text, size_t from, struct bb_bytes wanted, size_t *ret_at)
{
    if (wanted.size == 0) {
        *ret_at = from;
        return true;
    }
    if (text.size - from < wanted.size)
        return false;
    struct ends ends = ends_of(wanted, true);
    size_t at = 0;
    while (next_place(text, from, &ends, &at)) {
        if (bb_search_folded_is_at(text, at, wanted)) {
            *ret_at = at;
            return true;
        }
        from = at + 1;
    }
    return false;
}
