/* See redirection.h. */
#include "tools/cluster/redirection.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "tools/cluster/key_slot.h"

/* The first word of errors that go away. READONLY: a master that became a replica. TRYAGAIN: the
 * keys of a command are on two nodes while a slot moves. MASTERDOWN, CLUSTERDOWN: before a
 * fail-over. BUSY: a script runs. */
static const char *const passing[] = {"TRYAGAIN",   "CLUSTERDOWN", "LOADING",
                                      "MASTERDOWN", "READONLY",    "BUSY"};

static bool take_word(struct bb_bytes *text, struct bb_bytes *ret_word)
{
    size_t size = 0;
    while (size < text->size && text->data[size] != ' ')
        size++;
    *ret_word = bb_bytes_of(text->data, size);
    size_t skipped = size < text->size ? size + 1 : size;
    *text = bb_bytes_of(text->data + skipped, text->size - skipped);
    return size > 0;
}

static bool is_word(struct bb_bytes word, const char *text)
{
    return bb_bytes_equal(word, bb_bytes_of_text(text));
}

static bool decode_slot(struct bb_bytes word, uint16_t *ret_slot)
{
    uint32_t slot = 0;
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] < '0' || word.data[i] > '9' || slot >= SLOT_COUNT)
            return false;
        slot = slot * 10 + (uint32_t)(word.data[i] - '0');
    }
    *ret_slot = (uint16_t)slot;
    return word.size > 0 && slot < SLOT_COUNT;
}

/* text: "3999 127.0.0.1:6381" */
static struct redirection decode_target(enum redirection_kind kind, struct bb_bytes text,
                                        const struct address *asked)
{
    struct redirection redirection = {.kind = kind};
    struct bb_bytes slot = {0};
    struct bb_bytes address = {0};
    if (!take_word(&text, &slot) || !take_word(&text, &address) ||
        !decode_slot(slot, &redirection.slot) ||
        !address_decode(address, asked->host, &redirection.address))
        redirection.kind = REDIRECTION_ERROR;
    return redirection;
}

static bool is_passing(struct bb_bytes word)
{
    for (size_t i = 0; i < BB_ARRAY_LENGTH(passing); i++)
        if (is_word(word, passing[i]))
            return true;
    return false;
}

struct redirection redirection_of(const struct redisReply *reply, const struct address *asked)
{
    struct bb_bytes word = {0};
    if (reply->type != REDIS_REPLY_ERROR)
        return (struct redirection){.kind = REDIRECTION_NONE};
    struct bb_bytes text = bb_bytes_of(reply->str, reply->len);
    if (!take_word(&text, &word))
        return (struct redirection){.kind = REDIRECTION_ERROR};
    if (is_word(word, "MOVED"))
        return decode_target(REDIRECTION_MOVED, text, asked);
    if (is_word(word, "ASK"))
        return decode_target(REDIRECTION_ASK, text, asked);
    return (struct redirection){.kind = is_passing(word) ? REDIRECTION_LATER : REDIRECTION_ERROR};
}
