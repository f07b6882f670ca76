/* Places of bytes in bytes. */
#ifndef BB_SKIP_CONDITION_SEARCH_H
#define BB_SKIP_CONDITION_SEARCH_H

#include "bb/base.h"

/* ASCII letters in lower case, all other bytes unchanged. */
static inline uint8_t bb_fold_byte(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte | 0x20) : byte;
}

/* The first place at or after from. Linear in the text's size. REQUIRES: from <= text.size. */
bool bb_search(struct bb_bytes text, size_t from, struct bb_bytes wanted, size_t *ret_at);

/* The same without regard to the case of ASCII letters; `wanted` is in lower case. Takes the
 * product of the sizes at worst. */
bool bb_search_folded(struct bb_bytes text, size_t from, struct bb_bytes wanted, size_t *ret_at);

/* Whether `wanted`, in lower case, is at this place. REQUIRES: at <= text.size. */
bool bb_search_folded_is_at(struct bb_bytes text, size_t at, struct bb_bytes wanted);

#endif
