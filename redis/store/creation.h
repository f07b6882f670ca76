/* Creates the store of a key that does not exist.
 *
 * A new store takes some milliseconds, for its files. So a thread of the pool
 * creates it while the client is blocked, and then the command continues. Another client may have
 * created the key by then: the command continues with that store.
 *
 * Threads: the server's. */
#ifndef BB_REDIS_STORE_CREATION_H
#define BB_REDIS_STORE_CREATION_H

#include "redis/server/redis_module.h"
#include "redis/store/store.h"

/* Continues the command. */
typedef int (*bb_redis_creation_next)(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                                      int argc, struct bb_redis_store *store, bool is_new,
                                      const void *context);

/* argv[1] is the key. context: borrowed, constant. */
int bb_redis_creation_run(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                          const struct bb_redis_store_options *options, bb_redis_creation_next next,
                          const void *context);

#endif
