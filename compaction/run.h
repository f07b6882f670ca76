/* One sorted run: tables that ascend by key and hold no user key in common, so that a look-up asks
 * one of them, and versions of one key are never spread over two. What a range tombstone covers counts
 * as held; two tables may meet at a key where one's last range tombstone ends.
 *
 * Part of a level (levels.h), which owns it. Threads: any, once made.
 */
#ifndef BB_COMPACTION_RUN_H
#define BB_COMPACTION_RUN_H

#include "base/coding.h"
#include "compaction/table_file.h"
#include "sstable/prefix_search.h"

struct bb_run {
    uint64_t number; /* within its level: the greater, the newer. Of level 0 that of the table */
    struct bb_table_file **files; /* at least one; part of the level's array */
    size_t count;
    /* For finding: the next eight bytes of each table's bounds behind what all of them begin with.
     */
    uint64_t *largest_prefixes;        /* owned; NULL with a comparator */
    const uint64_t *smallest_prefixes; /* behind these, in the same memory */
    const uint8_t *shared;             /* borrowed from a bound */
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

/* The table whose bounds hold the key, borrowed, or NULL: as far as the eight bytes tell, which they
 * do for all keys but those that begin as a bound does. False when they do not. */
static inline bool bb_run_find_at_once(const struct bb_run *run, struct bb_bytes key,
                                       struct bb_table_file **ret_file)
{
    size_t shared_size = run->shared_size;
    if (run->largest_prefixes == NULL || key.size < shared_size + sizeof(uint64_t) ||
        (shared_size > 0 && memcmp(key.data, run->shared, shared_size) != 0))
        return false;
    uint64_t prefix = __builtin_bswap64(bb_load64(key.data + shared_size));
    uint32_t place = bb_prefix_search(run->largest_prefixes, (uint32_t)run->count, prefix);
    if (place == run->count) {
        *ret_file = NULL;
        return true;
    }
    uint64_t smallest = run->smallest_prefixes[place];
    if (prefix == smallest || prefix == run->largest_prefixes[place])
        return false;
    *ret_file = smallest < prefix ? run->files[place] : NULL;
    return true;
}

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
