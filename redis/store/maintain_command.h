/* BB.FLUSH, BB.COMPACT, BB.VERIFY. */
#ifndef BB_REDIS_STORE_MAINTAIN_COMMAND_H
#define BB_REDIS_STORE_MAINTAIN_COMMAND_H

#include "redis/server/redis_module.h"

int bb_redis_flush_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);
int bb_redis_compact_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);
int bb_redis_verify_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);

#endif
