/* The portable form, and which form a processor has. See tokenizer.h. */
#include "skip/member/tokenizer.h"

#include <string.h>

static uint64_t mask_of(const uint8_t *data)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < BB_TOKENIZER_STEP; i++)
        mask |= (uint64_t)bb_token_has(data[i]) << i;
    return mask;
}

static size_t edges_portable(const uint8_t *data, size_t size, uint32_t *ret_edges)
{
    struct bb_edge_list list = {.edges = ret_edges};
    size_t at = 0;
    for (; size - at >= BB_TOKENIZER_STEP; at += BB_TOKENIZER_STEP)
        bb_edge_list_add(&list, (uint32_t)at, mask_of(data + at));
    uint8_t rest[BB_TOKENIZER_STEP] = {0};
    if (size > at)
        memcpy(rest, data + at, size - at);
    bb_edge_list_add(&list, (uint32_t)at, mask_of(rest));
    return bb_edge_list_finish(&list, (uint32_t)size);
}

bb_token_edges *bb_tokenizer_edges_of(enum bb_cpu cpu)
{
    (void)cpu;
#if BB_CPU_X86
    if (cpu == BB_CPU_AVX512)
        return bb_tokenizer_edges_avx512;
    if (cpu == BB_CPU_AVX2)
        return bb_tokenizer_edges_avx2;
#endif
    return edges_portable;
}
