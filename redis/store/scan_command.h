/* BB.SCAN and BB.LEN. */
#ifndef BB_REDIS_STORE_SCAN_COMMAND_H
#define BB_REDIS_STORE_SCAN_COMMAND_H

#include "redis/server/redis_module.h"

/* BB.SCAN key [FROM f] [TO f] [PREFIX p] [AFTER f] [REVERSE] [LIMIT n] replies two elements: the
 * cursor, and an array of field, value, field, value. The cursor is null at the end. Otherwise it
 * is the argument of AFTER for the next call, with the other arguments unchanged. */
int bb_redis_scan_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);

/* BB.LEN key [EXACT] */
int bb_redis_len_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);

#endif
