/* What is asked of the allocation of rates: new tables that take the place of others, and the store
 * around them.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATE_REQUEST_H
#define BB_COMPACTION_RATE_REQUEST_H

#include "compaction/filter_cost.h"
#include "compaction/levels.h"
#include "compaction/read_weights.h"
#include "compaction/shape.h"

/* Memory for all filters, and what they cost. */
struct bb_filter_budget {
    uint64_t bytes; /* 0: there is no budget */
    struct bb_filter_cost cost;
};

struct bb_rate_request {
    const struct bb_levels *levels;
    struct bb_table_file *const *removed; /* tables that the new ones replace */
    const int *removed_levels;
    size_t removed_count;
    int output_level;
    uint64_t output_keys;                  /* of all new tables together, at most */
    uint64_t output_keys_min;              /* and at least, as far as is known; 0: as many */
    const struct bb_shape *shape;          /* NULL: nothing will grow */
    double target;                         /* R; a budget is in its place */
    const struct bb_read_weights *weights; /* NULL: every wasted read counts 1 */
    const struct bb_filter_budget *budget; /* NULL: none */
    /* Waste, weighted, that tables will add which are being written beside these: they were planned
     * on the same levels, and are to find their part of the promise when they join them. */
    double pending_waste;
};

/* The tables of a level that stay. */
struct bb_rate_part {
    double rates;     /* sum over tables */
    double rate_keys; /* sum of rate times keys */
    double keys;
    size_t tables;
};
struct bb_rate_part bb_rate_request_part(const struct bb_rate_request *request, int level);

/* Keys that a level can take until it is full, beside the part that stays and, in level 0, the
 * output. REQUIRES: a shape. */
double bb_rate_request_room(const struct bb_rate_request *request, int level,
                            const struct bb_rate_part *part);
/* Keys of a level below level 0 that is full. REQUIRES: a shape. */
double bb_rate_request_full(const struct bb_rate_request *request, int level);
/* Runs that a level will have when it is full, beside those that it has and the output. REQUIRES: a
 * shape. */
double bb_rate_request_runs_to_come(const struct bb_rate_request *request, int level,
                                    const struct bb_rate_part *part);

/* The store's last level with the new tables in place, at least level 1. What is written to a last
 * level that is full is planned for the one below it, which is about to be opened. */
int bb_rate_request_last_level(const struct bb_rate_request *request);

/* Does a level overflow into an empty one below it? */
bool bb_rate_request_opens(const struct bb_levels *levels, const struct bb_shape *shape, int level);

#endif
