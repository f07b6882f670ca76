/* See ribbon_type.h.
 *
 *     RDB    parts | one string per part: its envelope (docs/filters.md)
 *     AOF    BB.FILTER.LOAD for each part */
#include "redis/filter/ribbon_type.h"

#define ENCODING_VERSION 1

static enum bb_status load_part(struct RedisModuleIO *rdb, struct bb_redis_ribbon *ribbon)
{
    size_t size = 0;
    char *envelope = RedisModule_LoadStringBuffer(rdb, &size);
    if (!RedisModule_IsIOError(rdb) && envelope != NULL)
        return bb_redis_ribbon_take(ribbon, (uint8_t *)envelope, size);
    RedisModule_Free(envelope);
    return bb_error_set(BB_CORRUPT, "the bytes end within a filter");
}

static void *load(struct RedisModuleIO *rdb, int version)
{
    if (version != ENCODING_VERSION)
        return NULL;
    uint64_t count = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb) || count > BB_REDIS_RIBBON_PARTS_MAX)
        return NULL;
    struct bb_redis_ribbon *ribbon = bb_redis_ribbon_create();
    enum bb_status status = BB_OK;
    for (uint64_t i = 0; ribbon != NULL && i < count && status == BB_OK; i++)
        status = load_part(rdb, ribbon);
    if (status == BB_OK)
        return ribbon;
    RedisModule_LogIOError(rdb, "warning", "bloomblock: a filter cannot be loaded: %s",
                           bb_error_last()->message);
    bb_redis_ribbon_destroy(ribbon);
    return NULL;
}

static void save(struct RedisModuleIO *rdb, void *value)
{
    const struct bb_redis_ribbon *ribbon = value;
    RedisModule_SaveUnsigned(rdb, ribbon->part_count);
    for (uint32_t i = 0; i < ribbon->part_count; i++)
        RedisModule_SaveStringBuffer(rdb, (const char *)ribbon->parts[i]->envelope,
                                     ribbon->parts[i]->size);
}

static void rewrite(struct RedisModuleIO *aof, struct RedisModuleString *key, void *value)
{
    const struct bb_redis_ribbon *ribbon = value;
    for (uint32_t i = 0; i < ribbon->part_count; i++)
        RedisModule_EmitAOF(aof, "BB.FILTER.LOAD", "sb", key,
                            (const char *)ribbon->parts[i]->envelope, ribbon->parts[i]->size);
}

static size_t memory_usage(const void *value)
{
    return bb_redis_ribbon_totals(value).memory;
}

static void digest(struct RedisModuleDigest *digest, void *value)
{
    const struct bb_redis_ribbon *ribbon = value;
    for (uint32_t i = 0; i < ribbon->part_count; i++)
        RedisModule_DigestAddStringBuffer(digest, (const char *)ribbon->parts[i]->envelope,
                                          ribbon->parts[i]->size);
    RedisModule_DigestEndSequence(digest);
}

static void release(void *value)
{
    bb_redis_ribbon_destroy(value);
}

static void *copy(struct RedisModuleString *from, struct RedisModuleString *to, const void *value)
{
    struct bb_redis_ribbon *copied = bb_redis_ribbon_create();
    (void)from;
    (void)to;
    if (copied == NULL || bb_redis_ribbon_unite(copied, value) == BB_OK)
        return copied;
    bb_redis_ribbon_destroy(copied);
    return NULL;
}

struct RedisModuleType *bb_redis_ribbon_type_create(struct RedisModuleCtx *ctx)
{
    struct RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .rdb_load = load,
        .rdb_save = save,
        .aof_rewrite = rewrite,
        .mem_usage = memory_usage,
        .digest = digest,
        .free = release,
        .copy = copy,
    };
    return RedisModule_CreateDataType(ctx, "bb-ribbon", ENCODING_VERSION, &methods);
}
