/* BB.EXPLAIN: the steps of a lookup, one line each. */
#ifndef BB_REDIS_STORE_EXPLAIN_COMMAND_H
#define BB_REDIS_STORE_EXPLAIN_COMMAND_H

#include "redis/server/redis_module.h"

int bb_redis_explain_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);

#endif
