/* Checks a leaf's claims about values for one value: written to be plain, not fast. */
#ifndef BB_TESTS_UNIT_SKIP_LEAF_CLAIMS_H
#define BB_TESTS_UNIT_SKIP_LEAF_CLAIMS_H

#include <ctype.h>

#include "skip/condition/leaf.h"
#include "skip/record/attribute.h"

static inline bool leaf_is_token_byte(int byte)
{
    return isalnum(byte) || byte > 127;
}

static inline bool leaf_piece_is_at(const struct bb_piece *piece, struct bb_bytes value, size_t at)
{
    size_t end = at + piece->bytes.size;
    if (end > value.size || (piece->is_at_start && at != 0) ||
        (piece->is_at_end && end != value.size))
        return false;
    if (piece->is_token && ((at > 0 && leaf_is_token_byte(value.data[at - 1])) ||
                            (end < value.size && leaf_is_token_byte(value.data[end]))))
        return false;
    for (size_t i = 0; i < piece->bytes.size; i++) {
        int byte = value.data[at + i];
        if ((piece->ignores_case ? tolower(byte) : byte) != piece->bytes.data[i])
            return false;
    }
    return true;
}

static inline bool leaf_has_piece_of(const struct bb_piece_group *group, struct bb_bytes value)
{
    for (size_t i = 0; i < group->piece_count; i++)
        for (size_t at = 0; at + group->pieces[i].bytes.size <= value.size; at++)
            if (leaf_piece_is_at(&group->pieces[i], value, at))
                return true;
    return false;
}

static inline bool leaf_is_inside(const struct bb_interval *interval,
                                  const struct bb_attribute *value)
{
    if (bb_attribute_is_nan(value))
        return false;
    int low = interval->low.is_open ? 1 : bb_attribute_compare(value, &interval->low.value);
    int high = interval->high.is_open ? -1 : bb_attribute_compare(value, &interval->high.value);
    return (low > 0 || (low == 0 && !interval->low.is_exclusive)) &&
           (high < 0 || (high == 0 && !interval->high.is_exclusive));
}

/* A leaf of kind TEXT that is true or false of a value that is PRESENT. */
static inline bool leaf_holds_text(const struct bb_leaf *leaf, const struct bb_attribute *value,
                                   bool is_true)
{
    bool is_covered = leaf->cover != NULL && leaf_is_inside(leaf->cover, value);
    if (!is_true)
        return !is_covered || !leaf->is_cover_exact;
    for (size_t i = 0; i < leaf->group_count; i++)
        if (!leaf_has_piece_of(&leaf->groups[i], value->as.bytes))
            return false;
    return is_covered || leaf->cover == NULL;
}

/* The same of kind RANGES. */
static inline bool leaf_holds_ranges(const struct bb_leaf *leaf, const struct bb_attribute *value,
                                     bool is_true)
{
    size_t count = 0;
    for (size_t i = 0; i < leaf->interval_count; i++)
        count += leaf_is_inside(&leaf->intervals[i], value) ? 1 : 0;
    return count == (is_true ? 1 : 0);
}

#endif
