/* The bounds of a table's keys. See the header. Threads: constant after init. */
#include "sstable/meta/bounds.h"

#include "sstable/prefix_search.h"

void bb_bounds_init(struct bb_bounds *bounds, const struct bb_comparator *comparator,
                    struct bb_bytes smallest, struct bb_bytes largest)
{
    *bounds = (struct bb_bounds){.smallest = smallest, .largest = largest};
    if (comparator != NULL)
        return;
    size_t common = bb_bytes_shared_prefix(smallest, largest);
    bounds->common_size = (uint32_t)common;
    bounds->common_number = bb_bytes_prefix64(bb_bytes_of(smallest.data, common));
    bounds->low = bb_bytes_prefix64(bb_bytes_after(smallest, common));
    bounds->high = bb_bytes_prefix64(bb_bytes_after(largest, common));
}

static bool begins_as_bounds(const struct bb_bounds *bounds, struct bb_bytes key)
{
    uint32_t size = bounds->common_size;
    if (size <= sizeof(uint64_t))
        return bb_prefix_compare(bounds->common_number, size, key) == 0;
    return key.size >= size && memcmp(bounds->smallest.data, key.data, size) == 0;
}

bool bb_bounds_contain_any(const struct bb_bounds *bounds, const struct bb_comparator *comparator,
                           struct bb_bytes key)
{
    if (bounds->low < bounds->high && begins_as_bounds(bounds, key)) {
        uint64_t number = bb_bytes_prefix64(bb_bytes_after(key, bounds->common_size));
        if (bounds->low < number && number < bounds->high)
            return true;
    }
    if (bb_key_compare(comparator, key, bounds->smallest) < 0)
        return false;
    int order = bb_key_compare(comparator, key, bounds->largest);
    return order < 0 || (order == 0 && !bounds->largest_is_exclusive);
}
