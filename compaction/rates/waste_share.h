/* The waste that each running piece of work will add to the levels, and where. Every piece of work
 * plans its filters so that the others keep their share of the target.
 *
 *     flush         at most one        compaction    at most one        ingests    any number
 *
 * Shares form a list. A share is in the list from set to end, and must not be copied in between.
 * Threads: the caller serialises all calls for one list.
 */
#ifndef BB_COMPACTION_RATES_WASTE_SHARE_H
#define BB_COMPACTION_RATES_WASTE_SHARE_H

#include "base/buf.h"
#include "compaction/levels/hull.h"

/* A zeroed share is in no list. */
struct bb_waste_share {
    double waste;
    struct bb_hull hull; /* of the new tables; without any: of all keys */
    bool is_listed;
    struct bb_waste_share *next;
    /* Copies of the bounds of the hull. */
    struct bb_buf low;
    struct bb_buf high;
};

/* Sets the waste of the keys within the hull, which is copied, and puts the share into the list.
 * Without memory for a copy the share counts for all keys. */
void bb_waste_share_set(struct bb_waste_share **list, struct bb_waste_share *share,
                        const struct bb_hull *hull, double waste);
/* Removes the share from the list; does nothing if it is not in it. */
void bb_waste_share_end(struct bb_waste_share **list, struct bb_waste_share *share);

#endif
