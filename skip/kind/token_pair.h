/* One word with a token, a granule that holds it, and the number of its records that hold it:
 *
 *     63          42 41      32 31          0
 *    |  token, 22   | granule  |  records    |
 *
 * Tokens are numbered in order of arrival, granules from the segment's first. These words are only
 * in memory, never in files.
 */
#ifndef BB_SKIP_KIND_TOKEN_PAIR_H
#define BB_SKIP_KIND_TOKEN_PAIR_H

#include <stdint.h>

#define BB_TOKEN_PAIR_TOKENS_MAX (UINT32_C(1) << 22)

static inline uint64_t bb_token_pair(uint32_t token, uint32_t granule, uint32_t records)
{
    return (uint64_t)token << 42 | (uint64_t)granule << 32 | records;
}

static inline uint32_t bb_token_pair_token(uint64_t pair)
{
    return (uint32_t)(pair >> 42);
}

static inline uint16_t bb_token_pair_granule(uint64_t pair)
{
    return (uint16_t)(pair >> 32 & 1023);
}

static inline uint32_t bb_token_pair_records(uint64_t pair)
{
    return (uint32_t)pair;
}

#endif
