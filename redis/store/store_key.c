/* See store_key.h. */
#include "redis/store/store_key.h"

#include <stdio.h>

#include "redis/command/reply.h"

struct RedisModuleType *bb_redis_store_type;

enum bb_redis_store_key_result bb_redis_store_key_find(struct RedisModuleCtx *ctx,
                                                       struct RedisModuleString *name, int mode,
                                                       struct bb_redis_store **ret_store)
{
    enum bb_redis_store_key_result result = BB_REDIS_STORE_KEY_NONE;
    struct RedisModuleKey *key = RedisModule_OpenKey(ctx, name, mode);
    *ret_store = NULL;
    if (RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_EMPTY) {
        bool is_store = RedisModule_ModuleTypeGetType(key) == bb_redis_store_type;
        result = is_store ? BB_REDIS_STORE_KEY_FOUND : BB_REDIS_STORE_KEY_OTHER;
        if (is_store)
            *ret_store = RedisModule_ModuleTypeGetValue(key);
    }
    RedisModule_CloseKey(key);
    return result;
}

void bb_redis_store_key_set(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                            struct bb_redis_store *store)
{
    struct RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    bb_redis_store_attach(store);
    (void)RedisModule_ModuleTypeSetValue(key, bb_redis_store_type, store);
    (void)RedisModule_SignalModifiedKey(ctx, name);
    RedisModule_CloseKey(key);
}

bool bb_redis_store_key_is_here(struct RedisModuleCtx *ctx, struct RedisModuleString *name)
{
    if ((RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_CLUSTER) == 0)
        return true;
    /* The server refuses calls for keys of other nodes. */
    struct RedisModuleCallReply *reply = RedisModule_Call(ctx, "EXISTS", "s", name);
    bool is_here = reply != NULL;
    if (reply != NULL)
        RedisModule_FreeCallReply(reply);
    return is_here;
}

int bb_redis_store_key_reply_incomplete(struct RedisModuleCtx *ctx)
{
    return RedisModule_ReplyWithError(ctx,
                                      "BBINCOMPLETE this copy of the store lost a write; the log "
                                      "has the reason. Make it load the data again");
}

int bb_redis_store_key_reply_paused(struct RedisModuleCtx *ctx)
{
    return RedisModule_ReplyWithError(ctx, "TRYAGAIN writes were paused while the write waited");
}

/* The first word of an error, by which clients recognise it. */
static const char *code_of(enum bb_status status)
{
    switch (status) {
    case BB_NO_SPACE:
        return "BBFULL";
    case BB_CORRUPT:
        return "BBCORRUPT";
    case BB_IO:
        return "BBIO";
    case BB_BUSY:
        return "BBBUSY";
    default:
        return "ERR";
    }
}

int bb_redis_store_key_reply_failure(struct RedisModuleCtx *ctx, enum bb_status status)
{
    const struct bb_error *error = bb_error_last();
    char text[sizeof(error->message) + 16];
    snprintf(text, sizeof(text), "%s %s", code_of(status), error->message);
    return RedisModule_ReplyWithError(ctx, text);
}

struct bb_redis_store *bb_redis_store_key_any(struct RedisModuleCtx *ctx,
                                              struct RedisModuleString *name)
{
    struct bb_redis_store *store = NULL;
    enum bb_redis_store_key_result result =
        bb_redis_store_key_find(ctx, name, REDISMODULE_READ, &store);
    if (result == BB_REDIS_STORE_KEY_OTHER)
        bb_redis_reply_wrong_type(ctx);
    else if (result == BB_REDIS_STORE_KEY_NONE)
        RedisModule_ReplyWithError(ctx, "ERR no such key");
    return store;
}

struct bb_redis_store *bb_redis_store_key_require(struct RedisModuleCtx *ctx,
                                                  struct RedisModuleString *name)
{
    struct bb_redis_store *store = bb_redis_store_key_any(ctx, name);
    if (store == NULL || store->db != NULL)
        return store;
    (void)bb_redis_store_key_reply_incomplete(ctx);
    return NULL;
}
