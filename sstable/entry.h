/* The order of entries: key ascending, then sequence descending. */
#ifndef BB_SSTABLE_ENTRY_H
#define BB_SSTABLE_ENTRY_H

#include "base/bytes.h"
#include "bb/table.h"

/* < 0 when (a, a_sequence) sorts before (b, b_sequence). comparator NULL: bytewise. */
static inline int bb_entry_compare(const struct bb_comparator *comparator, struct bb_bytes a,
                                   uint64_t a_sequence, struct bb_bytes b, uint64_t b_sequence)
{
    int order = bb_key_compare(comparator, a, b);
    if (order != 0)
        return order;
    return (a_sequence < b_sequence) - (a_sequence > b_sequence);
}

/* *to = *from, word by word. WHY: an iterator publishes an entry right after its members were
 * stored. A load of two of them as one vector waits until both stores have reached the processor's
 * cache: a full scan took 1.07 times as long. */
static inline void bb_entry_copy(struct bb_entry *to, const struct bb_entry *from)
{
    struct bb_entry entry = *from;
    __asm__("" : "+r"(entry.key.data), "+r"(entry.key.size), "+r"(entry.sequence));
    __asm__("" : "+r"(entry.kind), "+r"(entry.value.data), "+r"(entry.value.size));
    *to = entry;
}

/* Errors: BB_TOO_LARGE when a key, or a bound of a key range, exceeds the size limit. */
BB_MUST_CHECK enum bb_status bb_entry_check_key(struct bb_bytes key);
/* The same for both ends of a range. NULL means that the range is open at that end. */
BB_MUST_CHECK enum bb_status bb_entry_check_bounds(const struct bb_bytes *low,
                                                   const struct bb_bytes *high);

/* Checks that an entry can be stored. Errors: BB_TOO_LARGE for a key or a value above its limit;
 * BB_INVALID for a sequence above BB_SEQUENCE_MAX, a kind other than put and delete, and a deletion
 * with a value. */
BB_MUST_CHECK enum bb_status bb_entry_check(const struct bb_entry *entry);

/* The same for a range tombstone. Its range may be empty. */
BB_MUST_CHECK enum bb_status bb_entry_check_range(struct bb_bytes low, struct bb_bytes high,
                                                  uint64_t sequence);

#endif
