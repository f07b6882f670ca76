/* BB.FILTER.PLAN kind capacity error_rate: the size of a filter before it exists. */
#ifndef BB_REDIS_FILTER_PLAN_COMMAND_H
#define BB_REDIS_FILTER_PLAN_COMMAND_H

#include "redis/server/redis_module.h"

/* Replies with pairs: the size in bytes, bits per member, and the predicted rate. */
int bb_redis_plan_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);

#endif
