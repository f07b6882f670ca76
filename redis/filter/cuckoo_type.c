/* See cuckoo_type.h.
 *
 *     RDB    fields: string (cuckoo.h) | filter (chain_rdb.h) */
#include "redis/filter/cuckoo_type.h"

#include "redis/filter/chain_rdb.h"

#define ENCODING_VERSION 1

void bb_redis_cuckoo_type_header(const struct bb_redis_cuckoo *cuckoo,
                                 uint8_t header[BB_REDIS_CUCKOO_HEADER_SIZE])
{
    bb_redis_cuckoo_encode(cuckoo, header);
    bb_fingerprint_coding_header(cuckoo->chain, header + BB_REDIS_CUCKOO_FIELDS_SIZE);
}

struct bb_redis_cuckoo *bb_redis_cuckoo_type_decode(struct bb_bytes header)
{
    if (header.size != BB_REDIS_CUCKOO_HEADER_SIZE)
        return NULL;
    struct bb_bytes fields = {header.data, BB_REDIS_CUCKOO_FIELDS_SIZE};
    struct bb_bytes filter = {header.data + fields.size, header.size - fields.size};
    return bb_redis_cuckoo_decode(fields, bb_fingerprint_coding_decode_header(filter));
}

static void *load(struct RedisModuleIO *rdb, int version)
{
    struct bb_bytes fields = {0};
    if (version != ENCODING_VERSION)
        return NULL;
    char *loaded = RedisModule_LoadStringBuffer(rdb, &fields.size);
    fields.data = (const uint8_t *)loaded;
    struct bb_fingerprint_chain *chain = NULL;
    if (!RedisModule_IsIOError(rdb) && loaded != NULL)
        chain = bb_redis_chain_load(rdb);
    struct bb_redis_cuckoo *cuckoo = bb_redis_cuckoo_decode(fields, chain);
    RedisModule_Free(loaded);
    return cuckoo;
}

static void save(struct RedisModuleIO *rdb, void *value)
{
    const struct bb_redis_cuckoo *cuckoo = value;
    uint8_t fields[BB_REDIS_CUCKOO_FIELDS_SIZE];
    bb_redis_cuckoo_encode(cuckoo, fields);
    RedisModule_SaveStringBuffer(rdb, (const char *)fields, sizeof(fields));
    bb_redis_chain_save(rdb, cuckoo->chain);
}

static void rewrite(struct RedisModuleIO *aof, struct RedisModuleString *key, void *value)
{
    const struct bb_redis_cuckoo *cuckoo = value;
    uint8_t header[BB_REDIS_CUCKOO_HEADER_SIZE];
    bb_redis_cuckoo_type_header(cuckoo, header);
    RedisModule_EmitAOF(aof, "CF.LOADCHUNK", "slb", key, 1LL, (const char *)header, sizeof(header));
    bb_redis_chain_rewrite(aof, "CF.LOADCHUNK", key, cuckoo->chain);
}

static size_t memory_usage(const void *value)
{
    return bb_redis_cuckoo_memory(value);
}

static void digest(struct RedisModuleDigest *digest, void *value)
{
    const struct bb_redis_cuckoo *cuckoo = value;
    RedisModule_DigestAddLongLong(digest, cuckoo->bucket_size);
    RedisModule_DigestAddLongLong(digest, cuckoo->max_iterations);
    RedisModule_DigestAddLongLong(digest, (long long)cuckoo->deleted_count);
    bb_redis_chain_digest(digest, cuckoo->chain);
}

static void release(void *value)
{
    bb_redis_cuckoo_destroy(value);
}

static size_t free_effort(struct RedisModuleString *key, const void *value)
{
    const struct bb_redis_cuckoo *cuckoo = value;
    (void)key;
    return bb_redis_chain_free_effort(cuckoo->chain);
}

static void *copy(struct RedisModuleString *from, struct RedisModuleString *to, const void *value)
{
    (void)from;
    (void)to;
    return bb_redis_cuckoo_copy(value);
}

struct RedisModuleType *bb_redis_cuckoo_type_create(struct RedisModuleCtx *ctx)
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
    return RedisModule_CreateDataType(ctx, "bb-cuckoo", ENCODING_VERSION, &methods);
}
