/* BF.*: the commands of RedisBloom's Bloom filters, implemented with filters of fingerprints. */
#ifndef BB_REDIS_FILTER_BLOOM_COMMANDS_H
#define BB_REDIS_FILTER_BLOOM_COMMANDS_H

#include "redis/server/redis_module.h"

/* Registers the type and the commands. False: the server refuses one. */
bool bb_redis_bloom_commands_register(struct RedisModuleCtx *ctx,
                                      struct RedisModuleType **ret_type);

#endif
