/* The waste that each running piece of work will add to the levels. Every piece of work
 * plans its filters so that the others keep their share of the target.
 *
 *     flush         at most one        compaction    at most one        ingests    any number
 *
 * Shares form a list. A share is in the list from set to end, and must not be copied in between.
 * Threads: the caller serialises all calls for one list.
 */
#ifndef BB_KV_STORE_WASTE_SHARE_H
#define BB_KV_STORE_WASTE_SHARE_H

#include <stdbool.h>

/* A zeroed share is in no list. */
struct bb_waste_share {
    double waste;
    bool is_listed;
    struct bb_waste_share *next;
};

/* Sets the waste and puts the share into the list. */
void bb_waste_share_set(struct bb_waste_share **list, struct bb_waste_share *share, double waste);
/* Removes the share from the list; does nothing if it is not in it. */
void bb_waste_share_end(struct bb_waste_share **list, struct bb_waste_share *share);
/* The sum of all shares in the list except `one` (NULL: of all). */
double bb_waste_share_others(const struct bb_waste_share *list, const struct bb_waste_share *one);

#endif
