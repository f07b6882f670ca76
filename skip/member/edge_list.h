/* Computes the edges of tokens from 64-bit words, which have a bit for each byte of a token. All
 * forms of the tokenizer share this part. */
#ifndef BB_SKIP_MEMBER_EDGE_LIST_H
#define BB_SKIP_MEMBER_EDGE_LIST_H

#include <assert.h>

#include "bb/base.h"

/* Edges are written in groups of this size, even if there are fewer. */
#define BB_EDGE_LIST_SLACK 32
#define BB_EDGE_STEP       8

static_assert(BB_EDGE_STEP <= BB_EDGE_LIST_SLACK, "the list has slack for a whole step");

struct bb_edge_list {
    uint32_t *edges;
    size_t count;
    uint64_t last; /* 1: the byte before the next word is of a token */
};

/* The position of the lowest set bit of a word; any number for 0. */
static inline uint32_t bb_edge_lowest(uint64_t word)
{
    return (uint32_t)__builtin_ctzll(word | UINT64_C(1) << 63);
}

/* mask: of the 64 bytes from at on. */
static inline void bb_edge_list_add(struct bb_edge_list *list, uint32_t at, uint64_t mask)
{
    uint64_t left = mask ^ (mask << 1 | list->last);
    list->last = mask >> 63;
    uint32_t count = (uint32_t)__builtin_popcountll(left);
    uint32_t *edges = list->edges + list->count;
    list->count += count;
    /* In steps of eight: a loop that ends with the last edge is mispredicted for every word. */
    for (uint32_t i = 0; i < count; i += BB_EDGE_STEP) {
        for (uint32_t j = 0; j < BB_EDGE_STEP; j++, left &= left - 1)
            edges[i + j] = at + bb_edge_lowest(left);
    }
}

/* The last bytes were padded with separators; a token that fills a whole number of words is still
 * open. */
static inline size_t bb_edge_list_finish(struct bb_edge_list *list, uint32_t size)
{
    if (list->count % 2 != 0)
        list->edges[list->count++] = size;
    return list->count;
}

#endif
