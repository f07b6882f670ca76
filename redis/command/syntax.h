/* The syntax of a command as a line of text, for COMMAND DOCS.
 *
 *     key error_rate:double capacity:integer [EXPANSION expansion:integer] [NONSCALING] item...
 *
 *     name              a string; the first "key" is the command's key
 *     name:type         integer, double or key
 *     word...           one or more of them
 *     TOKEN word        the word after its token; TOKEN alone is a flag
 *     [ ... ]           optional; with two or more words, a group
 *     [ A | B ]         optional, one of
 *     ( ... )           a group; (field value)... for one or more groups
 *
 * Lines are constants of the program. A mistake in one keeps the module from being loaded. */
#ifndef BB_REDIS_COMMAND_SYNTAX_H
#define BB_REDIS_COMMAND_SYNTAX_H

#include "redis/server/redis_module.h"

#define BB_REDIS_SYNTAX_ARGUMENTS_MAX 64
#define BB_REDIS_SYNTAX_TEXT_MAX      512

/* The arguments of one command: lists, each ended by an element of zeros, that point into each
 * other and into the text. */
struct bb_redis_syntax {
    struct RedisModuleCommandArg arguments[BB_REDIS_SYNTAX_ARGUMENTS_MAX];
    size_t count;
    char text[BB_REDIS_SYNTAX_TEXT_MAX];
    const char *at;
    char *text_end;
    /* Words that every call has, and whether a call may have more. */
    int required;
    bool is_open;
    int key_count;
};

/* Parses the line. Returns the arguments of the top level, which point into *syntax. NULL: the line
 * has a mistake or exceeds the sizes above. */
struct RedisModuleCommandArg *bb_redis_syntax_parse(struct bb_redis_syntax *syntax,
                                                    const char *line);

/* The arity as Redis counts it: the words of a call with its name; negative if it may have more. */
int bb_redis_syntax_arity(const struct bb_redis_syntax *syntax);

#endif
