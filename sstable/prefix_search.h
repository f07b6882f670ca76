/* Search over the first eight bytes of keys, taken as 64-bit numbers (bb_bytes_prefix64). */
#ifndef BB_SSTABLE_PREFIX_SEARCH_H
#define BB_SSTABLE_PREFIX_SEARCH_H

#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

/* The number of elements below `number`. The number of steps depends only on count, and each step
 * is a conditional move: the outcome of each comparison is close to random, so a branch would be
 * mispredicted half of the time. */
static inline uint32_t bb_prefix_search(const uint64_t *numbers, uint32_t count, uint64_t number)
{
    const uint64_t *base = numbers;
    uint32_t left = count;
    if (left == 0)
        return 0;
    while (left > 1) {
        uint32_t half = left / 2;
        const uint64_t *upper = base + half;
        base = __builtin_expect_with_probability(upper[-1] < number, 1, 0.5) ? upper : base;
        left -= half;
    }
    return (uint32_t)(base - numbers) + (*base < number);
}

/* The number of elements equal to `number`. REQUIRES: no element is below it. */
static inline uint32_t bb_prefix_ties(const uint64_t *numbers, uint32_t count, uint64_t number)
{
    return number == UINT64_MAX ? count : bb_prefix_search(numbers, count, number + 1);
}

/* Compares a prefix of up to eight bytes, given as a number, with a key: < 0 when the prefix sorts
 * before the key, 0 when the key begins with it, > 0 when it sorts after the key. */
static inline int bb_prefix_compare(uint64_t prefix, uint32_t prefix_size, struct bb_bytes key)
{
    if (prefix_size == 0)
        return 0;
    uint64_t number = bb_bytes_prefix64(key) & UINT64_MAX << (64 - 8 * prefix_size);
    if (number != prefix)
        return prefix < number ? -1 : 1;
    /* The zeros that pad a short key look like zeros of the prefix. */
    return key.size < prefix_size;
}

/* The same for a prefix of any size, given as bytes. */
static inline int bb_prefix_compare_bytes(struct bb_bytes prefix, struct bb_bytes key)
{
    size_t shorter = key.size < prefix.size ? key.size : prefix.size;
    int order = shorter == 0 ? 0 : memcmp(prefix.data, key.data, shorter);
    return order != 0 ? order : shorter < prefix.size;
}

#endif
