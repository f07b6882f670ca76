/* Commands: one row each, with everything that the server knows about the command.
 *
 * A feature has a table of rows, which ends with a row of zeros, and redis/module/module.c lists
 * the tables. The arity and COMMAND DOCS follow from the syntax, the ACL categories from the
 * flags. */
#ifndef BB_REDIS_COMMAND_COMMAND_H
#define BB_REDIS_COMMAND_COMMAND_H

#include "redis/server/redis_module.h"

/* The use that a command makes of a key. */
#define BB_REDIS_KEY_READ (REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS)
#define BB_REDIS_KEY_UPDATE                                                                        \
    (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_ACCESS | REDISMODULE_CMD_KEY_UPDATE)
#define BB_REDIS_KEY_INSERT    (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_INSERT)
#define BB_REDIS_KEY_OVERWRITE (REDISMODULE_CMD_KEY_OW | REDISMODULE_CMD_KEY_UPDATE)
#define BB_REDIS_KEY_DELETE    (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_DELETE)

struct bb_redis_command {
    const char *name;
    RedisModuleCmdFunc function;
    /* As RedisModule_CreateCommand takes them: "write deny-oom", "readonly fast", ... */
    const char *flags;
    /* Of the key that is the first argument; 0: the command has no key there. */
    uint64_t key_flags;
    /* Further keys of the command, or NULL. With them, the function begins with
     * bb_redis_command_lists_keys. */
    const struct RedisModuleCommandKeySpec *other_keys;
    /* The arguments after the name: syntax.h. */
    const char *syntax;
    const char *summary;
    const char *complexity;
};

/* Further keys, which are only read: argument 2 is their number, and they follow it. */
extern const struct RedisModuleCommandKeySpec bb_redis_command_counted_keys;

/* Answers a server that calls the function of a command only to learn its keys: they are argument 1
 * and the other ones that these arguments have. False: the server executes the command. WHY the row
 * is not enough: a cluster compares only the slots of the first key and of listed keys. While a
 * list is made, other functions of the server must not be called. */
bool bb_redis_command_lists_keys(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                                 int argc, uint64_t key_flags,
                                 const struct RedisModuleCommandKeySpec *other_keys);

/* Registers all rows of the table. False if the server refuses one; its log then names it. */
bool bb_redis_commands_register(struct RedisModuleCtx *ctx, const struct bb_redis_command *table);

#endif
