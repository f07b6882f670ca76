/* See any_filter.h. */
#include "redis/filter/any_filter.h"

#include "redis/filter/cuckoo.h"

static void take_value(struct bb_redis_any_filter *filter, struct RedisModuleType *type,
                       const struct bb_redis_filter_types *types)
{
    const void *value = RedisModule_ModuleTypeGetValue(filter->opened);
    if (type == types->bloom)
        filter->chain = value;
    else if (type == types->cuckoo)
        filter->chain = ((const struct bb_redis_cuckoo *)value)->chain;
    else
        filter->ribbon = value;
}

struct bb_redis_any_filter bb_redis_any_filter_open(struct RedisModuleCtx *ctx,
                                                    struct RedisModuleString *name,
                                                    const struct bb_redis_filter_types *types)
{
    struct bb_redis_any_filter filter = {.opened =
                                             RedisModule_OpenKey(ctx, name, REDISMODULE_READ)};
    if (filter.opened == NULL || RedisModule_KeyType(filter.opened) == REDISMODULE_KEYTYPE_EMPTY)
        return filter;
    struct RedisModuleType *type = RedisModule_ModuleTypeGetType(filter.opened);
    filter.is_wrong_type =
        type == NULL || (type != types->bloom && type != types->cuckoo && type != types->ribbon);
    if (!filter.is_wrong_type)
        take_value(&filter, type, types);
    return filter;
}

void bb_redis_any_filter_close(struct bb_redis_any_filter *filter)
{
    if (filter->opened != NULL)
        RedisModule_CloseKey(filter->opened);
}

bool bb_redis_any_filter_may_contain(const struct bb_redis_any_filter *filter, uint64_t hash)
{
    if (filter->chain != NULL)
        return bb_fingerprint_chain_contains(filter->chain, hash);
    return filter->ribbon != NULL && bb_redis_ribbon_may_contain(filter->ribbon, hash);
}
