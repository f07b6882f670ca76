/* See request.h. */
#include "redis/store/request.h"

#include <string.h>

#include "redis/store/store_key.h"

void bb_redis_request_init(struct bb_redis_request *request,
                           const struct bb_redis_request_class *class, struct bb_redis_store *store,
                           struct RedisModuleString **argv, int argc)
{
    memset(request, 0, sizeof(*request));
    request->class = class;
    request->store = bb_redis_store_ref(store);
    request->argv = RedisModule_Alloc((size_t)argc * sizeof(request->argv[0]));
    request->argc = argc;
    for (int i = 0; i < argc; i++) {
        request->argv[i] = argv[i];
        RedisModule_RetainString(NULL, argv[i]);
    }
}

void bb_redis_request_end(struct bb_redis_request *request, enum bb_status status)
{
    request->status = status;
    if (status != BB_OK && status != BB_NOT_FOUND)
        request->error = *bb_error_last();
}

static void release(struct bb_redis_request *request)
{
    if (request->class->release != NULL)
        request->class->release(request);
    bb_snapshot_release(request->store->db, request->snapshot);
    bb_redis_store_unref(request->store);
    for (int i = 0; i < request->argc; i++)
        RedisModule_FreeString(NULL, request->argv[i]);
    RedisModule_Free(request->argv);
    RedisModule_Free(request);
}

static int reply(struct RedisModuleCtx *ctx, struct bb_redis_request *request)
{
    if (request->status == BB_OK || request->status == BB_NOT_FOUND)
        return request->class->reply(ctx, request);
    bb_error_set(request->status, request->error.message);
    return bb_redis_store_key_reply_failure(ctx, request->status);
}

static int reply_later(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    (void)argv;
    (void)argc;
    return reply(ctx, RedisModule_GetBlockedClientPrivateData(ctx));
}

static void release_later(struct RedisModuleCtx *ctx, void *data)
{
    (void)ctx;
    release(data);
}

static void work(struct bb_redis_job *job)
{
    struct bb_redis_request *request = (struct bb_redis_request *)job;
    request->class->work(request);
    (void)RedisModule_UnblockClient(request->client, request);
}

bool bb_redis_request_is_paused(void)
{
    return RedisModule_AvoidReplicaTraffic() != 0;
}

bool bb_redis_request_must_not_block(struct RedisModuleCtx *ctx)
{
    const int reasons = REDISMODULE_CTX_FLAGS_DENY_BLOCKING | REDISMODULE_CTX_FLAGS_MULTI |
                        REDISMODULE_CTX_FLAGS_LUA | REDISMODULE_CTX_FLAGS_LOADING;
    return (RedisModule_GetContextFlags(ctx) & reasons) != 0;
}

int bb_redis_request_run(struct RedisModuleCtx *ctx, struct bb_redis_request *request)
{
    if (bb_redis_request_must_not_block(ctx)) {
        request->class->work(request);
        int result = reply(ctx, request);
        release(request);
        return result;
    }
    request->client = RedisModule_BlockClient(ctx, reply_later, NULL, release_later, 0);
    request->job.run = work;
    bb_redis_pool_add(&request->job);
    return REDISMODULE_OK;
}
