/* The tokenizer for AVX-512: 64 bytes are compared at a time. See tokenizer.h. */
#include "skip/index/tokenizer_edges.h"

#if BB_CPU_X86

#include <immintrin.h>

/* A bit for each byte of a token. */
BB_CPU_TARGET_AVX512 static inline uint64_t mask_of(__m512i bytes)
{
    __m512i lower = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    __m512i letter = _mm512_sub_epi8(lower, _mm512_set1_epi8('a'));
    __m512i digit = _mm512_sub_epi8(bytes, _mm512_set1_epi8('0'));
    return _mm512_cmplt_epu8_mask(letter, _mm512_set1_epi8(26)) |
           _mm512_cmplt_epu8_mask(digit, _mm512_set1_epi8(10)) | _mm512_movepi8_mask(bytes);
}

BB_CPU_TARGET_AVX512 size_t bb_token_edges_avx512(const uint8_t *data, size_t size,
                                                  uint32_t *ret_edges)
{
    struct bb_edge_list list = {.edges = ret_edges};
    size_t at = 0;
    for (; size - at >= BB_TOKENIZER_STEP; at += BB_TOKENIZER_STEP)
        bb_edge_list_add(&list, (uint32_t)at, mask_of(_mm512_loadu_si512(data + at)));
    __mmask64 rest = ~(~UINT64_C(0) << (size - at));
    bb_edge_list_add(&list, (uint32_t)at, mask_of(_mm512_maskz_loadu_epi8(rest, data + at)));
    return bb_edge_list_finish(&list, (uint32_t)size);
}

#else
/* A translation unit has a declaration. */
extern int bb_token_edges_avx512_is_not_built;
#endif
