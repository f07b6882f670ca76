/* See reply.h. */
#include "tools/cluster/reply.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

struct reply_text reply_text(const struct redisReply *reply)
{
    struct reply_text text = {""};
    size_t size = reply->str == NULL ? 0 : reply->len;
    if (size >= sizeof(text.text))
        size = sizeof(text.text) - 1;
    if (size > 0)
        memcpy(text.text, reply->str, size);
    return text;
}

static const char *type_name(int type)
{
    switch (type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
        return "a string";
    case REDIS_REPLY_ARRAY:
        return "an array";
    case REDIS_REPLY_INTEGER:
        return "an integer";
    case REDIS_REPLY_NIL:
        return "nil";
    case REDIS_REPLY_ERROR:
        return "an error";
    default:
        return "another type";
    }
}

enum bb_status reply_fail(const struct redisReply *reply, const char *command, const char *expected)
{
    char size[48] = "";
    if (reply->type == REDIS_REPLY_ARRAY)
        snprintf(size, sizeof(size), " of %zu", reply->elements);
    return bb_fail(BB_IO, "reply to %s: %s%s, expected %s", command, type_name(reply->type), size,
                   expected);
}
