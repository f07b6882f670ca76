/* BB.CREATE, BB.PUT, BB.MPUT, BB.DEL, BB.DELRANGE, BB.LOADCHUNK. */
#ifndef BB_REDIS_STORE_WRITE_COMMAND_H
#define BB_REDIS_STORE_WRITE_COMMAND_H

#include "redis/server/redis_module.h"

int bb_redis_create_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);
int bb_redis_put_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);
int bb_redis_del_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);
int bb_redis_delrange_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                              int argc);
int bb_redis_loadchunk_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                               int argc);

#endif
