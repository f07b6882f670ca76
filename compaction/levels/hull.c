/* See hull.h. */
#include "compaction/levels/hull.h"

#include "base/assert.h"
#include "base/bytes.h"

void bb_hull_widen(struct bb_hull *hull, struct bb_bytes low, struct bb_bytes high)
{
    if (!hull->has_any || bb_key_compare(hull->comparator, low, hull->low) < 0)
        hull->low = low;
    if (!hull->has_any || bb_key_compare(hull->comparator, high, hull->high) > 0)
        hull->high = high;
    hull->has_any = true;
}

void bb_hull_add(struct bb_hull *hull, const struct bb_table_file *file)
{
    bb_hull_widen(hull, bb_table_file_smallest(file), bb_table_file_largest(file));
}

void bb_hull_add_run(struct bb_hull *hull, const struct bb_run *run, size_t count)
{
    BB_DEBUG_ASSERT(count <= run->count);
    if (count > 0)
        bb_hull_widen(hull, bb_table_file_smallest(run->files[0]),
                      bb_table_file_largest(run->files[count - 1]));
}

bool bb_hull_meets(const struct bb_hull *hull, const struct bb_table_file *file)
{
    return hull->has_any &&
           bb_key_compare(hull->comparator, bb_table_file_smallest(file), hull->high) <= 0 &&
           bb_key_compare(hull->comparator, hull->low, bb_table_file_largest(file)) <= 0;
}

void bb_hull_find_overlap(const struct bb_hull *hull, const struct bb_run *run, size_t *ret_first,
                          size_t *ret_end)
{
    *ret_first = 0;
    *ret_end = 0;
    if (hull->has_any)
        bb_run_find_overlap(run, hull->comparator, hull->low, hull->high, ret_first, ret_end);
}
