/* The stored form of range tombstones: a section of a table.
 *
 *     section  := varint fragments | fragment*
 *     fragment := low | bytes high | varint sequences - 1 | varint newest | varint difference *
 *     low      := varint 0                  it begins where the fragment before ends
 *               | varint (size + 1) | key
 *
 * Fragments ascend without overlap; each low is below its high. The sequences of a fragment
 * descend: the newest is stored whole, then the difference from each to the next, at least 1.
 */
#ifndef BB_SSTABLE_RANGES_RANGE_TOMBSTONES_CODING_H
#define BB_SSTABLE_RANGES_RANGE_TOMBSTONES_CODING_H

#include "base/status.h"
#include "sstable/ranges/range_tombstones.h"

/* Appends the section. Errors: BB_TOO_LARGE beyond BB_RANGE_SECTION_SIZE_MAX. */
BB_MUST_CHECK enum bb_status bb_range_tombstones_encode(const struct bb_range_tombstones *list,
                                                        struct bb_buf *buf);
/* Reads a section and checks everything drawn above, under the comparator. Keys and sequences are
 * copied; owned. Errors: BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_range_tombstones_decode(struct bb_bytes section,
                                                        const struct bb_comparator *comparator,
                                                        struct bb_place place,
                                                        struct bb_range_tombstones **ret_list);

#endif
