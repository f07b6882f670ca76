/* See command.h. */
#include "redis/command/command.h"

#include <stdio.h>
#include <string.h>

#include "redis/command/arguments.h"
#include "redis/command/syntax.h"

#define SINCE "0.1.0"

static const struct RedisModuleCommandInfoVersion version = {
    .version = 1,
    .sizeof_historyentry = sizeof(struct RedisModuleCommandHistoryEntry),
    .sizeof_keyspec = sizeof(struct RedisModuleCommandKeySpec),
    .sizeof_arg = sizeof(struct RedisModuleCommandArg),
};

const struct RedisModuleCommandKeySpec bb_redis_command_counted_keys = {
    .flags = BB_REDIS_KEY_READ,
    .begin_search_type = REDISMODULE_KSPEC_BS_INDEX,
    .bs.index.pos = 2,
    .find_keys_type = REDISMODULE_KSPEC_FK_KEYNUM,
    .fk.keynum = {.keynumidx = 0, .firstkey = 1, .keystep = 1},
};

/* The arguments from *first on that are the keys; fewer than the command names if it has fewer. */
static int count_keys(const struct RedisModuleCommandKeySpec *keys, struct RedisModuleString **argv,
                      int argc, int *first)
{
    long long count = 1;
    *first = keys->bs.index.pos;
    if (keys->find_keys_type == REDISMODULE_KSPEC_FK_KEYNUM) {
        struct bb_redis_arguments arguments =
            bb_redis_arguments_make(argv, argc, *first + keys->fk.keynum.keynumidx);
        *first += keys->fk.keynum.firstkey;
        if (!bb_redis_arguments_take_integer(&arguments, &count) || count < 0)
            return 0;
    }
    return count < argc - *first ? (int)count : argc - *first;
}

bool bb_redis_command_lists_keys(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                                 int argc, uint64_t key_flags,
                                 const struct RedisModuleCommandKeySpec *other_keys)
{
    int first = 0;
    if (!RedisModule_IsKeysPositionRequest(ctx))
        return false;
    int count = count_keys(other_keys, argv, argc, &first);
    RedisModule_KeyAtPosWithFlags(ctx, 1, (int)key_flags);
    for (int i = 0; i < count; i++)
        RedisModule_KeyAtPosWithFlags(ctx, first + i, (int)other_keys->flags);
    return true;
}

static bool describe(struct RedisModuleCommand *command, const struct bb_redis_command *row)
{
    struct bb_redis_syntax syntax;
    struct RedisModuleCommandKeySpec keys[3] = {{0}};
    struct RedisModuleCommandInfo info = {
        .version = &version,
        .summary = row->summary,
        .complexity = row->complexity,
        .since = SINCE,
        .args = bb_redis_syntax_parse(&syntax, row->syntax),
    };
    if (info.args == NULL)
        return false;
    info.arity = bb_redis_syntax_arity(&syntax);
    if (row->key_flags != 0) {
        keys[0].flags = row->key_flags;
        keys[0].begin_search_type = REDISMODULE_KSPEC_BS_INDEX;
        keys[0].bs.index.pos = 1;
        keys[0].find_keys_type = REDISMODULE_KSPEC_FK_RANGE;
        keys[0].fk.range.keystep = 1;
        if (row->other_keys != NULL)
            keys[1] = *row->other_keys;
        info.key_specs = keys;
    }
    return RedisModule_SetCommandInfo(command, &info) == REDISMODULE_OK;
}

static bool has_flag(const struct bb_redis_command *row, const char *flag)
{
    return strstr(row->flags, flag) != NULL;
}

/* The categories that Redis gives to its commands with these flags. In Redis 7.0, commands of
 * modules have no categories. */
static bool categorize(struct RedisModuleCommand *command, const struct bb_redis_command *row)
{
    char categories[64];
    if (RedisModule_SetCommandACLCategories == NULL)
        return true;
    snprintf(categories, sizeof(categories), "%s %s%s", has_flag(row, "write") ? "write" : "read",
             has_flag(row, "fast") ? "fast" : "slow",
             has_flag(row, "admin") ? " admin dangerous" : "");
    return RedisModule_SetCommandACLCategories(command, categories) == REDISMODULE_OK;
}

static bool add(struct RedisModuleCtx *ctx, const struct bb_redis_command *row)
{
    int key = row->key_flags == 0 ? 0 : 1;
    char flags[64];
    snprintf(flags, sizeof(flags), "%s%s", row->flags,
             row->other_keys != NULL ? " getkeys-api" : "");
    if (RedisModule_CreateCommand(ctx, row->name, row->function, flags, key, key, key) !=
        REDISMODULE_OK) {
        RedisModule_Log(ctx, "warning",
                        "bloomblock: the server refuses the command %s: another module has it",
                        row->name);
        return false;
    }
    struct RedisModuleCommand *command = RedisModule_GetCommand(ctx, row->name);
    if (!describe(command, row) || !categorize(command, row)) {
        RedisModule_Log(ctx, "warning", "bloomblock: the server refuses the description of %s",
                        row->name);
        return false;
    }
    return true;
}

bool bb_redis_commands_register(struct RedisModuleCtx *ctx, const struct bb_redis_command *table)
{
    for (const struct bb_redis_command *row = table; row->name != NULL; row++) {
        if (!add(ctx, row))
            return false;
    }
    return true;
}
