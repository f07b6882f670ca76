/* For many keys, finds the runs that certainly do not have each key. This is the common case for
 * absent keys. It works run by run:
 *
 *     tables       of each key, by eight bytes of it; outside all bounds: outside
 *     places       of the shards in the ready table filters; all are prefetched, then read
 *     windows      of the ribbons; all are prefetched, then probed
 *
 * Up to 64 keys together wait for memory twice per run, instead of twice each. For a single get,
 * passes_by (lookup.c) applies the same rule.
 *
 * Pure, except for table filters that are kept for the next time (compaction/run.h); any thread.
 */
#ifndef BB_KV_READ_DENIALS_H
#define BB_KV_READ_DENIALS_H

#include "compaction/levels.h"

/* Maximum number of keys per call, and of runs checked, newest first: one bit each. */
#define BB_DENIALS_KEYS 64
#define BB_DENIALS_RUNS 64

/* One word per run, in the order of levels->turns; bit k is key k. A bit that is in none of the
 * three is unknown: the table must be checked. */
struct bb_denials {
    uint64_t outside[BB_DENIALS_RUNS]; /* no table's bounds contain the key */
    /* The table filter rules out the key: BB_VISIT_SUMMARY_NEGATIVE. */
    uint64_t denied[BB_DENIALS_RUNS];
    uint64_t let_through[BB_DENIALS_RUNS]; /* the table filter returns maybe */
    uint64_t open;                         /* keys that some run may have */
};

/* count: at most BB_DENIALS_KEYS. */
void bb_denials_find(const struct bb_levels *levels, const struct bb_bytes *keys,
                     const uint64_t *hashes, size_t count, struct bb_denials *ret_denials);

#endif
