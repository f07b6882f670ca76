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

/* Gives a key that does not exist a store. */
void bb_redis_store_key_set(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                            struct bb_redis_store *store);

/* False: the slot of the key belongs to another node of the cluster, or is being moved there and
 * the key is not here. For commands that continue after a while. */
bool bb_redis_store_key_is_here(struct RedisModuleCtx *ctx, struct RedisModuleString *name);

/* Replies that the store lost a write. */
int bb_redis_store_key_reply_incomplete(struct RedisModuleCtx *ctx);

/* Replies that a pause of writes began between a client's release and its command. */
int bb_redis_store_key_reply_paused(struct RedisModuleCtx *ctx);

/* Replies the latest failure of the library in this thread. */
int bb_redis_store_key_reply_failure(struct RedisModuleCtx *ctx, enum bb_status status);

/* The store of a command that needs one, perhaps without a directory (store.h); NULL after replying
 * that the key has another type or does not exist. Borrowed as from bb_redis_store_key_find. */
struct bb_redis_store *bb_redis_store_key_any(struct RedisModuleCtx *ctx,
                                              struct RedisModuleString *name);
/* The same, but NULL after replying that the store has no directory, too. */
struct bb_redis_store *bb_redis_store_key_require(struct RedisModuleCtx *ctx,
                                                  struct RedisModuleString *name);

#endif
