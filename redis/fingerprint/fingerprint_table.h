/* A filter of a fixed capacity: fingerprints of the hashes of its members, in shards of up to
 * 2,048.
 *
 * Memory grows with the members, not with the capacity: a page of pointers is allocated with its
 * first shard. With n members, the rate for non-member keys is at most n / (buckets * 2^remainder
 * bits), which is the target when the table has its capacity. Members can be removed from a
 * multiset, which repeats a fingerprint for each addition.
 *
 * A hash h selects a fingerprint by the product h * buckets, of 128 bits: the upper word is the
 * bucket among all, the highest bits of the lower word are the remainder. The hash must be uniform.
 *
 * One thread at a time. */
#ifndef BB_REDIS_FINGERPRINT_FINGERPRINT_TABLE_H
#define BB_REDIS_FINGERPRINT_FINGERPRINT_TABLE_H

#include "redis/fingerprint/fingerprint_shard.h"

#define BB_FINGERPRINT_TABLE_CAPACITY_MAX (UINT64_C(1) << 32)
#define BB_FINGERPRINT_PAGE_SHARDS        512

struct bb_fingerprint_table {
    uint64_t capacity;
    uint64_t count;
    /* Of all shards, in bytes. */
    uint64_t memory;
    struct bb_fingerprint_shape shape;
    uint32_t shard_count;
    /* Pointers to BB_FINGERPRINT_PAGE_SHARDS shards each, or NULL. */
    struct bb_fingerprint_shard **pages[];
};

/* NULL: it is empty. */
static inline const struct bb_fingerprint_shard *
bb_fingerprint_table_shard(const struct bb_fingerprint_table *table, uint32_t at)
{
    struct bb_fingerprint_shard **page = table->pages[at / BB_FINGERPRINT_PAGE_SHARDS];
    return page == NULL ? NULL : page[at % BB_FINGERPRINT_PAGE_SHARDS];
}

/* Whether a table of this capacity can have this rate: 64 bits of hash must suffice. */
bool bb_fingerprint_table_is_possible(uint64_t capacity, double rate);

/* Returns NULL if there is no memory. REQUIRES: is_possible. */
struct bb_fingerprint_table *bb_fingerprint_table_create(uint64_t capacity, double rate);
void bb_fingerprint_table_destroy(struct bb_fingerprint_table *table);

/* All memory of the table in bytes. */
uint64_t bb_fingerprint_table_memory(const struct bb_fingerprint_table *table);

/* An upper bound of the share of non-member keys that the table contains. */
double bb_fingerprint_table_rate(const struct bb_fingerprint_table *table);

/* How often the hash, or (rarely) another hash with the same fingerprint, was added. */
uint32_t bb_fingerprint_table_find(const struct bb_fingerprint_table *table, uint64_t hash);

/* False, without a change: there is no memory, or a shard is full. More than the capacity may be
 * added; the rate then rises. */
bool bb_fingerprint_table_add(struct bb_fingerprint_table *table, uint64_t hash);

/* False: no such fingerprint. */
bool bb_fingerprint_table_remove(struct bb_fingerprint_table *table, uint64_t hash);

/* Adds the fingerprints of another table of the same shape that are new to this one. False: as for
 * add. */
bool bb_fingerprint_table_unite(struct bb_fingerprint_table *table,
                                const struct bb_fingerprint_table *other);

/* Replaces a shard by one with members, which the table then owns. False: there is no memory, and
 * the caller still owns it. */
bool bb_fingerprint_table_set_shard(struct bb_fingerprint_table *table, uint32_t at,
                                    struct bb_fingerprint_shard *shard);

/* Empties shards from at on. */
void bb_fingerprint_table_clear(struct bb_fingerprint_table *table, uint32_t at, uint32_t count);

/* How many shards from at on are certainly empty: 0 if this one is not, at least 1 if it is. */
uint32_t bb_fingerprint_table_empty_run(const struct bb_fingerprint_table *table, uint32_t at);

#endif
