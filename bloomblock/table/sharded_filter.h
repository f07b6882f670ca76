/* A set too large for one filter: divided into shards of about 1,000 keys by ranges of the hash,
 * with a directory that locates a shard in one step.
 *
 *     payload    | directory (shard_directory.h) | shard 0 | shard 1 | ... |
 *
 * A whole set is one payload (a standalone filter), or several, each with a run of consecutive
 * shards ("chunks" of a table filter). A chunk is complete, so that it can be read and checked
 * without the others.
 *
 * The filter of a shard, a ribbon, takes 2 % more than the limit at 1,000 keys; the directory adds
 * 0.06 bits per key. One system of equations for all keys would need far more spare rows: at 4,000
 * keys 2 %, and growing.
 *
 * Threads: one set and its builder, one thread; the rest are pure functions. */
#ifndef BB_BLOOMBLOCK_TABLE_SHARDED_FILTER_H
#define BB_BLOOMBLOCK_TABLE_SHARDED_FILTER_H

#include "bloomblock/table/block_filter.h"
#include "bloomblock/table/shard_directory.h"

/* The format of a table's filter, to read it or to build it: that of block filters in another
 * domain. False, or BB_INVALID, when rate or fingerprint_bits are out of range. */
BB_MUST_CHECK bool bb_sharded_filter_format_restore(struct bb_block_filter_format *format,
                                                    double rate, uint64_t salt,
                                                    uint64_t fingerprint_bits);
BB_MUST_CHECK enum bb_status bb_sharded_filter_format_init(struct bb_block_filter_format *format,
                                                           double rate, uint64_t salt);

/* --- Building --- */

/* Builds the shards of sets, one after the other. Owned: bb_sharded_filter_builder_destroy. */
struct bb_shard_builder;
BB_MUST_CHECK enum bb_status
bb_sharded_filter_builder_create(const struct bb_block_filter_format *format,
                                 struct bb_shard_builder **ret_builder);
/* NULL is allowed. */
void bb_sharded_filter_builder_destroy(struct bb_shard_builder *builder);
/* The mean predicted rate of all shards so far, each weighted by its share of the absent keys. */
double bb_sharded_filter_builder_rate(const struct bb_shard_builder *builder);
/* The excess of a shard builder (shard.h), to be continued by the next one. */
double bb_sharded_filter_builder_excess(const struct bb_shard_builder *builder);
void bb_sharded_filter_builder_set_excess(struct bb_shard_builder *builder, double excess);

/* The hashes of a set on their way into its shards. */
struct bb_shard_set {
    const uint64_t *hashes; /* borrowed: domain hashes, sorted, each once */
    size_t count;
    uint32_t shard_count; /* of the whole set: bb_shard_count(count) */
    /* The next shard to encode. */
    uint32_t next_shard;
    size_t next_hash;
};

struct bb_shard_set bb_sharded_filter_set(const uint64_t *hashes, size_t count);

/* Appends the payload of the next shard_count shards. On failure the buffer is unchanged, but the
 * set is not. REQUIRES: this many shards remain. */
BB_MUST_CHECK enum bb_status bb_sharded_filter_encode(struct bb_shard_builder *builder,
                                                      struct bb_shard_set *set,
                                                      uint32_t shard_count, struct bb_buf *buf);

/* --- Reading --- */

/* A defect of a payload. */
struct bb_shard_defect {
    uint32_t shard;  /* the first that is wrong; shard_count: the size of all */
    uint64_t offset; /* where it should be, or the shards should end, from the first one on */
    bool has_rest;   /* the offset is right, but the last byte has bits after the last slot */
};

/* Checks a payload of this number of shards: every descriptor is possible, every offset is the sum
 * of the previous sizes, and no bits are set after a shard's slots or after the last shard. Probes
 * rely on it. */
BB_MUST_CHECK bool bb_sharded_filter_check(const struct bb_block_filter_format *format,
                                           struct bb_bytes payload, uint32_t shard_count,
                                           struct bb_shard_defect *ret_defect);

/* Where the filter of a shard is in the payload, and its descriptor. */
static inline struct bb_shard_entry bb_sharded_filter_find(const uint8_t *payload,
                                                           uint32_t shard_count, uint32_t shard)
{
    struct bb_shard_entry entry = bb_shard_directory_entry(payload, shard);
    entry.offset += bb_shard_directory_size(shard_count);
    return entry;
}

/* The shards of a whole set in memory, to be probed in one call. Borrows the format and the arrays.
 * BB_FILTER_LEAD_BYTES before the payloads and BB_FILTER_PAD_BYTES after them must be readable. */
struct bb_filter_shards bb_sharded_filter_ready(const struct bb_block_filter_format *format,
                                                const bb_filter_place *places,
                                                const uint8_t *payloads, uint64_t count);

#endif
