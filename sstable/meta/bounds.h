/* The bounds of a table's keys, prepared for fast comparison. Every lookup starts here.
 *
 * The prefix that both bounds share is split off, and the next eight bytes of each bound are kept
 * as a number. A key whose number is strictly between the two is inside. Other keys need
 * whole-key comparisons, as all keys do under a comparator that is not bytewise.
 * Threads: constant after init.
 */
#ifndef BB_SSTABLE_META_BOUNDS_H
#define BB_SSTABLE_META_BOUNDS_H

#include "base/bytes.h"
#include "base/coding.h"
#include "sstable/prefix_search.h"

struct bb_bounds {
    uint64_t low; /* below high; if not, the numbers are not used */
    uint64_t high;
    struct bb_prefix common;
    struct bb_bytes smallest; /* borrowed; inclusive */
    struct bb_bytes largest;
    bool largest_is_exclusive;
};

void bb_bounds_init(struct bb_bounds *bounds, const struct bb_comparator *comparator,
                    struct bb_bytes smallest, struct bb_bytes largest);
/* Like bb_bounds_contain below, for any key. */
bool bb_bounds_contain_any(const struct bb_bounds *bounds, const struct bb_comparator *comparator,
                           struct bb_bytes key);

/* A fast check without a function call. True means certainly inside; false means unknown. It
 * applies when the bounds share no prefix and the key has at least eight bytes. */
static inline bool bb_bounds_contain_at_once(const struct bb_bounds *bounds, struct bb_bytes key)
{
    if (bounds->common.size > 0 || key.size < sizeof(uint64_t))
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
