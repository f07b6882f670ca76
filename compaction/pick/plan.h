/* A plan of a compaction: the tables that it takes, and the place of its output. bb_pick,
 * bb_pick_all, bb_pick_covered and bb_range_progress_pick make plans. bb_compaction_create carries
 * them out; moves and removals need no compaction. */
#ifndef BB_COMPACTION_PICK_PLAN_H
#define BB_COMPACTION_PICK_PLAN_H

#include "compaction/levels/levels.h"
#include "compaction/levels/shape.h"

enum bb_plan_reason {
    BB_PLAN_NOTHING,
    BB_PLAN_LEVEL0_RUNS,
    BB_PLAN_LEVEL_SIZE,
    BB_PLAN_RATE_EXCESS,
    BB_PLAN_REQUEST,
    BB_PLAN_RANGE,
    /* Too many small runs in a level, or several in a level that should have one. */
    BB_PLAN_RUNS,
    /* Tombstones beyond their maximum age, or versions that no snapshot needs any more. */
    BB_PLAN_TOMBSTONES,
    /* Iterators have paid for it: pick_scans.h. */
    BB_PLAN_SCANS,
    /* Completely hidden inputs: they are removed without being read, and there is no output. */
    BB_PLAN_COVERED,
};

/* A zeroed struct means "nothing to do". Owned: bb_plan_deinit. */
struct bb_plan {
    enum bb_plan_reason reason;
    int output_level;
    /* Number of the output run: an existing or a new one. Level 0: 0. */
    uint64_t output_run;
    /* The inputs change their level and are not rewritten. */
    bool is_move;
    /* Part of work that leaves the store as one run: rates match the target exactly, and no level
     * is expected to grow. */
    bool is_full;
    /* With references; level by level, run by run, in the order of each run. */
    struct bb_table_file **inputs;
    int *input_levels;
    uint64_t *input_runs;
    size_t input_count;
    /* In the same arrays, after the inputs: tables that later plans of the same work take. Rates
     * are planned as if this plan took them too. */
    size_t later_count;
};

/* Starts a plan without inputs, with space for all tables of the levels. */
BB_MUST_CHECK enum bb_status bb_plan_init(struct bb_plan *plan, const struct bb_levels *levels,
                                          enum bb_plan_reason reason, int output_level);
void bb_plan_deinit(struct bb_plan *plan);
/* A copy without later tables. It has separate references. */
BB_MUST_CHECK enum bb_status bb_plan_copy(const struct bb_plan *plan, struct bb_plan *ret_copy);

/* Takes a reference to the file. Call in ascending order of levels, and in the level's order of
 * runs. */
void bb_plan_add(struct bb_plan *plan, int level, uint64_t run, struct bb_table_file *file);
/* Adds a table that a later plan takes. Call after all inputs are added. */
void bb_plan_add_later(struct bb_plan *plan, int level, uint64_t run, struct bb_table_file *file);
/* Adds all tables of a run. */
void bb_plan_add_run(struct bb_plan *plan, int level, const struct bb_run *run);
/* Adds the tables of a run that have keys between low and high. */
void bb_plan_add_overlap(struct bb_plan *plan, const struct bb_levels *levels, int level,
                         const struct bb_run *run, struct bb_bytes low, struct bb_bytes high);

/* Chooses the output run for inputs of the level above, which are between low and high and leave no
 * older data in their level. If the output level should have only one run, this chooses that run,
 * and adds its tables that the inputs overlap. Otherwise it chooses a new run. */
void bb_plan_aim(struct bb_plan *plan, const struct bb_levels *levels, const struct bb_shape *shape,
                 struct bb_bytes low, struct bb_bytes high);

/* Plans a merge of all runs of level 0. In a shape that keeps level 1 as one run, they are merged
 * with the tables of level 1 that they overlap; otherwise they become a new run of level 1.
 * REQUIRES: level 0 has tables. */
BB_MUST_CHECK enum bb_status bb_plan_level0(struct bb_plan *plan, const struct bb_levels *levels,
                                            const struct bb_shape *shape,
                                            enum bb_plan_reason reason);

/* The mean rate of the inputs' filters, weighted by keys: the rate of the tables after a move. */
double bb_plan_moved_rate(const struct bb_plan *plan);

/* The number for a run that is newer than all runs of a level: 0 for the first. */
uint64_t bb_plan_new_run(const struct bb_levels *levels, int level);

#endif
