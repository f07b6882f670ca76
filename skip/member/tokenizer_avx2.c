/* The tokenizer for AVX2: 32 bytes are compared at a time. See tokenizer.h. */
#include "skip/member/tokenizer.h"

#if BB_CPU_X86

#include <immintrin.h>
#include <string.h>

/* A bit for each byte of a token. Bytes from 0x80 on are negative: their sign is their bit. */
BB_CPU_TARGET_AVX2 static inline uint32_t half_mask(__m256i bytes)
{
    __m256i lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    __m256i letters = _mm256_and_si256(_mm256_cmpgt_epi8(lower, _mm256_set1_epi8('a' - 1)),
                                       _mm256_cmpgt_epi8(_mm256_set1_epi8('z' + 1), lower));
    __m256i digits = _mm256_and_si256(_mm256_cmpgt_epi8(bytes, _mm256_set1_epi8('0' - 1)),
                                      _mm256_cmpgt_epi8(_mm256_set1_epi8('9' + 1), bytes));
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(bytes, _mm256_or_si256(letters, digits)));
}

BB_CPU_TARGET_AVX2 static inline uint64_t mask_of(const uint8_t *data)
{
    uint64_t low = half_mask(_mm256_loadu_si256((const __m256i *)data));
    uint64_t high = half_mask(_mm256_loadu_si256((const __m256i *)(data + 32)));
    return low | high << 32;
}

BB_CPU_TARGET_AVX2 size_t bb_tokenizer_edges_avx2(const uint8_t *data, size_t size,
                                                  uint32_t *ret_edges)
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

#else
/* A translation unit has a declaration. */
extern int bb_token_edges_avx2_is_not_built;
#endif
