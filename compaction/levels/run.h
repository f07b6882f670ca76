/* One sorted run: tables that ascend by key and have no user key in common. A lookup checks only
 * one of them, and versions of one key are never split over two. Keys that a range tombstone covers
 * count as keys of the table. Two tables may touch at a key where the last range tombstone of the
 * first one ends.
 *
 * A run is part of a level (levels.h), which owns it. Threads: any, after it is made.
 */
#ifndef BB_COMPACTION_LEVELS_RUN_H
#define BB_COMPACTION_LEVELS_RUN_H

#include "base/assert.h"
#include "base/coding.h"
#include "compaction/levels/table_file.h"
#include "sstable/index/prefix_guide.h"
#include "sstable/prefix_search.h"

struct bb_table_filter;

/* Data next to a table's largest key, for lookups that found the table by that key. */
struct bb_run_place {
    uint64_t smallest_prefix;
    /* The table's ready table filter (bb_table_lookup_ready_filter): one load leads from the key
     * to the table filter, instead of one load each for the file, the table and the table filter.
     * NULL until first requested. */
    _Atomic(const struct bb_table_filter *) table_filter;
};

struct bb_run {
    /* Number within its level; greater is newer. In level 0, the number of the table. */
    uint64_t number;
    /* At least one; part of the level's array. */
    struct bb_table_file **files;
    size_t count;
    /* The keys of all tables before each one; count of them. Owned. */
    uint64_t *keys_before;
    /* For searching: eight bytes of each table's bounds, after the prefix that all bounds share. */
    uint64_t *largest_prefixes;   /* owned; NULL with a comparator */
    struct bb_run_place *places;  /* owned; parallel to largest_prefixes */
    struct bb_prefix_guide guide; /* over largest_prefixes */
    struct bb_prefix shared;      /* by all bounds; empty with a comparator */
    /* Its first eight bytes; shared_mask selects the bytes that exist. */
    uint64_t shared_head;
    uint64_t shared_mask;
    uint64_t key_count;
    uint64_t file_bytes;
    uint64_t range_tombstone_count;
    double rate_keys;           /* sum of the filters' rate times keys */
    double predicted_rate_keys; /* sum of their predicted rate times keys */
};

/* Fills in the fields that follow from files and count. On failure there is nothing to deinit.
 * Errors: BB_NO_MEMORY; BB_CORRUPT when tables overlap. level is for the message. */
BB_MUST_CHECK enum bb_status bb_run_index(struct bb_run *run,
                                          const struct bb_comparator *comparator, int level);
void bb_run_deinit(struct bb_run *run);

/* True when the key starts with the shared prefix. REQUIRES: it has eight bytes after it. */
static inline bool bb_run_begins_alike(const struct bb_run *run, struct bb_bytes key)
{
    BB_DEBUG_ASSERT(key.size >= run->shared.size + sizeof(uint64_t));
    return ((bb_load64(key.data) ^ run->shared_head) & run->shared_mask) == 0 &&
           (run->shared.size <= sizeof(uint64_t) ||
            memcmp(key.data, run->shared.bytes, run->shared.size) == 0);
}

/* The result for a key with this prefix, without the guide: the simple form of the search. */
bool bb_run_find_by_prefix(const struct bb_run *run, uint64_t prefix, size_t *ret_index);

/* The same with the guide, or without one for a run of one table: such runs are in level 0. */
static inline bool bb_run_find_by_guide(const struct bb_run *run, uint64_t prefix,
                                        size_t *ret_index)
{
    size_t index = 0;
    bool is_guided =
        run->count == 1 || bb_prefix_guide_find(&run->guide, run->largest_prefixes, prefix, &index);
    if (is_guided && run->places[index].smallest_prefix < prefix &&
        prefix < run->largest_prefixes[index]) {
        *ret_index = index;
        return true;
    }
    return bb_run_find_by_prefix(run, prefix, ret_index);
}

/* bb_run_find_at_once for a key without eight bytes after the shared prefix. */
bool bb_run_find_short(const struct bb_run *run, struct bb_bytes key, size_t *ret_index);

/* Finds the table whose bounds contain the key; count if none. Uses only eight bytes of the key
 * after the shared prefix, or all that it has there. They suffice unless a bound has the same
 * bytes, or the key begins otherwise; then, and with a comparator, it returns false. */
static inline bool bb_run_find_at_once(const struct bb_run *run, struct bb_bytes key,
                                       size_t *ret_index)
{
    if (run->largest_prefixes == NULL)
        return false;
    if (key.size < run->shared.size + sizeof(uint64_t))
        return bb_run_find_short(run, key, ret_index);
    return bb_run_begins_alike(run, key) &&
           bb_run_find_by_guide(run, __builtin_bswap64(bb_load64(key.data + run->shared.size)),
                                ret_index);
}

/* Returns the ready table filter of table number `index`, and stores it for the next time. NULL: it
 * is not ready. */
const struct bb_table_filter *bb_run_take_table_filter(const struct bb_run *run, size_t index);

/* Stops probing the filters of the table. Call after bb_table_distrust_filters. */
void bb_run_forget_table_filter(const struct bb_run *run, const struct bb_table_file *file);

/* The ready table filter of the table that bb_run_find_at_once found, valid as long as the run; or
 * NULL. */
static inline const struct bb_table_filter *bb_run_table_filter(const struct bb_run *run,
                                                                size_t index)
{
    const struct bb_table_filter *table_filter =
        atomic_load_explicit(&run->places[index].table_filter, memory_order_acquire);
    return __builtin_expect(table_filter != NULL, 1) ? table_filter
                                                     : bb_run_take_table_filter(run, index);
}

/* The table whose bounds contain the key, borrowed, or NULL. */
struct bb_table_file *bb_run_find(const struct bb_run *run, const struct bb_comparator *comparator,
                                  struct bb_bytes key);
/* Index of the first table that does not end before key; count if none. */
size_t bb_run_find_index(const struct bb_run *run, const struct bb_comparator *comparator,
                         struct bb_bytes key);
/* Among the files from `low` to `high` - 1 of a run: the first that does not end before key. */
size_t bb_run_search(struct bb_table_file *const *files, const struct bb_comparator *comparator,
                     size_t low, size_t high, struct bb_bytes key);
/* Tables *ret_first ... *ret_end - 1 have bounds that overlap low ... high. */
void bb_run_find_overlap(const struct bb_run *run, const struct bb_comparator *comparator,
                         struct bb_bytes low, struct bb_bytes high, size_t *ret_first,
                         size_t *ret_end);
/* True when there are such tables. */
bool bb_run_overlaps(const struct bb_run *run, const struct bb_comparator *comparator,
                     struct bb_bytes low, struct bb_bytes high);

/* Tables *ret_first ... *ret_end - 1 overlap the key range. */
void bb_run_find_range(const struct bb_run *run, const struct bb_comparator *comparator,
                       const struct bb_key_range *range, size_t *ret_first, size_t *ret_end);

/* The bytes of tables first ... end - 1. */
uint64_t bb_run_bytes(const struct bb_run *run, size_t first, size_t end);

/* Wasted requests of a lookup of an absent key, as planned: the mean of the target rates of the
 * tables, weighted by keys. */
static inline double bb_run_rate(const struct bb_run *run)
{
    return run->key_count == 0 ? 0 : run->rate_keys / (double)run->key_count;
}

/* The same for the stored filters, from their predicted rates. */
static inline double bb_run_predicted_rate(const struct bb_run *run)
{
    return run->key_count == 0 ? 0 : run->predicted_rate_keys / (double)run->key_count;
}

#endif
