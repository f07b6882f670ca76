/* The tokenizer for AVX-512: 64 bytes are compared at a time. See tokenizer.h. */
#include "skip/member/tokenizer.h"

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

/* As bb_edge_list_add: the numbers of the set bits are picked out of 0 ... 63, and widened 16 at a
 * time. */
BB_CPU_TARGET_AVX512 static inline void add_edges(struct bb_edge_list *list, uint32_t at,
                                                  uint64_t mask, __m512i numbers)
{
    uint64_t left = mask ^ (mask << 1 | list->last);
    uint32_t count = (uint32_t)_mm_popcnt_u64(left);
    uint32_t *edges = list->edges + list->count;
    __m512i base = _mm512_set1_epi32((int)at);
    __m512i found = _mm512_maskz_compress_epi8(left, numbers);
    list->last = mask >> 63;
    list->count += count;
    for (uint32_t i = 0; i < count; i += 16) {
        __m512i wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found));
        _mm512_storeu_si512(edges + i, _mm512_add_epi32(wide, base));
        found = _mm512_shuffle_i64x2(found, found, 0x39); /* the next 128 bits */
    }
}

static const uint8_t NUMBERS[BB_TOKENIZER_STEP] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

BB_CPU_TARGET_AVX512 size_t bb_tokenizer_edges_avx512(const uint8_t *data, size_t size,
                                                      uint32_t *ret_edges)
{
    struct bb_edge_list list = {.edges = ret_edges};
    __m512i numbers = _mm512_loadu_si512(NUMBERS);
    size_t at = 0;
    for (; size - at >= BB_TOKENIZER_STEP; at += BB_TOKENIZER_STEP)
        add_edges(&list, (uint32_t)at, mask_of(_mm512_loadu_si512(data + at)), numbers);
    __mmask64 rest = ~(~UINT64_C(0) << (size - at));
    add_edges(&list, (uint32_t)at, mask_of(_mm512_maskz_loadu_epi8(rest, data + at)), numbers);
    return bb_edge_list_finish(&list, (uint32_t)size);
}

#else
/* A translation unit has a declaration. */
extern int bb_token_edges_avx512_is_not_built;
#endif
