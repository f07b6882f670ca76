/* The live tables by level: an immutable, shared value.
 *
 * Level 0 holds runs of one table each, newest first (descending number); they may overlap. Each
 * deeper level is one run: its tables ascend by key and hold no user key in common, so that
 * versions of one key are never spread over two tables of a level.
 *
 * Invariant: whatever bb_levels_apply gives keeps these rules, or it is BB_CORRUPT.
 * Threads: any, once made.
 */
#ifndef BB_COMPACTION_LEVELS_H
#define BB_COMPACTION_LEVELS_H

#include "compaction/table_file.h"

struct bb_level {
    struct bb_table_file **files; /* owned array, with a reference to each */
    size_t count;
    /* Below level 0, for finding: the largest keys' next eight bytes behind their common prefix. */
    uint64_t *largest_prefixes; /* owned; NULL with a comparator */
    size_t shared_size;
    uint64_t key_count;
    uint64_t raw_bytes;
    uint64_t file_bytes;
    uint64_t filter_bytes;
    /* Of the tables' filters: sum of the rates, sum of rate times keys. */
    double rate_sum;
    double rate_keys;
};

struct bb_levels {
    _Atomic uint32_t references;
    const struct bb_comparator *comparator; /* borrowed */
    struct bb_level levels[BB_LEVEL_COUNT];
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
    struct bb_table_file *file; /* a reference is taken */
};

/* The levels without the removed tables (by number) and with the added ones; a table that moves is
 * both. BB_CORRUPT: a removed number is not live, an added one is or is of no level, its bounds are
 * upside down, tables of a level overlap.
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

/* Below level 0: the table whose bounds hold the key, borrowed, or NULL. */
struct bb_table_file *bb_levels_find(const struct bb_levels *levels, int level,
                                     struct bb_bytes key);
/* Below level 0: index of the first table whose largest key is not below key; count if none. */
size_t bb_levels_find_index(const struct bb_levels *levels, int level, struct bb_bytes key);

/* Below level 0: tables *ret_first ... *ret_end - 1 have bounds that meet low ... high. */
void bb_levels_find_overlap(const struct bb_levels *levels, int level, struct bb_bytes low,
                            struct bb_bytes high, size_t *ret_first, size_t *ret_end);

/* The deepest level with tables, 0 when there are none below. */
int bb_levels_deepest(const struct bb_levels *levels);
/* Keys of all tables. */
uint64_t bb_levels_key_count(const struct bb_levels *levels);

#endif
