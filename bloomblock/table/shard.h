/* A shard: the keys of one filter, and how the filter is built from them. Groups of a table and
 * standalone filters are built from the same shards.
 *
 * A rate between those of two sizes is reached on average: each filter takes the smaller of two
 * sizes (fingerprint bits of a ribbon; lines or bytes of a Bloom kind) as often as the mean over
 * all keys so far, including this filter's, stays at or below the target. Filters are weighted by
 * how often absent keys reach them: in a table by their number of keys; the shards of one group are
 * equal ranges of the hash and have equal weights. The mean never exceeds the target, and is as
 * close to it as one filter allows.
 *
 * Threads: one builder, one thread. */
#ifndef BB_BLOOMBLOCK_TABLE_SHARD_H
#define BB_BLOOMBLOCK_TABLE_SHARD_H

#include "bloomblock/table/block_filter.h"
#include "bloomblock/table/rate_mean.h"
#include "bloomblock/sizing/rate.h"
#include "bloomblock/ribbon/ribbon_solver.h"

struct bb_shard_builder {
    struct bb_block_filter_format format; /* copied */
    /* Sum over filters of weight * (rate - target), <= 0. Begins at 0, or at the sum of earlier
     * builders whose filters are probed for the same lookups: a mean over few filters would often
     * be far below the target. */
    double excess;
    struct bb_rate_mean mean;       /* of the filters that this builder built */
    double bytes_per_key;           /* Bloom kinds: of a large set */
    struct bb_ribbon_solver solver; /* RIBBON only */
    struct bb_rate_line line;       /* BLOCKED_BLOOM only */
};

void bb_shard_builder_init(struct bb_shard_builder *builder,
                           const struct bb_block_filter_format *format);

/* The number of shards of a set of this many keys: 1 up to BB_FILTER_GROUP_KEYS_MAX. */
uint64_t bb_shard_count(uint64_t key_count);
/* The end of the shard that begins at start, in the sorted hashes of all shards. */
size_t bb_shard_end(const uint64_t *hashes, size_t count, size_t start, uint32_t shard,
                    uint32_t shard_count);

/* Builds the filter of count distinct domain hashes: appends its payload. weight: see above; keys
 * of the group / its shards. No keys, or more than BB_FILTER_GROUP_KEYS_MAX (a shard of chosen
 * hashes), give BB_DESCRIPTOR_NONE and no payload; the rates of other filters do not compensate for
 * this. */
BB_MUST_CHECK enum bb_status bb_shard_encode(struct bb_shard_builder *builder,
                                             const uint64_t *hashes, size_t count, double weight,
                                             struct bb_buf *payload, uint16_t *ret_descriptor);

/* An upper bound of the payload of count keys, divided into shards. Fast enough to call per key.
 */
size_t bb_shard_size_limit(const struct bb_shard_builder *builder, size_t count);

#endif
