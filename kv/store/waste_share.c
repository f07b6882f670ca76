/* See waste_share.h. */
#include "kv/store/waste_share.h"
#include "base/assert.h"

#include <stddef.h>

void bb_waste_share_set(struct bb_waste_share **list, struct bb_waste_share *share, double waste)
{
    share->waste = waste;
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
    *share = (struct bb_waste_share){0};
}

double bb_waste_share_others(const struct bb_waste_share *list, const struct bb_waste_share *one)
{
    double sum = 0;
    for (const struct bb_waste_share *share = list; share != NULL; share = share->next)
        sum += share == one ? 0 : share->waste;
    return sum;
}
