/* BB.GET, BB.MGET, BB.EXISTS, BB.MEXISTS. */
#ifndef BB_REDIS_STORE_READ_COMMAND_H
#define BB_REDIS_STORE_READ_COMMAND_H

#include "redis/server/redis_module.h"

int bb_redis_get_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);
int bb_redis_mget_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);
int bb_redis_exists_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);
int bb_redis_mexists_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);

#endif
