/* See search.h. */
#include "skip/condition/search.h"

#include <string.h>

bool bb_search(struct bb_bytes text, size_t from, struct bb_bytes wanted, size_t *ret_at)
{
    if (wanted.size == 0) {
        *ret_at = from;
        return true;
    }
    if (text.size - from < wanted.size)
        return false;
    const uint8_t *found = memmem(text.data + from, text.size - from, wanted.data, wanted.size);
    if (found == NULL)
        return false;
    *ret_at = (size_t)(found - text.data);
    return true;
}

bool bb_folded_is_at(struct bb_bytes text, size_t at, struct bb_bytes wanted)
{
    if (text.size - at < wanted.size)
        return false;
    for (size_t i = 0; i < wanted.size; i++)
        if (bb_fold_byte(text.data[at + i]) != wanted.data[i])
            return false;
    return true;
}

bool bb_search_folded(struct bb_bytes text, size_t from, struct bb_bytes wanted, size_t *ret_at)
{
    for (size_t at = from; at <= text.size && text.size - at >= wanted.size; at++) {
        if (!bb_folded_is_at(text, at, wanted))
            continue;
        *ret_at = at;
        return true;
    }
    return false;
}
