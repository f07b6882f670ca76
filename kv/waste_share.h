/* What each piece of work under way will add to the expected waste of the levels, weighted: whoever
 * plans filters leaves the others what they were promised.
 *
 *     flush         at most one        compaction    at most one        ingests    any number
 *
 * A list: shares are in it from set to end, and not copied meanwhile. Threads: the caller orders
 * all calls for one list.
 */
#ifndef BB_KV_WASTE_SHARE_H
#define BB_KV_WASTE_SHARE_H

#include <stdbool.h>

/* Zeroed it is in no list. */
struct bb_waste_share {
    double waste;
    bool is_listed;
    struct bb_waste_share *next;
};

/* The share is in the list from here on. */
void bb_waste_share_set(struct bb_waste_share **list, struct bb_waste_share *share, double waste);
/* It is not any more; nothing is to be done for one that was not. */
void bb_waste_share_end(struct bb_waste_share **list, struct bb_waste_share *share);
/* Of all in the list but one (NULL: of all). */
double bb_waste_share_others(const struct bb_waste_share *list, const struct bb_waste_share *one);

#endif
