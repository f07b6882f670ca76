/* The live tables by level: an immutable, shared value.
 *
 * A level holds runs, newest first; runs may overlap. Level 0: each table is one, by its number.
 * Deeper levels: numbers are given by plans (plan.h), and a level that was never merged by tiers has
 * the one run 0.
 *
 *     level 0     9        8       7             newest first
 *     level 1    (5 4 6)  (1 2)                  two runs of 3 and 2 tables, the left one newer
 *     level 2    (3)
 *
 * All that a level holds is newer than what a deeper one has of the same key.
 *
 * Invariant: whatever bb_levels_apply gives keeps these rules, or it is BB_CORRUPT.
 * Threads: any, once made.
 */
#ifndef BB_COMPACTION_LEVELS_H
#define BB_COMPACTION_LEVELS_H

#include "compaction/run.h"

struct bb_level {
    struct bb_table_file **files; /* owned array, with a reference to each; run by run */
    size_t count;
    struct bb_run *runs; /* owned array */
    size_t run_count;
    uint64_t key_count;
    uint64_t raw_bytes;
    uint64_t file_bytes;
    uint64_t filter_bytes;
};

/* A run where a look-up comes to it. */
struct bb_run_turn {
    const struct bb_run *run;
    int level;
};

struct bb_levels {
    _Atomic uint32_t references;
    const struct bb_comparator *comparator; /* borrowed */
    struct bb_level levels[BB_LEVEL_COUNT];
    /* The runs of all levels, newest first: in this order a look-up asks them. */
    struct bb_run_turn *turns; /* owned; NULL without tables */
    size_t turn_count;
    /* About how many keys a run of level 0 has: the last ones there were, also when none is left.
     * 0: there was none yet. */
    uint64_t level0_run_keys;
};

/* No tables, one reference. */
BB_MUST_CHECK enum bb_status bb_levels_create_empty(const struct bb_comparator *comparator,
                                                    struct bb_levels **ret_levels);
struct bb_levels *bb_levels_ref(struct bb_levels *levels);
/* NULL is allowed. */
void bb_levels_unref(struct bb_levels *levels);

struct bb_level_change {
    int level;
    uint64_t run;               /* of level 0: not looked at */
    struct bb_table_file *file; /* a reference is taken */
};

/* The levels without the removed tables (by number) and with the added ones; a table that moves is
 * both. BB_CORRUPT: a removed number is not live, an added one is or is of no level, its bounds are
 * upside down, tables of a run overlap.
 */
BB_MUST_CHECK enum bb_status bb_levels_apply(const struct bb_levels *levels,
                                             const uint64_t *removed, size_t removed_count,
                                             const struct bb_level_change *added,
                                             size_t added_count, struct bb_levels **ret_levels);

static inline size_t bb_levels_table_count(const struct bb_levels *levels, int level)
{
    return levels->levels[level].count;
}

/* Borrowed. */
static inline struct bb_table_file *bb_levels_table(const struct bb_levels *levels, int level,
                                                    size_t index)
{
    return levels->levels[level].files[index];
}

/* The table of that number, borrowed, or NULL. */
struct bb_table_file *bb_levels_find_number(const struct bb_levels *levels, uint64_t number);

/* Borrowed; index 0 is the newest run. */
static inline const struct bb_run *bb_levels_run(const struct bb_levels *levels, int level,
                                                 size_t index)
{
    return &levels->levels[level].runs[index];
}
/* The run of that number, or NULL. */
const struct bb_run *bb_levels_find_run(const struct bb_levels *levels, int level, uint64_t number);
/* The oldest run of a level, or NULL. */
const struct bb_run *bb_levels_oldest_run(const struct bb_levels *levels, int level);
/* Runs of all levels: as many tables as a look-up of an absent key asks. */
static inline size_t bb_levels_run_count(const struct bb_levels *levels)
{
    return levels->turn_count;
}

/* The deepest level with tables, 0 when there are none below. */
int bb_levels_deepest(const struct bb_levels *levels);
/* Has any table range tombstones? */
bool bb_levels_have_range_tombstones(const struct bb_levels *levels);
/* Keys of all tables. */
uint64_t bb_levels_key_count(const struct bb_levels *levels);

#endif
