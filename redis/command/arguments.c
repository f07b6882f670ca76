/* See arguments.h. */
#include "redis/command/arguments.h"

#include <string.h>
#include <strings.h>

struct bb_bytes bb_redis_arguments_bytes(const struct RedisModuleString *argument)
{
    size_t size = 0;
    const char *data = RedisModule_StringPtrLen(argument, &size);
    return (struct bb_bytes){(const uint8_t *)data, size};
}

bool bb_redis_arguments_take_word(struct bb_redis_arguments *arguments, const char *word)
{
    if (bb_redis_arguments_left(arguments) == 0)
        return false;
    struct bb_bytes next = bb_redis_arguments_bytes(arguments->values[arguments->at]);
    if (next.size != strlen(word) || strncasecmp((const char *)next.data, word, next.size) != 0)
        return false;
    arguments->at++;
    return true;
}

bool bb_redis_arguments_take_integer(struct bb_redis_arguments *arguments, long long *ret_value)
{
    if (bb_redis_arguments_left(arguments) == 0 ||
        RedisModule_StringToLongLong(arguments->values[arguments->at], ret_value) != REDISMODULE_OK)
        return false;
    arguments->at++;
    return true;
}

bool bb_redis_arguments_take_double(struct bb_redis_arguments *arguments, double *ret_value)
{
    if (bb_redis_arguments_left(arguments) == 0 ||
        RedisModule_StringToDouble(arguments->values[arguments->at], ret_value) != REDISMODULE_OK)
        return false;
    arguments->at++;
    return true;
}
