/* The bounds of a table's keys. See the header. Threads: constant after init. */
#include "sstable/meta/bounds.h"

void bb_bounds_init(struct bb_bounds *bounds, const struct bb_comparator *comparator,
                    struct bb_bytes smallest, struct bb_bytes largest)
{
    *bounds = (struct bb_bounds){.smallest = smallest, .largest = largest};
    if (comparator != NULL)
        return;
    size_t common = bb_bytes_shared_prefix(smallest, largest);
    bounds->common = bb_prefix_of(bb_bytes_of(smallest.data, common));
    bounds->low = bb_bytes_prefix64(bb_bytes_after(smallest, common));
    bounds->high = bb_bytes_prefix64(bb_bytes_after(largest, common));
}

bool bb_bounds_contain_any(const struct bb_bounds *bounds, const struct bb_comparator *comparator,
                           struct bb_bytes key)
{
    if (bounds->low < bounds->high && bb_prefix_compare(&bounds->common, key) == 0) {
        uint64_t number = bb_bytes_prefix64(bb_bytes_after(key, bounds->common.size));
        if (bounds->low < number && number < bounds->high)
            return true;
    }
    if (bb_key_compare(comparator, key, bounds->smallest) < 0)
        return false;
    int order = bb_key_compare(comparator, key, bounds->largest);
    return order < 0 || (order == 0 && !bounds->largest_is_exclusive);
}
