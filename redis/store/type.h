/* The data type bbstore-1: the life of stores in the server's files and events. */
#ifndef BB_REDIS_STORE_TYPE_H
#define BB_REDIS_STORE_TYPE_H

#include "redis/server/redis_module.h"

/* Registers the type, and subscribes to the server's events. */
bool bb_redis_type_register(struct RedisModuleCtx *ctx);

/* The module is loaded. Later, once the server has its data, the files of an earlier server are
 * removed. */
void bb_redis_type_begin(struct RedisModuleCtx *ctx);

#endif
