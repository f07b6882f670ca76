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
#include "sstable/index/prefix_guide.h"
#include "sstable/summary.h"

/* What stands beside a table's largest key, for who comes to it by that. */
struct bb_run_place {
    uint64_t smallest_prefix;
    /* The table's, once it is ready (bb_table_ready_summary): from the key to the summary it is then
     * one load, and not one each of the file, the table and the summary. NULL until it was asked for.
     */
    _Atomic(const struct bb_summary *) summary;
};

struct bb_run {
    uint64_t number; /* within its level: the greater, the newer. Of level 0 that of the table */
    struct bb_table_file **files; /* at least one; part of the level's array */
    size_t count;
    /* For finding: the next eight bytes of each table's bounds behind what all of them begin with.
     */
    uint64_t *largest_prefixes;   /* owned; NULL with a comparator */
    struct bb_run_place *places;  /* owned; beside these */
    struct bb_prefix_guide guide; /* to the former */
    size_t shared_size;
    const uint8_t *shared; /* borrowed from a bound */
    uint64_t shared_head;  /* its first eight bytes, and which of them there are */
    uint64_t shared_mask;
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

/* Has the key what all bounds begin with, and eight bytes behind it? False with a comparator. */
static inline bool bb_run_begins_alike(const struct bb_run *run, struct bb_bytes key)
{
    if (run->largest_prefixes == NULL || key.size < run->shared_size + sizeof(uint64_t))
        return false;
    return ((bb_load64(key.data) ^ run->shared_head) & run->shared_mask) == 0 &&
           (run->shared_size <= sizeof(uint64_t) ||
            memcmp(key.data, run->shared, run->shared_size) == 0);
}

/* What follows for a key with this prefix, without the guide: its simple form. */
bool bb_run_find_by_prefix(const struct bb_run *run, uint64_t prefix, size_t *ret_index);

/* Index of the table whose bounds hold the key, count if none: as far as the eight bytes tell, which
 * they do for all keys but those that begin as a bound does. False when they do not. */
static inline bool bb_run_find_at_once(const struct bb_run *run, struct bb_bytes key,
                                       size_t *ret_index)
{
    size_t index = 0;
    if (!bb_run_begins_alike(run, key))
        return false;
    uint64_t prefix = __builtin_bswap64(bb_load64(key.data + run->shared_size));
    if (bb_prefix_guide_find(&run->guide, run->largest_prefixes, prefix, &index) &&
        run->places[index].smallest_prefix < prefix && prefix < run->largest_prefixes[index]) {
        *ret_index = index;
        return true;
    }
    return bb_run_find_by_prefix(run, prefix, ret_index);
}

/* The same of the table with this index, and keeps it for the next time. NULL: it is not ready. */
const struct bb_summary *bb_run_take_summary(const struct bb_run *run, size_t index);

/* The filters of the table are not to be asked any more (bb_table_distrust_filters, before this). */
void bb_run_forget_summary(const struct bb_run *run, const struct bb_table_file *file);

/* The ready summary of the table that bb_run_find_at_once has found, until the run goes; or NULL. */
static inline const struct bb_summary *bb_run_summary(const struct bb_run *run, size_t index)
{
    const struct bb_summary *summary =
        atomic_load_explicit(&run->places[index].summary, memory_order_acquire);
    return __builtin_expect(summary != NULL, 1) ? summary : bb_run_take_summary(run, index);
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

/* Tables *ret_first ... *ret_end - 1 meet the range of keys. */
void bb_run_find_range(const struct bb_run *run, const struct bb_comparator *comparator,
                       const struct bb_key_range *range, size_t *ret_first, size_t *ret_end);

/* Expected wasted requests of an absent look-up: the mean of the tables' rates by keys. */
static inline double bb_run_rate(const struct bb_run *run)
{
    return run->key_count == 0 ? 0 : run->rate_keys / (double)run->key_count;
}

#endif
