/* What a compaction is to do: which tables it takes and where its output goes. Made by bb_pick,
 * bb_pick_all and bb_range_progress_pick, carried out by bb_compaction_create, or by moving a table. */
#ifndef BB_COMPACTION_PLAN_H
#define BB_COMPACTION_PLAN_H

#include "compaction/levels.h"

enum bb_plan_reason {
    BB_PLAN_NOTHING,
    BB_PLAN_LEVEL0_RUNS,
    BB_PLAN_LEVEL_SIZE,
    BB_PLAN_RATE_EXCESS,
    BB_PLAN_REQUEST,
    BB_PLAN_RANGE,
};

/* A zeroed struct is "nothing to do". Owned: bb_plan_deinit. */
struct bb_plan {
    enum bb_plan_reason reason;
    int output_level;
    bool is_move;                  /* one input, which changes its level and is not rewritten */
    struct bb_table_file **inputs; /* with references; level by level, in the order of each level */
    int *input_levels;
    size_t input_count;
};

/* Without inputs, with room for all tables of the levels. */
BB_MUST_CHECK enum bb_status bb_plan_init(struct bb_plan *plan, const struct bb_levels *levels,
                                          enum bb_plan_reason reason, int output_level);
void bb_plan_deinit(struct bb_plan *plan);

/* Takes a reference to the file. Levels ascend. */
void bb_plan_add(struct bb_plan *plan, int level, struct bb_table_file *file);
/* Adds the tables of a deeper level that hold keys between low and high. */
void bb_plan_add_overlap(struct bb_plan *plan, const struct bb_levels *levels, int level,
                         struct bb_bytes low, struct bb_bytes high);

#endif
