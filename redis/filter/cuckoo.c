/* See cuckoo.h. */
#include "redis/filter/cuckoo.h"

#include "redis/server/redis_module.h"

#define FINGERPRINTS 255.0

static uint64_t power_of_two_from(uint64_t count)
{
    uint64_t power = 1;
    while (power < count)
        power *= 2;
    return power;
}

static double rate_for(uint64_t bucket_size)
{
    double rate = 2 * (double)bucket_size / FINGERPRINTS;
    return rate < BB_REDIS_CUCKOO_RATE_MAX ? rate : BB_REDIS_CUCKOO_RATE_MAX;
}

static struct bb_redis_cuckoo *wrap(struct bb_fingerprint_chain *chain)
{
    struct bb_redis_cuckoo *cuckoo = chain == NULL ? NULL : RedisModule_TryAlloc(sizeof(*cuckoo));
    if (cuckoo == NULL)
        bb_fingerprint_chain_destroy(chain);
    else
        *cuckoo = (struct bb_redis_cuckoo){.chain = chain};
    return cuckoo;
}

struct bb_redis_cuckoo *bb_redis_cuckoo_create(const struct bb_redis_cuckoo_options *options)
{
    uint64_t bucket_size = (uint64_t)options->bucket_size;
    uint64_t buckets = power_of_two_from((uint64_t)options->capacity / bucket_size);
    struct bb_fingerprint_options filter = {
        .capacity = buckets * bucket_size,
        .rate = rate_for(bucket_size),
        .expansion = (uint32_t)options->expansion,
        .is_set = false,
        .table_limit = BB_REDIS_CUCKOO_TABLES_MAX,
    };
    struct bb_redis_cuckoo *cuckoo = wrap(bb_fingerprint_chain_create(&filter));
    if (cuckoo == NULL)
        return NULL;
    cuckoo->bucket_size = (uint16_t)bucket_size;
    cuckoo->max_iterations = (uint16_t)options->max_iterations;
    return cuckoo;
}

void bb_redis_cuckoo_destroy(struct bb_redis_cuckoo *cuckoo)
{
    if (cuckoo == NULL)
        return;
    bb_fingerprint_chain_destroy(cuckoo->chain);
    RedisModule_Free(cuckoo);
}

struct bb_redis_cuckoo *bb_redis_cuckoo_copy(const struct bb_redis_cuckoo *cuckoo)
{
    struct bb_redis_cuckoo *copy = wrap(bb_fingerprint_chain_copy(cuckoo->chain));
    if (copy == NULL)
        return NULL;
    struct bb_fingerprint_chain *chain = copy->chain;
    *copy = *cuckoo;
    copy->chain = chain;
    return copy;
}

uint64_t bb_redis_cuckoo_bucket_count(const struct bb_redis_cuckoo *cuckoo)
{
    return cuckoo->chain->options.capacity / cuckoo->bucket_size;
}

size_t bb_redis_cuckoo_memory(const struct bb_redis_cuckoo *cuckoo)
{
    return RedisModule_MallocSize((void *)(uintptr_t)cuckoo) +
           bb_fingerprint_chain_totals(cuckoo->chain).memory;
}

void bb_redis_cuckoo_encode(const struct bb_redis_cuckoo *cuckoo,
                            uint8_t fields[BB_REDIS_CUCKOO_FIELDS_SIZE])
{
    for (int i = 0; i < 2; i++) {
        fields[i] = (uint8_t)(cuckoo->bucket_size >> (8 * i));
        fields[2 + i] = (uint8_t)(cuckoo->max_iterations >> (8 * i));
    }
    for (int i = 0; i < 8; i++)
        fields[4 + i] = (uint8_t)(cuckoo->deleted_count >> (8 * i));
}

struct bb_redis_cuckoo *bb_redis_cuckoo_decode(struct bb_bytes fields,
                                               struct bb_fingerprint_chain *chain)
{
    struct bb_redis_cuckoo *cuckoo = wrap(chain);
    if (cuckoo == NULL)
        return NULL;
    if (fields.size == BB_REDIS_CUCKOO_FIELDS_SIZE) {
        cuckoo->bucket_size = (uint16_t)(fields.data[0] | fields.data[1] << 8);
        cuckoo->max_iterations = (uint16_t)(fields.data[2] | fields.data[3] << 8);
        for (int i = 0; i < 8; i++)
            cuckoo->deleted_count |= (uint64_t)fields.data[4 + i] << (8 * i);
    }
    const struct bb_fingerprint_options *options = &chain->options;
    if (cuckoo->bucket_size >= 1 && cuckoo->bucket_size <= BB_REDIS_CUCKOO_BUCKET_MAX &&
        cuckoo->max_iterations >= 1 && cuckoo->deleted_count <= INT64_MAX && !options->is_set &&
        options->capacity % cuckoo->bucket_size == 0)
        return cuckoo;
    bb_redis_cuckoo_destroy(cuckoo);
    return NULL;
}
