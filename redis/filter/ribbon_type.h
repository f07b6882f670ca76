/* The data type bb-ribbon, whose values are struct bb_redis_ribbon. */
#ifndef BB_REDIS_FILTER_RIBBON_TYPE_H
#define BB_REDIS_FILTER_RIBBON_TYPE_H

#include "redis/filter/ribbon.h"
#include "redis/server/redis_module.h"

/* NULL: the server refuses the type. */
struct RedisModuleType *bb_redis_ribbon_type_create(struct RedisModuleCtx *ctx);

#endif
