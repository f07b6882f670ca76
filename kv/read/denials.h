/* Finds the runs that certainly do not have a key, before a lookup in a table starts. This is the
 * common case for absent keys. For one key and one run it takes as few instructions as possible, so
 * that the processor starts the next run while it waits for memory.
 *
 * For many keys it works run by run:
 *
 *     tables       the table that may have each key, found by eight bytes of the key; else OUTSIDE
 *     places       of the shards in the ready table filters; all are prefetched, then read
 *     filters      of the shards; all are prefetched, then probed
 *
 * Up to 64 keys together wait for memory twice per run, instead of twice each.
 *
 * Only for lookups with bb_read_options_permit_denials (sstable/table/read_options.h).
 *
 * Pure, except that runs cache ready table filters (compaction/levels/run.h); any thread.
 */
#ifndef BB_KV_READ_DENIALS_H
#define BB_KV_READ_DENIALS_H

#include "compaction/levels/levels.h"
#include "sstable/filter/table_filter.h"

/* Index of a table that eight bytes of the key do not find. */
#define BB_DENIAL_TABLE_UNKNOWN SIZE_MAX

/* The ready table filter of the run's table for the key. NULL when no table's bounds contain the
 * key (*ret_index is run->count), and when the table must be checked (*ret_index is its index or
 * BB_DENIAL_TABLE_UNKNOWN). */
static inline const struct bb_table_filter *
bb_denials_table_filter(const struct bb_run *run, struct bb_bytes key, size_t *ret_index)
{
    if (!bb_run_find_at_once(run, key, ret_index)) {
        *ret_index = BB_DENIAL_TABLE_UNKNOWN;
        return NULL;
    }
    return *ret_index == run->count ? NULL : bb_run_table_filter(run, *ret_index);
}

enum bb_denial {
    BB_DENIAL_NONE,        /* the table must be checked */
    BB_DENIAL_OUTSIDE,     /* no table's bounds contain the key */
    BB_DENIAL_DENIED,      /* the table filter rules out the key: BB_VISIT_TABLE_FILTER_NEGATIVE */
    BB_DENIAL_LET_THROUGH, /* the table filter returns maybe */
};

/* *ret_index: as above; after LET_THROUGH the table is known. */
static inline enum bb_denial bb_denial_find(const struct bb_run *run, struct bb_bytes key,
                                            uint64_t hash, size_t *ret_index)
{
    bool is_let_through = false;
    const struct bb_table_filter *table_filter = bb_denials_table_filter(run, key, ret_index);
    if (table_filter == NULL)
        return *ret_index == run->count ? BB_DENIAL_OUTSIDE : BB_DENIAL_NONE;
    if (bb_table_filter_denies(table_filter, hash, &is_let_through))
        return BB_DENIAL_DENIED;
    return is_let_through ? BB_DENIAL_LET_THROUGH : BB_DENIAL_NONE;
}

/* Maximum number of keys per call, and of runs checked, newest first: one bit each. */
#define BB_DENIALS_KEYS 64
#define BB_DENIALS_RUNS 64

/* One word per run, in the order of levels->turns; bit k is key k. A bit that is in none of the
 * three is BB_DENIAL_NONE. */
struct bb_denials {
    uint64_t outside[BB_DENIALS_RUNS];
    uint64_t denied[BB_DENIALS_RUNS];
    uint64_t let_through[BB_DENIALS_RUNS];
    uint64_t open; /* keys that some run may have */
};

/* count: at most BB_DENIALS_KEYS. */
void bb_denials_find(const struct bb_levels *levels, const struct bb_bytes *keys,
                     const uint64_t *hashes, size_t count, struct bb_denials *ret_denials);

#endif
