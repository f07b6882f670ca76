/* The bounds of a table's keys, ready to be compared: every look-up begins here.
 *
 * Behind the prefix that both bounds share, eight bytes of each stand as a number. A key whose
 * number lies strictly between them is inside; only one that equals either needs whole
 * comparisons, and under a comparator that is not bytewise every key does.
 * Threads: constant after init.
 */
#ifndef BB_SSTABLE_BOUNDS_H
#define BB_SSTABLE_BOUNDS_H

#include "base/bytes.h"
#include "base/coding.h"

struct bb_bounds {
    uint64_t low; /* below high, or there are no numbers */
    uint64_t high;
    uint64_t common_number; /* the first eight bytes of what the bounds share */
    uint32_t common_size;
    struct bb_bytes smallest; /* borrowed; inclusive */
    struct bb_bytes largest;
    bool largest_is_exclusive;
};

void bb_bounds_init(struct bb_bounds *bounds, const struct bb_comparator *comparator,
                    struct bb_bytes smallest, struct bb_bytes largest);
/* The same as below, for all keys. */
bool bb_bounds_contain_any(const struct bb_bounds *bounds, const struct bb_comparator *comparator,
                           struct bb_bytes key);

/* Certainly inside, as far as can be told without a call: nothing in common, and not a short key.
 */
static inline bool bb_bounds_contain_at_once(const struct bb_bounds *bounds, struct bb_bytes key)
{
    if (bounds->common_size > 0 || key.size < sizeof(uint64_t))
        return false;
    uint64_t number = __builtin_bswap64(bb_load64(key.data));
    return bounds->low < number && number < bounds->high;
}

static inline bool bb_bounds_contain(const struct bb_bounds *bounds,
                                     const struct bb_comparator *comparator, struct bb_bytes key)
{
    return bb_bounds_contain_at_once(bounds, key) || bb_bounds_contain_any(bounds, comparator, key);
}

#endif
