/* CMS.*: the commands of RedisBloom's count-min sketches. */
#ifndef BB_REDIS_FILTER_SKETCH_COMMANDS_H
#define BB_REDIS_FILTER_SKETCH_COMMANDS_H

#include "redis/server/redis_module.h"

/* Registers the type and the commands. False: the server refuses one. */
bool bb_redis_sketch_commands_register(struct RedisModuleCtx *ctx);

#endif
