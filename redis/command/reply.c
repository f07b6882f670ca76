/* See reply.h. */
#include "redis/command/reply.h"

#include <stdio.h>

#include "bb/base.h"

int bb_redis_reply_ok(struct RedisModuleCtx *ctx)
{
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

int bb_redis_reply_wrong_type(struct RedisModuleCtx *ctx)
{
    return RedisModule_ReplyWithError(ctx, REDISMODULE_ERRORMSG_WRONGTYPE);
}

bool bb_redis_reply_is_resp3(struct RedisModuleCtx *ctx)
{
    return (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_RESP3) != 0;
}

int bb_redis_reply_truth(struct RedisModuleCtx *ctx, bool value)
{
    return bb_redis_reply_is_resp3(ctx) ? RedisModule_ReplyWithBool(ctx, value)
                                        : RedisModule_ReplyWithLongLong(ctx, value);
}

int bb_redis_reply_pairs(struct RedisModuleCtx *ctx, long count)
{
    return bb_redis_reply_is_resp3(ctx) ? RedisModule_ReplyWithMap(ctx, count)
                                        : RedisModule_ReplyWithArray(ctx, count * 2);
}

void bb_redis_reply_pairs_begin(struct RedisModuleCtx *ctx)
{
    if (bb_redis_reply_is_resp3(ctx))
        (void)RedisModule_ReplyWithMap(ctx, REDISMODULE_POSTPONED_LEN);
    else
        (void)RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
}

void bb_redis_reply_pairs_end(struct RedisModuleCtx *ctx, long count)
{
    if (bb_redis_reply_is_resp3(ctx))
        RedisModule_ReplySetMapLength(ctx, count);
    else
        RedisModule_ReplySetArrayLength(ctx, count * 2);
}

int bb_redis_reply_failure(struct RedisModuleCtx *ctx)
{
    const struct bb_error *error = bb_error_last();
    char text[sizeof(error->message) + 8];
    snprintf(text, sizeof(text), "ERR %s", error->message);
    return RedisModule_ReplyWithError(ctx, text);
}
