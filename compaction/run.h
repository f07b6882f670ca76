/* One sorted run: tables that ascend by key and hold no user key in common, so that a look-up asks
 * one of them, and versions of one key are never spread over two. What a range tombstone covers counts
 * as held; two tables may meet at a key where one's last range tombstone ends.
 *
 * Part of a level (levels.h), which owns it. Threads: any, once made.
 */
#ifndef BB_COMPACTION_RUN_H
#define BB_COMPACTION_RUN_H

#include "compaction/table_file.h"

struct bb_run {
    uint64_t number; /* within its level: the greater, the newer. Of level 0 that of the table */
    struct bb_table_file **files; /* at least one; part of the level's array */
    size_t count;
    /* For finding: the largest keys' next eight bytes behind their common prefix. */
    uint64_t *largest_prefixes; /* owned; NULL with a comparator, and for a single table */
    size_t shared_size;
    uint64_t key_count;
    uint64_t file_bytes;
    uint64_t range_tombstone_count;
    double rate_keys; /* sum of rate times keys of the filters */
};

/* Fills in what follows from files and count. On failure there is nothing to deinit. BB_NO_MEMORY;
 * BB_CORRUPT when tables overlap: level is for the message. */
BB_MUST_CHECK enum bb_status bb_run_index(struct bb_run *run,
                                          const struct bb_comparator *comparator, int level);
void bb_run_deinit(struct bb_run *run);

/* The table whose bounds hold the key, borrowed, or NULL. */
struct bb_table_file *bb_run_find(const struct bb_run *run, const struct bb_comparator *comparator,
                                  struct bb_bytes key);
/* Index of the first table that does not end before key; count if none. */
size_t bb_run_find_index(const struct bb_run *run, const struct bb_comparator *comparator,
                         struct bb_bytes key);
/* Tables *ret_first ... *ret_end - 1 have bounds that meet low ... high. */
void bb_run_find_overlap(const struct bb_run *run, const struct bb_comparator *comparator,
                         struct bb_bytes low, struct bb_bytes high, size_t *ret_first,
                         size_t *ret_end);

/* Expected wasted requests of an absent look-up: the mean of the tables' rates by keys. */
static inline double bb_run_rate(const struct bb_run *run)
{
    return run->key_count == 0 ? 0 : run->rate_keys / (double)run->key_count;
}

#endif
