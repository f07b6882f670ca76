/* The stores of the module: the data type and the commands. */
#ifndef BB_REDIS_STORE_COMMANDS_H
#define BB_REDIS_STORE_COMMANDS_H

#include "redis/server/redis_module.h"

/* Takes the arguments of loadmodule: DIR path, THREADS count. Registers the data type and the
 * commands. False, with a sentence in the server's log, if an argument is wrong or the server
 * refuses one of them. */
bool bb_redis_store_register(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);

#endif
