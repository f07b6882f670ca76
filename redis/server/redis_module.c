/* See redis_module.h. */
#include "redis/server/redis_module.h"

#include <string.h>

#define DEFINE(result, name, parameters) result(*RedisModule_##name) parameters;
BB_REDIS_MODULE_FUNCTIONS(DEFINE)
BB_REDIS_MODULE_NEWER_FUNCTIONS(DEFINE)

typedef int (*look_up)(const char *name, void *ret_function);

struct function {
    const char *name;
    void *pointer;
};

#define ENTRY(result, name, parameters) {"RedisModule_" #name, &RedisModule_##name},
static const struct function functions[] = {BB_REDIS_MODULE_FUNCTIONS(ENTRY)};
static const struct function newer_functions[] = {BB_REDIS_MODULE_NEWER_FUNCTIONS(ENTRY)};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A context begins with the address of the server's look-up function. */
static look_up look_up_of(const struct RedisModuleCtx *ctx)
{
    look_up found = NULL;
    memcpy(&found, ctx, sizeof(found));
    return found;
}

bool bb_redis_module_resolve(struct RedisModuleCtx *ctx)
{
    look_up find = look_up_of(ctx);
    const char *missing = NULL;
    for (size_t i = 0; i < LENGTH(functions); i++) {
        if (find(functions[i].name, functions[i].pointer) != REDISMODULE_OK && missing == NULL)
            missing = functions[i].name;
    }
    for (size_t i = 0; i < LENGTH(newer_functions); i++)
        (void)find(newer_functions[i].name, newer_functions[i].pointer);
    if (missing != NULL && RedisModule_Log != NULL)
        RedisModule_Log(ctx, "warning",
                        "bloomblock: this server has no %s; the module needs Redis 7.0 or later, "
                        "or Valkey 7.2 or later",
                        missing);
    return missing == NULL;
}
