/* From words with a bit for each byte of a token to the edges of tokens: what all forms of the
 * tokenizer share. */
#ifndef BB_SKIP_INDEX_TOKENIZER_EDGES_H
#define BB_SKIP_INDEX_TOKENIZER_EDGES_H

#include "skip/index/tokenizer.h"

#define BB_TOKENIZER_STEP 64

struct bb_edge_list {
    uint32_t *edges;
    size_t count;
    uint64_t last; /* 1: the byte before the next word is of a token */
};

/* mask: of the 64 bytes from at on. */
static inline void bb_edge_list_add(struct bb_edge_list *list, uint32_t at, uint64_t mask)
{
    uint64_t left = mask ^ (mask << 1 | list->last);
    list->last = mask >> 63;
    for (; left != 0; left &= left - 1)
        list->edges[list->count++] = at + (uint32_t)__builtin_ctzll(left);
}

/* The last bytes were padded with separators; a token that fills a whole number of words is still
 * open. */
static inline size_t bb_edge_list_finish(struct bb_edge_list *list, uint32_t size)
{
    if (list->count % 2 != 0)
        list->edges[list->count++] = size;
    return list->count;
}

#if BB_CPU_X86
bb_token_edges bb_token_edges_avx2;
bb_token_edges bb_token_edges_avx512;
#endif

#endif
