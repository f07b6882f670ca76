/* What is asked of the allocation of rates: new tables that take the place of others, and the store
 * around them.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATE_REQUEST_H
#define BB_COMPACTION_RATE_REQUEST_H

#include "compaction/filter_budget.h"
#include "compaction/levels.h"
#include "compaction/read_weights.h"
#include "compaction/shape.h"

/* A merge of level 0 under way, as if it were done: the flushes beside it will stand in front of
 * its output, and not beside its inputs. */
struct bb_rate_merge {
    uint64_t input; /* number of one of its tables */
    int level;      /* of the output */
    size_t runs;    /* of level 0 */
    double keys;    /* in these */
    double bits;    /* that filters will have more, or less */
};

struct bb_rate_request {
    const struct bb_levels *levels;
    struct bb_table_file *const *removed; /* tables that the new ones replace */
    const int *removed_levels;
    const uint64_t *removed_runs; /* NULL: all of run 0, below level 0 */
    size_t removed_count;
    int output_level;
    uint64_t output_run;                   /* as in a plan; level 0: always a new one */
    uint64_t output_keys;                  /* of all new tables together, at most */
    uint64_t output_keys_min;              /* and at least, as far as is known; 0: as many */
    const struct bb_shape *shape;          /* NULL: nothing will grow */
    double target;                         /* R; a budget is in its place */
    const struct bb_read_weights *weights; /* NULL: every wasted read counts 1 */
    const struct bb_filter_budget *budget; /* NULL: none */
    const struct bb_rate_merge *merge;     /* NULL: none, or it is not known */
    /* Waste, weighted, that tables will add which are being written beside these: they were planned
     * on the same levels, and are to find their part of the promise when they join them. */
    double pending_waste;
};

/* The tables of a level that stay. */
struct bb_rate_part {
    double keys;
    /* In runs other than the output's: */
    double waste; /* sum of their rates, each times what a wasted read of it counts */
    size_t runs;
    /* In the output's run: */
    double run_rate_keys; /* sum of rate times keys */
    double run_keys;
};
/* last: the store's last level, for the weights. */
struct bb_rate_part bb_rate_request_part(const struct bb_rate_request *request, int level,
                                         int last);

/* What a wasted read of a run is planned to count: the oldest one of the last level is the last
 * one. */
double bb_rate_run_weight(const struct bb_levels *levels, const struct bb_read_weights *weights,
                          int level, uint64_t run, int last);

/* Keys that a level can take until it is full, beside the part that stays and the output, if the
 * output is a run of its own. REQUIRES: a shape. */
double bb_rate_request_room(const struct bb_rate_request *request, int level,
                            const struct bb_rate_part *part);
/* Keys of a level below level 0 that is full. REQUIRES: a shape. */
double bb_rate_request_full(const struct bb_rate_request *request, int level);
/* Runs that a level will have when it is full, beside those that it has and the output. REQUIRES: a
 * shape. */
double bb_rate_request_runs_to_come(const struct bb_rate_request *request, int level,
                                    const struct bb_rate_part *part);
/* Is the output, a run of a level that takes several, one of those that the shape plans for?
 * REQUIRES: a shape. */
bool bb_rate_request_is_planned(const struct bb_rate_request *request, int level,
                                const struct bb_rate_part *part);
/* Do newer runs come into the level before the output is rewritten? All above the output's, level
 * 0, and the output's own one when it takes several. */
bool bb_rate_request_fills_first(const struct bb_rate_request *request, int level);

/* The store's last level with the new tables in place, at least level 1. What is written to a last
 * level that is full is planned for the one below it, which is about to be opened. */
int bb_rate_request_last_level(const struct bb_rate_request *request);

/* Does a level overflow into an empty one below it? */
bool bb_rate_request_opens(const struct bb_levels *levels, const struct bb_shape *shape, int level);

#endif
