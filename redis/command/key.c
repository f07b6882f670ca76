/* See key.h. */
#include "redis/command/key.h"

struct bb_redis_key bb_redis_key_open(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                                      struct RedisModuleType *type, int mode)
{
    struct bb_redis_key key = {.ctx = ctx, .name = name, .type = type};
    key.opened = RedisModule_OpenKey(ctx, name, mode);
    if (key.opened == NULL || RedisModule_KeyType(key.opened) == REDISMODULE_KEYTYPE_EMPTY)
        return key;
    if (RedisModule_ModuleTypeGetType(key.opened) == type)
        key.value = RedisModule_ModuleTypeGetValue(key.opened);
    else
        key.is_wrong_type = true;
    return key;
}

void bb_redis_key_close(struct bb_redis_key *key)
{
    if (key->opened != NULL)
        RedisModule_CloseKey(key->opened);
    key->opened = NULL;
}

void bb_redis_key_set(struct bb_redis_key *key, void *value)
{
    RedisModule_ModuleTypeSetValue(key->opened, key->type, value);
    key->value = value;
}

void bb_redis_key_tell(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                       const char *event)
{
    RedisModule_ReplicateVerbatim(ctx);
    RedisModule_SignalModifiedKey(ctx, name);
    RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, event, name);
}

void bb_redis_key_changed(const struct bb_redis_key *key, const char *event)
{
    bb_redis_key_tell(key->ctx, key->name, event);
}
