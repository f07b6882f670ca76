/* What a compaction is to do: which tables it takes and where its output goes. Made by bb_pick,
 * bb_pick_all, bb_pick_covered and bb_range_progress_pick, carried out by bb_compaction_create, or by
 * moving or removing tables. */
#ifndef BB_COMPACTION_PLAN_H
#define BB_COMPACTION_PLAN_H

#include "compaction/levels.h"
#include "compaction/shape.h"

enum bb_plan_reason {
    BB_PLAN_NOTHING,
    BB_PLAN_LEVEL0_RUNS,
    BB_PLAN_LEVEL_SIZE,
    BB_PLAN_RATE_EXCESS,
    BB_PLAN_REQUEST,
    BB_PLAN_RANGE,
    BB_PLAN_RUNS,       /* too many in a level, which are small, or of which it is to have one */
    BB_PLAN_TOMBSTONES, /* older than they may be, or versions that no snapshot needs any more */
    BB_PLAN_COVERED,    /* hidden altogether: the inputs go unread, and nothing is written */
};

/* A zeroed struct is "nothing to do". Owned: bb_plan_deinit. */
struct bb_plan {
    enum bb_plan_reason reason;
    int output_level;
    uint64_t output_run; /* its number: that of a run which is there, or of a new one; level 0: 0 */
    bool is_move;        /* the inputs change their level, and are not rewritten */
    struct bb_table_file **inputs; /* with references; level by level, run by run, in the order of
                                      each run */
    int *input_levels;
    uint64_t *input_runs;
    size_t input_count;
};

/* Without inputs, with room for all tables of the levels. */
BB_MUST_CHECK enum bb_status bb_plan_init(struct bb_plan *plan, const struct bb_levels *levels,
                                          enum bb_plan_reason reason, int output_level);
void bb_plan_deinit(struct bb_plan *plan);

/* Takes a reference to the file. Levels ascend, runs follow as in their level. */
void bb_plan_add(struct bb_plan *plan, int level, uint64_t run, struct bb_table_file *file);
/* Adds all tables of a run. */
void bb_plan_add_run(struct bb_plan *plan, int level, const struct bb_run *run);
/* Adds the tables of a run (NULL: none) that hold keys between low and high. */
void bb_plan_add_overlap(struct bb_plan *plan, const struct bb_levels *levels, int level,
                         const struct bb_run *run, struct bb_bytes low, struct bb_bytes high);

/* Aims inputs of the level above the output's, which lie between low and high and leave nothing
 * older behind: at the only run of the output's level, with what they overlap there, if it is to be
 * the only one; else at a new run. */
void bb_plan_aim(struct bb_plan *plan, const struct bb_levels *levels, const struct bb_shape *shape,
                 struct bb_bytes low, struct bb_bytes high);

/* The mean rate of the inputs' filters, by keys: that of what is moved. */
double bb_plan_moved_rate(const struct bb_plan *plan);

/* The number of a run that is newer than all of a level: 0 when it is the first. */
uint64_t bb_plan_new_run(const struct bb_levels *levels, int level);

#endif
