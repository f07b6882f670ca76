/* The store of a key. */
#ifndef BB_REDIS_STORE_STORE_KEY_H
#define BB_REDIS_STORE_STORE_KEY_H

#include "redis/server/redis_module.h"
#include "redis/store/store.h"

/* The data type, once it is registered. */
extern struct RedisModuleType *bb_redis_store_type;

enum bb_redis_store_key_result {
    BB_REDIS_STORE_KEY_FOUND,
    BB_REDIS_STORE_KEY_NONE,  /* there is no such key */
    BB_REDIS_STORE_KEY_OTHER, /* it has another type */
};

/* *ret_store is borrowed until the key is changed; NULL without one. */
enum bb_redis_store_key_result bb_redis_store_key_find(struct RedisModuleCtx *ctx,
                                                       struct RedisModuleString *name, int mode,
                                                       struct bb_redis_store **ret_store);

/* Creates an empty store for a key that does not exist. */
BB_MUST_CHECK enum bb_status bb_redis_store_key_create(struct RedisModuleCtx *ctx,
                                                       struct RedisModuleString *name,
                                                       const struct bb_redis_store_options *options,
                                                       struct bb_redis_store **ret_store);

/* Replies that the store lost a write. */
int bb_redis_store_key_reply_incomplete(struct RedisModuleCtx *ctx);

/* Replies the latest failure of the library in this thread. */
int bb_redis_store_key_reply_failure(struct RedisModuleCtx *ctx, enum bb_status status);

#endif
