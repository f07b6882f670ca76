/* The finder for any processor: 8 bytes at a time in strings. See json_finder.h. */
#include "skip/record/json_finder.h"

#include <string.h>

#define ONES  0x0101010101010101u
#define HIGHS 0x8080808080808080u

/* A high bit for every byte of the word that equals byte; those after the first may be wrong. */
static inline uint64_t equal_bytes(uint64_t word, uint8_t byte)
{
    uint64_t different = word ^ (ONES * byte);
    return (different - ONES) & ~different & HIGHS;
}

static const uint8_t *find_string_stop(const uint8_t *at, const uint8_t *end)
{
    for (uint64_t word; end - at >= 8; at += 8) {
        memcpy(&word, at, sizeof(word));
        if ((equal_bytes(word, '"') | equal_bytes(word, '\\')) != 0)
            break;
    }
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

static const uint8_t *find_structure(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at != '"' && (*at | 0x20) != '{' && (*at | 0x20) != '}')
        at++;
    return at;
}

#define FORM_TARGET
#define FORM_FIND bb_json_find_portable
#include "skip/record/json_finder_form.h"
