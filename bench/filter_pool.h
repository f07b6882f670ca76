/* Filters of one kind and size, built from synthetic hashes. Rates are measured over all filters.
 *
 * A hash is bb_hash_mix of a counter. It is a bijection, so no absent hash is a member. */
#ifndef BB_BENCH_FILTER_POOL_H
#define BB_BENCH_FILTER_POOL_H

#include "base/buf.h"
#include "bloomblock/table/block_filter.h"

#define POOL_FILTERS_MAX 64

/* The contents of a pool: standalone filters, or the block filters of one table. */
struct pool_kind {
    const char *name;
    enum bb_filter_kind kind;
    bool in_table;
};

extern const struct pool_kind pool_kinds[];
extern const size_t pool_kind_count;

struct pool {
    const struct pool_kind *kind;
    uint64_t seed;
    size_t key_count; /* per filter */
    size_t filter_count;
    struct bb_buf bytes;
    struct bb_filter_view views[POOL_FILTERS_MAX];
    /* In a table. */
    struct bb_block_filter_format format;
    struct bb_buf descriptors;
    uint32_t shard_counts[POOL_FILTERS_MAX];
    size_t descriptor_starts[POOL_FILTERS_MAX]; /* index of the filter's first descriptor */
    size_t payload_starts[POOL_FILTERS_MAX][8]; /* of its shards */

    double planned;   /* the rate predicted for the parameters; mean over the filters */
    double predicted; /* from the bits that are set; mean over the filters */
    double bits_per_key;
};

/* Ends the program on failure. */
void pool_init(struct pool *pool, const struct pool_kind *kind, size_t key_count,
               size_t filter_count, double target_rate, uint64_t seed);
void pool_deinit(struct pool *pool);

/* Probes this number of absent hashes, spread evenly over the filters. Returns how many pass. */
uint64_t pool_count_absent(const struct pool *pool, uint64_t question_count);
/* The number of members that their filter rules out. It is zero unless a filter has a bug. */
uint64_t pool_count_denied(const struct pool *pool);

#endif
