/* A key with a filter of any type, for the commands that take all of them. */
#ifndef BB_REDIS_FILTER_ANY_FILTER_H
#define BB_REDIS_FILTER_ANY_FILTER_H

#include "redis/filter/ribbon.h"
#include "redis/fingerprint/fingerprint_chain.h"
#include "redis/server/redis_module.h"

/* The types, which the server gives while the module is loaded. */
struct bb_redis_filter_types {
    struct RedisModuleType *bloom;
    struct RedisModuleType *cuckoo;
    struct RedisModuleType *ribbon;
};

/* At most one of the two is not NULL; both are: the key does not exist, or has another type. */
struct bb_redis_any_filter {
    struct RedisModuleKey *opened;
    const struct bb_fingerprint_chain *chain;
    const struct bb_redis_ribbon *ribbon;
    bool is_wrong_type;
};

/* Opens a key for reading. Every open is closed. */
struct bb_redis_any_filter bb_redis_any_filter_open(struct RedisModuleCtx *ctx,
                                                    struct RedisModuleString *name,
                                                    const struct bb_redis_filter_types *types);
void bb_redis_any_filter_close(struct bb_redis_any_filter *filter);

bool bb_redis_any_filter_may_contain(const struct bb_redis_any_filter *filter, uint64_t hash);

#endif
