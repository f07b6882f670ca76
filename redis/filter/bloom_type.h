/* The data type bb-bloom1: a growing filter without removal. Its value is a chain of fingerprints
 * that is a set. */
#ifndef BB_REDIS_FILTER_BLOOM_TYPE_H
#define BB_REDIS_FILTER_BLOOM_TYPE_H

#include "redis/server/redis_module.h"

/* NULL: the server refuses the type. */
struct RedisModuleType *bb_redis_bloom_type_create(struct RedisModuleCtx *ctx);

#endif
