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

/* A prefix that keys share. Short ones, the usual case, are compared as numbers: the bytes would
 * cost another cache miss. */
struct bb_prefix {
    uint64_t number;      /* bb_bytes_prefix64 of the bytes */
    const uint8_t *bytes; /* borrowed */
    uint32_t size;        /* 0 also under an order that is not bytewise */
};

static inline struct bb_prefix bb_prefix_of(struct bb_bytes bytes)
{
    return (struct bb_prefix){
        .number = bb_bytes_prefix64(bytes), .bytes = bytes.data, .size = (uint32_t)bytes.size};
}

/* < 0: the prefix sorts before the key; 0: the key begins with it; > 0: it sorts after the key. */
static inline int bb_prefix_compare(const struct bb_prefix *prefix, struct bb_bytes key)
{
    size_t shorter = key.size < prefix->size ? key.size : prefix->size;
    if (shorter == 0)
        return prefix->size > 0;
    int order = 0;
    if (prefix->size > sizeof(uint64_t)) {
        order = memcmp(prefix->bytes, key.data, shorter);
    } else {
        uint64_t number = bb_bytes_prefix64(key) & UINT64_MAX << (64 - 8 * prefix->size);
        if (number != prefix->number)
            order = prefix->number < number ? -1 : 1;
    }
    /* The zeros that pad a short key look like zeros of the prefix. */
    return order != 0 ? order : shorter < prefix->size;
}

#endif
