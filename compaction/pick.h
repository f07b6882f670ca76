/* What to compact next: a pure function of the levels and the options.
 *
 * Leveled. Each level has a score: level 0 its runs against the count at which they are merged, deeper levels their bytes
 * against their target. The greatest score of at least 1 wins.
 *     level 0        all of its runs, with what they overlap in level 1
 *     deeper         the table that overlaps the fewest bytes below for its size, with these
 * A table of a deeper level that overlaps nothing below is moved, not rewritten. When nothing is due but the rates of the
 * filters add up to more than the promise allows, the table with the greatest excess is rewritten in its place, or, in level
 * 0, merged with all other runs there.
 */
#ifndef BB_COMPACTION_PICK_H
#define BB_COMPACTION_PICK_H

#include "compaction/levels.h"
#include "compaction/rates.h"

struct bb_pick_options {
    uint32_t level0_run_count;   /* merged from so many on */
    uint64_t level1_size_bytes;
    uint32_t level_size_ratio;
    bool has_filters; /* false: rates are not looked at */
    double target_wasted_reads;
    const struct bb_rate_shape *shape; /* for judging rates: bb_rate_request */
};

enum bb_plan_reason {
    BB_PLAN_NOTHING,
    BB_PLAN_LEVEL0_RUNS,
    BB_PLAN_LEVEL_SIZE,
    BB_PLAN_RATE_EXCESS,
    BB_PLAN_REQUEST,
};

/* A zeroed struct is "nothing to do". Owned: bb_plan_deinit. */
struct bb_plan {
    enum bb_plan_reason reason;
    int output_level;
    bool is_move;                /* one input, which changes its level and is not rewritten */
    struct bb_table_file **inputs; /* with references; level by level, in the order of each level */
    int *input_levels;
    size_t input_count;
};
void bb_plan_deinit(struct bb_plan *plan);

/* A level's size over its target, level 0's runs over their count. */
double bb_pick_score(const struct bb_levels *levels, const struct bb_pick_options *options, int level);

/* BB_NO_MEMORY; else *ret_plan, whose reason may be BB_PLAN_NOTHING. */
BB_MUST_CHECK enum bb_status bb_pick(const struct bb_levels *levels, const struct bb_pick_options *options,
                                     struct bb_plan *ret_plan);

/* All tables into the deepest level that has any, at least level 1. Nothing to do for a single run without old versions
 * and tombstones whose filters keep the promise closely. */
BB_MUST_CHECK enum bb_status bb_pick_all(const struct bb_levels *levels, const struct bb_pick_options *options,
                                         struct bb_plan *ret_plan);

#endif
