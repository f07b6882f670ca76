/* Replies that several commands give. */
#ifndef BB_REDIS_COMMAND_REPLY_H
#define BB_REDIS_COMMAND_REPLY_H

#include "redis/server/redis_module.h"

/* "OK", as a simple string. */
int bb_redis_reply_ok(struct RedisModuleCtx *ctx);

/* A key of another type, in Redis' own words. */
int bb_redis_reply_wrong_type(struct RedisModuleCtx *ctx);

/* Whether the client speaks RESP3. */
bool bb_redis_reply_is_resp3(struct RedisModuleCtx *ctx);

/* An answer of yes or no: a boolean in RESP3, 1 or 0 in RESP2. */
int bb_redis_reply_truth(struct RedisModuleCtx *ctx, bool value);

/* Begins pairs of a name and a value: a map in RESP3, an array of twice the length in RESP2. */
int bb_redis_reply_pairs(struct RedisModuleCtx *ctx, long count);
/* The same when their number is not yet known. bb_redis_reply_pairs_end must follow the last
 * pair. */
void bb_redis_reply_pairs_begin(struct RedisModuleCtx *ctx);
void bb_redis_reply_pairs_end(struct RedisModuleCtx *ctx, long count);

/* The latest failure of the library in this thread: "ERR " and its sentence. */
int bb_redis_reply_failure(struct RedisModuleCtx *ctx);

#endif
