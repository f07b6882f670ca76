/* The filters of the module: data types and commands. */
#ifndef BB_REDIS_FILTER_COMMANDS_H
#define BB_REDIS_FILTER_COMMANDS_H

#include "redis/server/redis_module.h"

/* Registers the data types and commands. False if the server refuses one; its log then names it. */
bool bb_redis_filter_register(struct RedisModuleCtx *ctx);

#endif
