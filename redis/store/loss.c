/* See loss.h. */
#include "redis/store/loss.h"

#include <stdlib.h>

#include "redis/store/store_key.h"

static bool is_loading_aof;

static void on_loading(struct RedisModuleCtx *ctx, struct RedisModuleEvent event, uint64_t part,
                       void *data)
{
    (void)ctx;
    (void)event;
    (void)data;
    is_loading_aof = part == REDISMODULE_SUBEVENT_LOADING_AOF_START;
}

bool bb_redis_loss_init(struct RedisModuleCtx *ctx)
{
    const struct RedisModuleEvent loading = {REDISMODULE_EVENT_LOADING, 1};
    return RedisModule_SubscribeToServerEvent(ctx, loading, on_loading) == REDISMODULE_OK;
}

bool bb_redis_loss_is_loading_aof(void)
{
    return is_loading_aof;
}

void bb_redis_loss_end(void)
{
    if (!is_loading_aof)
        return;
    RedisModule_Log(NULL, "warning",
                    "bloomblock: the AOF has a store that cannot be loaded, so the server ends: %s",
                    bb_error_last()->message);
    exit(1);
}

static void report(void)
{
    RedisModule_Log(NULL, "warning",
                    "bloomblock: a store lost a write, and refuses commands until it is loaded "
                    "again: %s",
                    bb_error_last()->message);
}

bool bb_redis_loss_must_mark(void)
{
    const int loading = REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    int flags = RedisModule_GetContextFlags(NULL);
    bool is_replica = (flags & REDISMODULE_CTX_FLAGS_SLAVE) != 0 && (flags & loading) == 0;
    if (is_replica)
        report();
    return is_replica;
}

/* ---- commands ---- */

static bool is_from_master(struct RedisModuleCtx *ctx)
{
    return (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_REPLICATED) != 0;
}

/* A key of another type has no mark: this node differs from its master already. */
static void mark(struct RedisModuleCtx *ctx, struct RedisModuleString *name)
{
    struct bb_redis_store_options options;
    struct bb_redis_store *store = NULL;
    switch (bb_redis_store_key_find(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, &store)) {
    case BB_REDIS_STORE_KEY_FOUND:
        store->is_incomplete = true;
        return;
    case BB_REDIS_STORE_KEY_NONE:
        bb_redis_store_options_init(&options);
        bb_redis_store_key_set(ctx, name, bb_redis_store_create_lost(&options));
        return;
    default:
        return;
    }
}

int bb_redis_loss_reply(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                        enum bb_status status)
{
    bb_redis_loss_end();
    if (is_from_master(ctx)) {
        report();
        mark(ctx, name);
        (void)RedisModule_SignalModifiedKey(ctx, name);
        (void)RedisModule_ReplicateVerbatim(ctx);
    }
    return bb_redis_store_key_reply_failure(ctx, status);
}

int bb_redis_loss_refuse(struct RedisModuleCtx *ctx)
{
    if (is_from_master(ctx))
        (void)RedisModule_ReplicateVerbatim(ctx);
    return bb_redis_store_key_reply_incomplete(ctx);
}
