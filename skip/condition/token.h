/* Tokens: maximal runs of ASCII letters, digits and bytes from 0x80 on. All else separates them, so
 * letters outside ASCII are parts of tokens in every encoding. */
#ifndef BB_SKIP_CONDITION_TOKEN_H
#define BB_SKIP_CONDITION_TOKEN_H

#include "bb/base.h"

static inline bool bb_token_has(uint8_t byte)
{
    return (uint8_t)((byte | 0x20) - 'a') < 26 || (uint8_t)(byte - '0') < 10 || byte >= 0x80;
}

/* The first token at or after *offset, which becomes the offset after it. False when there is no
 * token. */
bool bb_token_next(struct bb_bytes text, size_t *offset, struct bb_bytes *ret_token);

/* Whether the text is exactly one token. */
bool bb_token_is_one(struct bb_bytes text);

/* Whether one of the text's tokens is this one. */
bool bb_token_find(struct bb_bytes text, struct bb_bytes token);

#endif
