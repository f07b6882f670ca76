/* The value of CF.*: a growing filter with removal, under the names of cuckoo filters.
 *
 * It has no buckets and no iterations, and only reports these options. A cuckoo filter with 8-bit
 * fingerprints in buckets of b entries has the rate 2 b / 255. Here this is the target of the whole
 * filter, up to BB_REDIS_CUCKOO_RATE_MAX. */
#ifndef BB_REDIS_FILTER_CUCKOO_H
#define BB_REDIS_FILTER_CUCKOO_H

#include "bb/base.h"
#include "redis/fingerprint/fingerprint_chain.h"

#define BB_REDIS_CUCKOO_CAPACITY_MAX   (INT64_C(1) << 30)
#define BB_REDIS_CUCKOO_BUCKET_MAX     255
#define BB_REDIS_CUCKOO_ITERATIONS_MAX 65535
#define BB_REDIS_CUCKOO_TABLES_MAX     32
#define BB_REDIS_CUCKOO_RATE_MAX       0.25

struct bb_redis_cuckoo_options {
    /* 2 * bucket_size ... BB_REDIS_CUCKOO_CAPACITY_MAX. */
    long long capacity;
    /* 1 ... BB_REDIS_CUCKOO_BUCKET_MAX. */
    long long bucket_size;
    /* 1 ... BB_REDIS_CUCKOO_ITERATIONS_MAX; only reported. */
    long long max_iterations;
    /* 0 ... BB_FINGERPRINT_CHAIN_EXPANSION_MAX. */
    long long expansion;
};

struct bb_redis_cuckoo {
    struct bb_fingerprint_chain *chain;
    uint64_t deleted_count;
    uint16_t bucket_size;
    uint16_t max_iterations;
};

/* The capacity is rounded to a power of two of buckets. NULL: there is no memory. */
struct bb_redis_cuckoo *bb_redis_cuckoo_create(const struct bb_redis_cuckoo_options *options);
void bb_redis_cuckoo_destroy(struct bb_redis_cuckoo *cuckoo);
/* NULL: there is no memory. */
struct bb_redis_cuckoo *bb_redis_cuckoo_copy(const struct bb_redis_cuckoo *cuckoo);

/* Of the first table. */
uint64_t bb_redis_cuckoo_bucket_count(const struct bb_redis_cuckoo *cuckoo);
size_t bb_redis_cuckoo_memory(const struct bb_redis_cuckoo *cuckoo);

/* The value without its fingerprints.
 *
 *     bucket size: 2 bytes | iterations: 2 bytes | deleted: 8 bytes, all little-endian */
#define BB_REDIS_CUCKOO_FIELDS_SIZE 12
void bb_redis_cuckoo_encode(const struct bb_redis_cuckoo *cuckoo,
                            uint8_t fields[BB_REDIS_CUCKOO_FIELDS_SIZE]);
/* Joins the fields and a filter, which is owned then, even if the result is NULL: they do not
 * belong together, or there is no memory. The filter may be NULL; then the result is, too. */
struct bb_redis_cuckoo *bb_redis_cuckoo_decode(struct bb_bytes fields,
                                               struct bb_fingerprint_chain *chain);

#endif
