/* Goal: a server learns everything about a command from its row, and the module refuses a server
 * without a function. Method: a server of a few functions, which keeps its last call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "redis/command/command.h"
#include "redis/command/syntax.h"

/* --- A server --- */

static const char *missing_name;
static char log_text[512];
static char categories[128];
static int arity;
static bool has_conflict;

static void keep_log(struct RedisModuleCtx *ctx, const char *level, const char *format, ...)
{
    va_list arguments;
    (void)ctx;
    (void)level;
    va_start(arguments, format);
    vsnprintf(log_text, sizeof(log_text), format, arguments);
    va_end(arguments);
}

static int create_command(struct RedisModuleCtx *ctx, const char *name, RedisModuleCmdFunc function,
                          const char *flags, int first_key, int last_key, int key_step)
{
    (void)ctx, (void)name, (void)function, (void)flags;
    assert_true(first_key == last_key && last_key == key_step);
    return has_conflict ? REDISMODULE_ERR : REDISMODULE_OK;
}

static struct RedisModuleCommand *get_command(struct RedisModuleCtx *ctx, const char *name)
{
    (void)name;
    return (struct RedisModuleCommand *)(void *)ctx;
}

static int set_info(struct RedisModuleCommand *command, const struct RedisModuleCommandInfo *info)
{
    (void)command;
    arity = info->arity;
    return REDISMODULE_OK;
}

static int set_categories(struct RedisModuleCommand *command, const char *text)
{
    (void)command;
    snprintf(categories, sizeof(categories), "%s", text);
    return REDISMODULE_OK;
}

static int nothing(void)
{
    return 0;
}

static void set_pointer(void *target, void (*function)(void))
{
    memcpy(target, &function, sizeof(function));
}

static int find_function(const char *name, void *target)
{
    if (missing_name != NULL && strcmp(name, missing_name) == 0)
        return REDISMODULE_ERR;
    if (strcmp(name, "RedisModule_Log") == 0)
        set_pointer(target, (void (*)(void))keep_log);
    else if (strcmp(name, "RedisModule_CreateCommand") == 0)
        set_pointer(target, (void (*)(void))create_command);
    else if (strcmp(name, "RedisModule_GetCommand") == 0)
        set_pointer(target, (void (*)(void))get_command);
    else if (strcmp(name, "RedisModule_SetCommandInfo") == 0)
        set_pointer(target, (void (*)(void))set_info);
    else if (strcmp(name, "RedisModule_SetCommandACLCategories") == 0)
        set_pointer(target, (void (*)(void))set_categories);
    else
        set_pointer(target, (void (*)(void))nothing);
    return REDISMODULE_OK;
}

/* A context begins with the look-up function. */
static int (*server[4])(const char *name, void *target) = {find_function};

static bool resolve(const char *missing)
{
    missing_name = missing;
    log_text[0] = '\0';
    RedisModule_SetCommandACLCategories = NULL;
    return bb_redis_module_resolve((struct RedisModuleCtx *)(void *)server);
}

/* --- Tests --- */

static void server__without_a_function_is_named(void **state)
{
    (void)state;
    assert_true(resolve(NULL));
    assert_false(resolve("RedisModule_EmitAOF"));
    assert_non_null(strstr(log_text, "this server has no RedisModule_EmitAOF"));
    RedisModule_Log = NULL;
    assert_false(resolve("RedisModule_Log"));
}

static bool add_row(const char *flags, const char *syntax)
{
    const struct bb_redis_command rows[] = {
        {.name = "A.B", .flags = flags, .key_flags = BB_REDIS_KEY_READ, .syntax = syntax},
        {.name = NULL},
    };
    return bb_redis_commands_register((struct RedisModuleCtx *)(void *)server, rows);
}

static void commands__have_categories_of_their_flags(void **state)
{
    (void)state;
    assert_true(resolve(NULL));
    assert_true(add_row("readonly fast", "key item"));
    assert_string_equal(categories, "read fast");
    assert_int_equal(arity, 3);
    assert_true(add_row("write deny-oom", "key item..."));
    assert_string_equal(categories, "write slow");
    assert_int_equal(arity, -3);
    assert_true(add_row("write admin", "key"));
    assert_string_equal(categories, "write slow admin dangerous");
}

static void commands__of_redis_7_0_have_no_categories(void **state)
{
    (void)state;
    assert_true(resolve("RedisModule_SetCommandACLCategories"));
    categories[0] = '\0';
    assert_true(add_row("readonly", "key"));
    assert_string_equal(categories, "");
}

static void commands__that_exist_are_named(void **state)
{
    (void)state;
    assert_true(resolve(NULL));
    has_conflict = true;
    assert_false(add_row("readonly", "key"));
    has_conflict = false;
    assert_non_null(strstr(log_text, "the command A.B: another module has it"));
}

static void syntax__of_every_form(void **state)
{
    (void)state;
    struct bb_redis_syntax syntax;
    const struct RedisModuleCommandArg *arguments = bb_redis_syntax_parse(
        &syntax, "key (field value:double)... [LIMIT n:integer] [A | B] [EACH] TOKEN word");
    assert_non_null(arguments);
    assert_int_equal(bb_redis_syntax_arity(&syntax), -6);
    assert_int_equal(arguments[0].type, REDISMODULE_ARG_TYPE_KEY);
    assert_int_equal(arguments[1].type, REDISMODULE_ARG_TYPE_BLOCK);
    assert_int_equal(arguments[1].flags, REDISMODULE_CMD_ARG_MULTIPLE);
    assert_string_equal(arguments[1].subargs[0].name, "field");
    assert_int_equal(arguments[1].subargs[1].type, REDISMODULE_ARG_TYPE_DOUBLE);
    assert_null(arguments[1].subargs[2].name);
    assert_string_equal(arguments[2].token, "LIMIT");
    assert_string_equal(arguments[2].name, "n");
    assert_int_equal(arguments[2].flags, REDISMODULE_CMD_ARG_OPTIONAL);
    assert_int_equal(arguments[3].type, REDISMODULE_ARG_TYPE_ONEOF);
    assert_string_equal(arguments[3].subargs[1].token, "B");
    assert_int_equal(arguments[4].type, REDISMODULE_ARG_TYPE_PURE_TOKEN);
    assert_string_equal(arguments[4].name, "each");
    assert_string_equal(arguments[5].token, "TOKEN");
    assert_int_equal(arguments[5].flags, 0);
    assert_null(arguments[6].name);
}

static void syntax__with_mistakes_is_refused(void **state)
{
    (void)state;
    struct bb_redis_syntax syntax;
    const char *lines[] = {"key [a", "key )", "key a:nothing",
                           "key []", "?",     "a b c d e f g h i j k l m n o p q"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_null(bb_redis_syntax_parse(&syntax, lines[i]));
    assert_true(resolve(NULL));
    assert_false(add_row("readonly", "key ["));
    assert_non_null(strstr(log_text, "the description of A.B"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(server__without_a_function_is_named),
        cmocka_unit_test(commands__have_categories_of_their_flags),
        cmocka_unit_test(commands__of_redis_7_0_have_no_categories),
        cmocka_unit_test(commands__that_exist_are_named),
        cmocka_unit_test(syntax__of_every_form),
        cmocka_unit_test(syntax__with_mistakes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
