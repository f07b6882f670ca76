/* BB.FILTER.*: immutable filters of complete sets, and queries of filters of any type. */
#ifndef BB_REDIS_FILTER_RIBBON_COMMANDS_H
#define BB_REDIS_FILTER_RIBBON_COMMANDS_H

#include "redis/filter/any_filter.h"
#include "redis/server/redis_module.h"

/* Registers the type and the commands. others: the types of the other filters. False: the server
 * refuses one. */
bool bb_redis_ribbon_commands_register(struct RedisModuleCtx *ctx,
                                       const struct bb_redis_filter_types *others);

#endif
