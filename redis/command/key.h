/* A key of the database that a command uses, with the value of one module type. */
#ifndef BB_REDIS_COMMAND_KEY_H
#define BB_REDIS_COMMAND_KEY_H

#include "redis/server/redis_module.h"

struct bb_redis_key {
    struct RedisModuleCtx *ctx;
    struct RedisModuleString *name;
    struct RedisModuleKey *opened;
    struct RedisModuleType *type;
    /* NULL: the key does not exist, or has another type. */
    void *value;
    bool is_wrong_type;
};

/* Opens a key for REDISMODULE_READ, or also REDISMODULE_WRITE. Every open is closed. */
struct bb_redis_key bb_redis_key_open(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                                      struct RedisModuleType *type, int mode);
void bb_redis_key_close(struct bb_redis_key *key);

/* Sets the value, which the server then owns. REQUIRES: the key is open for writing. */
void bb_redis_key_set(struct bb_redis_key *key, void *value);

/* Tells replicas, the AOF, clients that watch or cache the key, and the listeners of keyspace
 * events about a change, whose name is its command in lower case. None of them learns about it
 * otherwise. */
void bb_redis_key_changed(const struct bb_redis_key *key, const char *event);
/* The same for a key by its name. */
void bb_redis_key_tell(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                       const char *event);

#endif
