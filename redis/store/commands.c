/* See commands.h. */
#include "redis/store/commands.h"

#include <stdio.h>

#include "redis/command/arguments.h"
#include "redis/command/command.h"
#include "redis/store/explain_command.h"
#include "redis/store/info_command.h"
#include "redis/store/maintain_command.h"
#include "redis/store/options.h"
#include "redis/store/pool.h"
#include "redis/store/read_command.h"
#include "redis/store/root.h"
#include "redis/store/scan_command.h"
#include "redis/store/type.h"
#include "redis/store/write_command.h"

static const struct bb_redis_command table[] = {
    {.name = "BB.CREATE",
     .function = bb_redis_create_command,
     .flags = "write deny-oom",
     .key_flags = BB_REDIS_KEY_INSERT,
     .syntax = "key " BB_REDIS_STORE_OPTIONS_SYNTAX,
     .summary = "Creates an empty store",
     .complexity = "O(1); creates files"},
    {.name = "BB.PUT",
     .function = bb_redis_put_command,
     .flags = "write deny-oom",
     .key_flags = BB_REDIS_KEY_UPDATE,
     .syntax = "key field value",
     .summary = "Sets the value of a field",
     .complexity = "O(log N), in memory"},
    {.name = "BB.MPUT",
     .function = bb_redis_put_command,
     .flags = "write deny-oom",
     .key_flags = BB_REDIS_KEY_UPDATE,
     .syntax = "key (field value)...",
     .summary = "Sets the values of fields, all or none",
     .complexity = "O(log N) for each field, in memory"},
    {.name = "BB.GET",
     .function = bb_redis_get_command,
     .flags = "readonly",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key field",
     .summary = "The value of a field",
     .complexity = "O(log N), at most one read for a present field"},
    {.name = "BB.MGET",
     .function = bb_redis_mget_command,
     .flags = "readonly",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key field...",
     .summary = "The values of fields, as of one moment",
     .complexity = "O(log N) for each field"},
    {.name = "BB.EXISTS",
     .function = bb_redis_exists_command,
     .flags = "readonly",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key field",
     .summary = "Whether a field exists",
     .complexity = "O(log N); no read for most absent fields"},
    {.name = "BB.MEXISTS",
     .function = bb_redis_mexists_command,
     .flags = "readonly",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key field...",
     .summary = "Whether fields exist, as of one moment",
     .complexity = "O(log N) for each field; no read for most absent fields"},
    {.name = "BB.DEL",
     .function = bb_redis_del_command,
     .flags = "write",
     .key_flags = BB_REDIS_KEY_DELETE,
     .syntax = "key field...",
     .summary = "Removes fields, whether they exist or not",
     .complexity = "O(log N) for each field, in memory"},
    {.name = "BB.DELRANGE",
     .function = bb_redis_delrange_command,
     .flags = "write",
     .key_flags = BB_REDIS_KEY_DELETE,
     .syntax = "key from to",
     .summary = "Removes all fields from one, inclusive, to another, exclusive",
     .complexity = "O(log N), however many fields are removed"},
    {.name = "BB.SCAN",
     .function = bb_redis_scan_command,
     .flags = "readonly",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key [FROM from] [TO to] [PREFIX prefix] [AFTER cursor] [REVERSE] "
               "[LIMIT count:integer]",
     .summary = "Fields and values in order",
     .complexity = "O(log N + M) for M fields"},
    {.name = "BB.LEN",
     .function = bb_redis_len_command,
     .flags = "readonly",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key [EXACT]",
     .summary = "The number of fields: an estimate, or exact by reading all of them",
     .complexity = "O(1); with EXACT O(N)"},
    {.name = "BB.LOADCHUNK",
     .function = bb_redis_loadchunk_command,
     .flags = "write deny-oom",
     .key_flags = BB_REDIS_KEY_UPDATE,
     .syntax = "key chunk",
     .summary = "Adds a part of a store that an AOF rewrite has made",
     .complexity = "O(N log N) for N fields in the chunk"},
    {.name = "BB.INFO",
     .function = bb_redis_info_command,
     .flags = "readonly",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key",
     .summary = "Options, sizes and memory of a store",
     .complexity = "O(1)"},
    {.name = "BB.STATS",
     .function = bb_redis_stats_command,
     .flags = "readonly",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key",
     .summary = "Lookups, reads avoided and wasted, and background work since loading",
     .complexity = "O(1)"},
    {.name = "BB.EXPLAIN",
     .function = bb_redis_explain_command,
     .flags = "readonly",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key field",
     .summary = "The steps of a lookup",
     .complexity = "O(log N)"},
    {.name = "BB.FLUSH",
     .function = bb_redis_flush_command,
     .flags = "readonly admin",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key",
     .summary = "Writes the data in memory to files",
     .complexity = "O(N) for N fields in memory"},
    {.name = "BB.COMPACT",
     .function = bb_redis_compact_command,
     .flags = "readonly admin",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key",
     .summary = "Merges all files of the store",
     .complexity = "O(N)"},
    {.name = "BB.VERIFY",
     .function = bb_redis_verify_command,
     .flags = "readonly admin",
     .key_flags = BB_REDIS_KEY_READ,
     .syntax = "key",
     .summary = "Reads and verifies all files of the store",
     .complexity = "O(N)"},
    {.name = NULL},
};

/* In the server's present directory: later changes of that do not matter. */
static bool set_directory(struct RedisModuleCtx *ctx, const char *given)
{
    char directory[BB_REDIS_PATH_SIZE_MAX];
    struct RedisModuleCallReply *reply = RedisModule_Call(ctx, "CONFIG", "cc", "GET", "dir");
    struct RedisModuleCallReply *text = RedisModule_CallReplyArrayElement(reply, 1);
    size_t size = 0;
    const char *bytes = text != NULL ? RedisModule_CallReplyStringPtr(text, &size) : NULL;
    bool fits = bytes != NULL && size < sizeof(directory);
    if (fits)
        snprintf(directory, sizeof(directory), "%.*s", (int)size, bytes);
    RedisModule_FreeCallReply(reply);
    return fits && bb_redis_root_init(directory, given);
}

/* *ret_directory is borrowed from the arguments; NULL: not given. */
static bool parse(struct RedisModuleString **argv, int argc, const char **ret_directory)
{
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 0);
    long long threads = BB_REDIS_POOL_THREADS_DEFAULT;
    while (bb_redis_arguments_left(&arguments) > 0) {
        if (bb_redis_arguments_left(&arguments) > 1 &&
            bb_redis_arguments_take_word(&arguments, "DIR"))
            *ret_directory = RedisModule_StringPtrLen(arguments.values[arguments.at++], NULL);
        else if (!bb_redis_arguments_take_word(&arguments, "THREADS") ||
                 !bb_redis_arguments_take_integer(&arguments, &threads) || threads < 2 ||
                 threads > BB_REDIS_POOL_THREADS_MAX)
            return false;
    }
    bb_redis_pool_set_threads((int)threads);
    return true;
}

static bool refuse(struct RedisModuleCtx *ctx, const char *sentence)
{
    RedisModule_Log(ctx, "warning", "bloomblock: %s", sentence);
    return false;
}

bool bb_redis_store_register(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    const char *directory = NULL;
    if (!parse(argv, argc, &directory))
        return refuse(ctx, "loadmodule takes DIR path and THREADS 2 to 64 after the file");
    if (!set_directory(ctx, directory))
        return refuse(ctx, "the directory for stores is unknown, or its name is too long");
    if (!bb_redis_type_register(ctx))
        return refuse(ctx, "the server refuses the data type of stores, or its events");
    if (!bb_redis_commands_register(ctx, table))
        return false;
    bb_redis_type_begin(ctx);
    return true;
}
