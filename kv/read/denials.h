/* Which runs have certainly nothing to say to which of some keys: what becomes of nearly all absent
 * keys, for many at once. A run at a time:
 *
 *     tables       each key's, by eight bytes of it; out of all bounds: outside
 *     places       of the shards in the ready summaries, all fetched, then read
 *     windows      of the ribbons, all fetched, then asked
 *
 * so that up to 64 keys wait for memory twice for a run, and not each of them twice. What the
 * single get asks in passes_by (lookup.c) is the same for one key.
 *
 * Pure but for summaries that are kept for the next time (compaction/run.h); any thread.
 */
#ifndef BB_KV_READ_DENIALS_H
#define BB_KV_READ_DENIALS_H

#include "compaction/levels.h"

/* Keys at a time, and runs, the newest ones, that are asked: one bit each. */
#define BB_DENIALS_KEYS 64
#define BB_DENIALS_RUNS 64

/* Words by run, as levels->turns has them; bit k: key k. What is none of the three is not known: the
 * table is to be asked. */
struct bb_denials {
    uint64_t outside[BB_DENIALS_RUNS];     /* no table's bounds hold the key */
    uint64_t denied[BB_DENIALS_RUNS];      /* the summary says no: BB_VISIT_SUMMARY_NEGATIVE */
    uint64_t let_through[BB_DENIALS_RUNS]; /* it says "may contain" */
    uint64_t open;                         /* keys that some run may have something to say to */
};

/* At most BB_DENIALS_KEYS keys. */
void bb_denials_find(const struct bb_levels *levels, const struct bb_bytes *keys,
                     const uint64_t *hashes, size_t count, struct bb_denials *ret_denials);

#endif
