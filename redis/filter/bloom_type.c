/* See bloom_type.h. */
#include "redis/filter/bloom_type.h"

#include "redis/filter/chain_rdb.h"
#include "redis/fingerprint/fingerprint_coding.h"

#define ENCODING_VERSION 1

static void *load(struct RedisModuleIO *rdb, int version)
{
    if (version != ENCODING_VERSION)
        return NULL;
    struct bb_fingerprint_chain *chain = bb_redis_chain_load(rdb);
    if (chain == NULL || chain->options.is_set)
        return chain;
    bb_fingerprint_chain_destroy(chain);
    return NULL;
}

static void save(struct RedisModuleIO *rdb, void *value)
{
    bb_redis_chain_save(rdb, value);
}

static void rewrite(struct RedisModuleIO *aof, struct RedisModuleString *key, void *value)
{
    uint8_t header[BB_FINGERPRINT_HEADER_SIZE];
    bb_fingerprint_coding_header(value, header);
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, 1LL, (const char *)header, sizeof(header));
    bb_redis_chain_rewrite(aof, "BF.LOADCHUNK", key, value);
}

static size_t memory_usage(const void *value)
{
    return bb_fingerprint_chain_totals(value).memory;
}

static void digest(struct RedisModuleDigest *digest, void *value)
{
    bb_redis_chain_digest(digest, value);
}

static void release(void *value)
{
    bb_fingerprint_chain_destroy(value);
}

static size_t free_effort(struct RedisModuleString *key, const void *value)
{
    (void)key;
    return bb_redis_chain_free_effort(value);
}

static void *copy(struct RedisModuleString *from, struct RedisModuleString *to, const void *value)
{
    (void)from;
    (void)to;
    return bb_fingerprint_chain_copy(value);
}

struct RedisModuleType *bb_redis_bloom_type_create(struct RedisModuleCtx *ctx)
{
    struct RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .rdb_load = load,
        .rdb_save = save,
        .aof_rewrite = rewrite,
        .mem_usage = memory_usage,
        .digest = digest,
        .free = release,
        .free_effort = free_effort,
        .copy = copy,
    };
    return RedisModule_CreateDataType(ctx, "bb-bloom1", ENCODING_VERSION, &methods);
}
