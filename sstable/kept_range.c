/* See kept_range.h. */
#include "sstable/kept_range.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "sstable/entry.h"

enum bb_status bb_kept_range_init(struct bb_kept_range *kept, const struct bb_key_range *range)
{
    *kept = (struct bb_kept_range){0};
    if (range == NULL)
        return BB_OK;
    struct bb_bytes low = range->low != NULL ? *range->low : (struct bb_bytes){0};
    struct bb_bytes high = range->high != NULL ? *range->high : (struct bb_bytes){0};
    enum bb_status status = bb_entry_check_bounds(range->low, range->high);
    if (status == BB_OK)
        status = bb_buf_append(&kept->bounds, low.data, low.size);
    if (status == BB_OK)
        status = bb_buf_append(&kept->bounds, high.data, high.size);
    if (status != BB_OK) {
        bb_kept_range_deinit(kept);
        return status;
    }
    kept->low = bb_bytes_of(kept->bounds.data, low.size);
    kept->high = bb_bytes_after(bb_buf_bytes(&kept->bounds), low.size);
    kept->range.low = range->low != NULL ? &kept->low : NULL;
    kept->range.high = range->high != NULL ? &kept->high : NULL;
    return BB_OK;
}

void bb_kept_range_deinit(struct bb_kept_range *kept)
{
    bb_buf_deinit(&kept->bounds);
    *kept = (struct bb_kept_range){0};
}
