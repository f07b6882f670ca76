/* The module of Redis: loading.
 *
 *     loadmodule lib/redis/modules/bloomblock_redis.so [DIR path] [THREADS count]
 *
 * The server calls RedisModule_OnLoad once for each loadmodule. It registers the data types and the
 * tables of commands, or returns an error and leaves a sentence in the server's log. Redis itself
 * refuses to unload a module that has data types. */
#include "bb/base.h"
#include "redis/command/command.h"
#include "redis/filter/commands.h"
#include "redis/store/commands.h"

#define NAME    "bloomblock"
#define VERSION (BB_VERSION_MAJOR * 10000 + BB_VERSION_MINOR * 100 + BB_VERSION_PATCH)

__attribute__((visibility("default"))) int
RedisModule_OnLoad(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc);

static int refuse(struct RedisModuleCtx *ctx, const char *sentence)
{
    RedisModule_Log(ctx, "warning", "bloomblock: %s", sentence);
    return REDISMODULE_ERR;
}

int RedisModule_OnLoad(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    if (!bb_redis_module_resolve(ctx))
        return REDISMODULE_ERR;
    if (RedisModule_IsModuleNameBusy(NAME))
        return refuse(ctx, "the module is loaded already");
    RedisModule_SetModuleAttribs(ctx, NAME, VERSION, REDISMODULE_APIVER_1);
    /* A damaged payload of RESTORE is then an error of the command, not the end of the server. A
     * command that fails, or changes nothing, does not abort WATCH. */
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS |
                                          REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED);
    bool is_registered = bb_redis_filter_register(ctx) && bb_redis_store_register(ctx, argv, argc);
    return is_registered ? REDISMODULE_OK : REDISMODULE_ERR;
}
