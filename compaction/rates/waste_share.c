/* See waste_share.h. */
#include "compaction/rates/waste_share.h"

#include "base/assert.h"

static void copy_hull(struct bb_waste_share *share, const struct bb_hull *hull)
{
    share->hull = (struct bb_hull){.comparator = hull->comparator};
    if (hull->has_any && bb_buf_assign(&share->low, hull->low) == BB_OK &&
        bb_buf_assign(&share->high, hull->high) == BB_OK)
        bb_hull_widen(&share->hull, bb_buf_bytes(&share->low), bb_buf_bytes(&share->high));
}

void bb_waste_share_set(struct bb_waste_share **list, struct bb_waste_share *share,
                        const struct bb_hull *hull, double waste)
{
    share->waste = waste;
    copy_hull(share, hull);
    if (share->is_listed)
        return;
    share->is_listed = true;
    share->next = *list;
    *list = share;
}

void bb_waste_share_end(struct bb_waste_share **list, struct bb_waste_share *share)
{
    struct bb_waste_share **link = list;
    if (!share->is_listed)
        return;
    while (*link != share) {
        BB_DEBUG_ASSERT(*link != NULL);
        link = &(*link)->next;
    }
    *link = share->next;
    bb_buf_deinit(&share->low);
    bb_buf_deinit(&share->high);
    *share = (struct bb_waste_share){0};
}
