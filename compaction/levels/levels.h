/* The live tables by level: an immutable, shared value.
 *
 * A level holds runs, newest first, which may overlap. In level 0 each table is a run and has the
 * run's number. In deeper levels plans number the runs (plan.h); a level that was never merged by
 * tiers has one run, number 0.
 *
 *     level 0     9        8       7             newest first
 *     level 1    (5 4 6)  (1 2)                  two runs of 3 and 2 tables, the left one newer
 *     level 2    (3)
 *
 * Every version in a level is newer than all versions of the same key in deeper levels.
 *
 * Invariant: every result of bb_levels_apply follows these rules; otherwise it fails with
 * BB_CORRUPT.
 * Threads: any, after it is made.
 */
#ifndef BB_COMPACTION_LEVELS_LEVELS_H
#define BB_COMPACTION_LEVELS_LEVELS_H

#include "compaction/levels/run.h"

struct bb_level {
    /* Owned array with a reference to each file, run by run. */
    struct bb_table_file **files;
    size_t count;
    struct bb_run *runs; /* owned array */
    size_t run_count;
    uint64_t key_count;
    uint64_t raw_bytes;
    uint64_t file_bytes;
    uint64_t filter_bytes;
};

/* A run in lookup order. */
struct bb_run_turn {
    const struct bb_run *run;
    int level;
};

struct bb_levels {
    _Atomic uint32_t references;
    const struct bb_comparator *comparator; /* borrowed */
    struct bb_level levels[BB_LEVEL_COUNT];
    /* The runs of all levels, newest first: the order of lookups. */
    struct bb_run_turn *turns; /* owned; NULL without tables */
    size_t turn_count;
    /* The approximate number of keys of a run of level 0: of the latest runs, even if none remains.
     * 0: none existed yet. */
    uint64_t level0_run_keys;
};

/* Creates levels without tables. One reference. */
BB_MUST_CHECK enum bb_status bb_levels_create_empty(const struct bb_comparator *comparator,
                                                    struct bb_levels **ret_levels);
struct bb_levels *bb_levels_ref(struct bb_levels *levels);
/* NULL is allowed. */
void bb_levels_unref(struct bb_levels *levels);

struct bb_level_change {
    int level;
    uint64_t run;               /* ignored for level 0 */
    struct bb_table_file *file; /* apply takes a reference */
};

/* Returns the levels without the removed tables (by number) and with the added ones. A table that
 * moves is in both lists. Errors: BB_CORRUPT when a removed number is not live, an added one is
 * live already, its level does not exist, its bounds are reversed, or tables of a run overlap. */
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

/* The table of that number, borrowed; NULL if none. */
struct bb_table_file *bb_levels_find_number(const struct bb_levels *levels, uint64_t number);

/* Borrowed; index 0 is the newest run. */
static inline const struct bb_run *bb_levels_run(const struct bb_levels *levels, int level,
                                                 size_t index)
{
    return &levels->levels[level].runs[index];
}
/* The run of that number; NULL if none. */
const struct bb_run *bb_levels_find_run(const struct bb_levels *levels, int level, uint64_t number);
/* The oldest run of a level; NULL if none. */
const struct bb_run *bb_levels_oldest_run(const struct bb_levels *levels, int level);
/* Index in turns of the first run that is older than this run of a level. All after it are too. */
size_t bb_levels_first_older(const struct bb_levels *levels, int level, uint64_t run);
/* The longest of the runs that a later merge may read together with a run: the older runs of its
 * level and the runs of the next level. NULL without such runs. */
const struct bb_run *bb_levels_run_below(const struct bb_levels *levels, int level, uint64_t run);
/* The number of runs in all levels, which is the maximum number of tables that a lookup checks. */
static inline size_t bb_levels_run_count(const struct bb_levels *levels)
{
    return levels->turn_count;
}

/* The deepest level with tables; 0 when none exist below level 0. */
int bb_levels_deepest(const struct bb_levels *levels);
/* True when any table has range tombstones. */
bool bb_levels_have_range_tombstones(const struct bb_levels *levels);
/* The number of keys in all tables. */
uint64_t bb_levels_key_count(const struct bb_levels *levels);

#endif
