/* See character.h. RFC 3629 defines valid sequences: no overlong form, no surrogate, nothing above
 * U+10FFFF. */
#include "skip/condition/character.h"

#include "base/assert.h"

#define SIZE_MAX_BYTES 4

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Sequence length that a first byte announces; 1 for bytes that begin no longer one. */
static size_t announced(uint8_t first)
{
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    if (first >= 0xf0 && first <= 0xf4)
        return 4;
    return 1;
}

/* The second byte's range is narrower after some first ones. */
static bool is_second(uint8_t first, uint8_t second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return is_continuation(second);
    }
}

size_t bb_character_size(struct bb_bytes text, size_t at)
{
    BB_DEBUG_ASSERT(at < text.size);
    const uint8_t *bytes = text.data + at;
    size_t size = announced(bytes[0]);
    if (size == 1 || text.size - at < size || !is_second(bytes[0], bytes[1]))
        return 1;
    for (size_t i = 2; i < size; i++)
        if (!is_continuation(bytes[i]))
            return 1;
    return size;
}

/* Bytes of the valid sequence that has this place inside it or at its end, up to there; 0 if there
 * is no such sequence. */
static size_t begun_before(struct bb_bytes text, size_t at, bool may_end_here)
{
    for (size_t back = 1; back <= SIZE_MAX_BYTES && back <= at; back++) {
        if (is_continuation(text.data[at - back]))
            continue;
        size_t size = bb_character_size(text, at - back);
        return size > back || (may_end_here && size == back) ? back : 0;
    }
    return 0;
}

bool bb_character_is_boundary(struct bb_bytes text, size_t at)
{
    BB_DEBUG_ASSERT(at <= text.size);
    if (at == 0 || at == text.size || !is_continuation(text.data[at]))
        return true;
    return begun_before(text, at, false) == 0;
}

size_t bb_character_size_before(struct bb_bytes text, size_t at)
{
    BB_DEBUG_ASSERT(at > 0 && at <= text.size);
    size_t size = begun_before(text, at, true);
    return size == 0 ? 1 : size;
}
