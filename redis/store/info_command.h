/* BB.INFO and BB.STATS. */
#ifndef BB_REDIS_STORE_INFO_COMMAND_H
#define BB_REDIS_STORE_INFO_COMMAND_H

#include "redis/server/redis_module.h"

/* The shape of the store: options, sizes, memory. */
int bb_redis_info_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);

/* Its work since it was loaded: lookups, reads, avoided reads, background work. */
int bb_redis_stats_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);

#endif
