/* Commands that change a store.
 *
 *     key          created where the command creates keys
 *     batch        filled from the arguments
 *     would wait?  the client is blocked, and the command starts again later, after all earlier
 *                  ones for the store
 *     write        to memory; then the command is replicated as it is
 *
 * So the order of the writes is the order of the replication stream. */
#ifndef BB_REDIS_STORE_WRITE_H
#define BB_REDIS_STORE_WRITE_H

#include "redis/server/redis_module.h"
#include "redis/store/store.h"

struct bb_redis_write {
    /* Adds the operations of the arguments, which begin after the key, to the batch. */
    enum bb_status (*fill)(struct bb_batch *batch, struct RedisModuleString **argv, int argc);
    /* The arguments after the key come in groups of this many; 0: no groups. */
    int group;
    bool creates_key;  /* otherwise a missing key is an empty store */
    const char *event; /* for keyspace notifications */
};

int bb_redis_write_run(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                       const struct bb_redis_write *write);

#endif
