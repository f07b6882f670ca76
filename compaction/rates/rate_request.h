/* A request to the rate allocation: new tables that replace others, and the store around them.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATES_RATE_REQUEST_H
#define BB_COMPACTION_RATES_RATE_REQUEST_H

#include "compaction/levels/levels.h"
#include "compaction/levels/shape.h"
#include "compaction/rates/filter_budget.h"
#include "compaction/rates/read_weights.h"
#include "compaction/rates/waste_share.h"

/* A running merge of level 0, treated as finished: flushes during the merge will be newer than its
 * output, and will not share level 0 with its inputs. */
struct bb_rate_merge {
    uint64_t input; /* number of one of its tables */
    int level;      /* output level */
    size_t runs;    /* runs of level 0 that it merges */
    double keys;    /* keys of these runs */
    double bits;    /* bits that it adds to the filters of the store; may be negative */
};

struct bb_rate_request {
    const struct bb_levels *levels;
    struct bb_table_file *const *removed; /* tables replaced by the new ones */
    const int *removed_levels;
    /* The run of each removed table below level 0; NULL: run 0 for all. */
    const uint64_t *removed_runs;
    size_t removed_count;
    int output_level;
    uint64_t output_run;                   /* as in a plan; level 0: always a new one */
    uint64_t output_keys;                  /* of all new tables together, at most */
    uint64_t output_keys_min;              /* and at least, if known; 0: the same */
    struct bb_hull hull;                   /* of the new tables; without any: of all keys */
    const struct bb_shape *shape;          /* NULL: no level will grow */
    double target;                         /* R; a budget replaces it */
    const struct bb_read_weights *weights; /* NULL: every run has weight 1 */
    const struct bb_filter_budget *budget; /* NULL if none */
    const struct bb_rate_merge *merge;     /* NULL if none or unknown */
    /* The waste of tables that are being written at the same time. They were planned on the same
     * levels, and need their part of the target when they are installed. */
    const struct bb_waste_share *shares;    /* of all work; NULL: none */
    const struct bb_waste_share *own_share; /* of this work, which does not count; NULL: none */
};

static inline bool bb_rate_request_is_leveled(const struct bb_rate_request *request)
{
    return request->shape != NULL && bb_shape_is_leveled(request->shape);
}

/* The tables of a level that stay. */
struct bb_rate_part {
    double keys;
    /* In runs other than the output's: */
    size_t runs;
    /* In the output's run: */
    double run_rate_keys; /* sum of rate times keys */
    double run_keys;
};
struct bb_rate_part bb_rate_request_part(const struct bb_rate_request *request, int level);

/* The runs near the new tables. A run is near if it has a quarter of its keys within the bounds of
 * the new tables or of a near run, or if these have a quarter of theirs within its bounds
 * (spread.h). With more than 64 other runs, and without a hull, all runs are near. */
struct bb_rate_near {
    double keys;     /* of the near runs, without the output's */
    double run_keys; /* of the output's run, between the bounds of the near runs */
};
struct bb_rate_near bb_rate_request_near(const struct bb_rate_request *request);

/* The bounds of the output's run after the new tables have joined it. Without any: all keys. */
struct bb_hull bb_rate_request_output_hull(const struct bb_rate_request *request);

/* The greatest waste that the other runs and the shares cause at any key within this hull: the sum
 * of weight times rate of the runs whose bounds contain the key. With more than 64 of them: the sum
 * of all. last_level: the store's last level. */
double bb_rate_request_waste(const struct bb_rate_request *request, int last_level);
/* The same before the change, from all runs and without shares. */
double bb_rate_request_waste_before(const struct bb_rate_request *request, int last_level);
/* The most waste that the change adds at any key within this hull, when the output's run then
 * wastes output_waste; 0 if it adds none. Shares do not count. */
double bb_rate_request_waste_added(const struct bb_rate_request *request, int last_level,
                                   double output_waste);

/* The planned weight of a run. Of the runs of the last level, only the oldest counts as the store's
 * last run. */
double bb_rate_request_run_weight(const struct bb_levels *levels,
                                  const struct bb_read_weights *weights, int level, uint64_t run,
                                  int last_level);

/* The number of keys that a level can still take until it is full. The tables that stay take part
 * of its space, and so does the output if it is a separate run. REQUIRES: a shape. */
double bb_rate_request_free_keys(const struct bb_rate_request *request, int level,
                                 const struct bb_rate_part *part);
/* The number of keys of a full level below level 0. REQUIRES: a shape. */
double bb_rate_request_full_keys(const struct bb_rate_request *request, int level);
/* The number of runs that a level will gain until it is full, in addition to its present runs and
 * the output. REQUIRES: a shape. */
double bb_rate_request_runs_to_come(const struct bb_rate_request *request, int level,
                                    const struct bb_rate_part *part);
/* True when newer runs enter the level before the output is rewritten. They do in level 0, in all
 * levels above the output's, and in the output's level if it takes several runs. */
bool bb_rate_request_fills_first(const struct bb_rate_request *request, int level);

/* The store's last level with the new tables in place, at least level 1. If the output is for a
 * full last level, the level below it counts as the last one, because it is about to open. */
int bb_rate_request_last_level(const struct bb_rate_request *request);

/* True when a level overflows into an empty one below it. */
bool bb_rate_request_opens(const struct bb_levels *levels, const struct bb_shape *shape, int level);

#endif
