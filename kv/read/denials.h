/* Finds the runs that certainly do not have a key, before a lookup in a table starts. This is the
 * common case for absent keys. For one key and one run this takes as few instructions as possible.
 *
 * For one key and several runs there are two steps: the first finds the table filters of all runs,
 * and prefetches the memory that their probes read; the second probes them. WHY: a probe takes more
 * than half of the instructions that a processor looks ahead, so that it would wait for the memory
 * of one run after the other.
 *
 * For many keys it works run by run:
 *
 *     tables       the table that may have each key, found by eight bytes of the key; else OUTSIDE
 *     places       of the shards in the ready table filters: all are prefetched, then read
 *     shards       all are prefetched, then probed
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

/* The table's index when eight bytes of the key do not suffice to find the table. */
#define BB_DENIAL_TABLE_UNKNOWN SIZE_MAX

/* The ready table filter of the run's table for the key. NULL in two cases: no table's bounds
 * contain the key (*ret_index is run->count), or the table must be searched (*ret_index is its
 * index or BB_DENIAL_TABLE_UNKNOWN). */
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
    BB_DENIAL_NONE,        /* the table must be searched */
    BB_DENIAL_OUTSIDE,     /* no table's bounds contain the key */
    BB_DENIAL_DENIED,      /* the table filter rules out the key: BB_VISIT_TABLE_FILTER_NEGATIVE */
    BB_DENIAL_LET_THROUGH, /* the table filter returns maybe */
};

/* table_filter and index: from bb_denials_table_filter. After LET_THROUGH the table is known. */
static inline enum bb_denial bb_denial_probe(const struct bb_run *run,
                                             const struct bb_table_filter *table_filter,
                                             size_t index, uint64_t hash)
{
    bool is_let_through = false;
    if (table_filter == NULL)
        return index == run->count ? BB_DENIAL_OUTSIDE : BB_DENIAL_NONE;
    if (bb_table_filter_denies(table_filter, hash, &is_let_through))
        return BB_DENIAL_DENIED;
    return is_let_through ? BB_DENIAL_LET_THROUGH : BB_DENIAL_NONE;
}

/* For one run. *ret_index: as above. */
static inline enum bb_denial bb_denial_find(const struct bb_run *run, struct bb_bytes key,
                                            uint64_t hash, size_t *ret_index)
{
    const struct bb_table_filter *table_filter = bb_denials_table_filter(run, key, ret_index);
    return bb_denial_probe(run, table_filter, *ret_index, hash);
}

/* The maximum number of runs that one key prepares together. */
#define BB_DENIAL_PREPARED_MAX 8

/* The next runs of a lookup, and the results of bb_denials_table_filter for them. */
struct bb_denial_runs {
    const struct bb_table_filter *table_filters[BB_DENIAL_PREPARED_MAX];
    size_t indexes[BB_DENIAL_PREPARED_MAX];
    size_t begin; /* the first one's place in levels->turns */
    size_t end;
};

/* Prepares the runs from levels->turns[begin] on, as many as possible. */
static inline void bb_denial_prepare(const struct bb_levels *levels, size_t begin,
                                     struct bb_bytes key, uint64_t hash,
                                     struct bb_denial_runs *ret_runs)
{
    size_t left = levels->turn_count - begin;
    size_t count = left < BB_DENIAL_PREPARED_MAX ? left : BB_DENIAL_PREPARED_MAX;
    ret_runs->begin = begin;
    ret_runs->end = begin + count;
    for (size_t i = 0; i < count; i++) {
        const struct bb_table_filter *table_filter =
            bb_denials_table_filter(levels->turns[begin + i].run, key, &ret_runs->indexes[i]);
        ret_runs->table_filters[i] = table_filter;
        if (table_filter != NULL)
            bb_table_filter_prefetch(table_filter, hash);
    }
}

/* The maximum number of keys per call, and of runs that it probes, newest first: one bit each. */
#define BB_DENIALS_KEYS 64
#define BB_DENIALS_RUNS 64

/* One word per run, in the order of levels->turns; bit k is for key k. A key whose bit is set in
 * none of the three words of a run has BB_DENIAL_NONE there. */
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
