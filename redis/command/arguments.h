/* The arguments of a call, taken one after the other. */
#ifndef BB_REDIS_COMMAND_ARGUMENTS_H
#define BB_REDIS_COMMAND_ARGUMENTS_H

#include "bb/base.h"
#include "redis/server/redis_module.h"

struct bb_redis_arguments {
    struct RedisModuleString **values;
    int count;
    int at;
};

/* Begins at the argument with this number; the name of the command has 0. */
static inline struct bb_redis_arguments bb_redis_arguments_make(struct RedisModuleString **argv,
                                                                int argc, int at)
{
    struct bb_redis_arguments arguments = {argv, argc, at};
    return arguments;
}

static inline int bb_redis_arguments_left(const struct bb_redis_arguments *arguments)
{
    return arguments->count - arguments->at;
}

/* The bytes of an argument; borrowed from it. */
struct bb_bytes bb_redis_arguments_bytes(const struct RedisModuleString *argument);

/* Takes the next argument if it is this word, in upper or lower case. False: it is another word, or
 * there are no more. */
bool bb_redis_arguments_take_word(struct bb_redis_arguments *arguments, const char *word);

/* Takes the next argument as a number. False: it is no such number, or there are no more. */
bool bb_redis_arguments_take_integer(struct bb_redis_arguments *arguments, long long *ret_value);
bool bb_redis_arguments_take_double(struct bb_redis_arguments *arguments, double *ret_value);

#endif
