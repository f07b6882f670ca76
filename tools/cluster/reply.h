/* Replies of nodes, which are not trusted: the checks of their types, and their texts. */
#ifndef BB_TOOLS_CLUSTER_REPLY_H
#define BB_TOOLS_CLUSTER_REPLY_H

#include <hiredis/hiredis.h>

#include "bb/base.h"

/* An error's text or another short text, cut; by value. */
struct reply_text {
    char text[256];
};
struct reply_text reply_text(const struct redisReply *reply);

static inline bool reply_is_array(const struct redisReply *reply, size_t count_min)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements >= count_min;
}

static inline bool reply_is_integer(const struct redisReply *reply)
{
    return reply->type == REDIS_REPLY_INTEGER;
}

/* A bulk string or a simple one. */
static inline bool reply_is_bytes(const struct redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS;
}

static inline bool reply_is_nil(const struct redisReply *reply)
{
    return reply->type == REDIS_REPLY_NIL;
}

/* REQUIRES: reply_is_bytes. Borrowed from the reply. */
static inline struct bb_bytes reply_bytes(const struct redisReply *reply)
{
    return (struct bb_bytes){.data = (const uint8_t *)reply->str, .size = reply->len};
}

/* BB_IO: the reply to the command is not of the expected form, such as "an array of 3". */
BB_MUST_CHECK enum bb_status reply_fail(const struct redisReply *reply, const char *command,
                                        const char *expected);

#endif
