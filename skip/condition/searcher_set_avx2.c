/* The strings of 32 places at a time. See searcher_set.h. */
#include "skip/condition/searcher_set.h"

#if BB_CPU_X86
#include <immintrin.h>

BB_CPU_TARGET_AVX2 static inline __m256i table_of(const uint8_t table[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table));
}

/* For each of 32 bytes the strings that can have it at a place. */
BB_CPU_TARGET_AVX2 static inline __m256i strings_of(const uint8_t *text, __m256i low, __m256i high)
{
    const __m256i half = _mm256_set1_epi8(15);
    __m256i bytes = _mm256_loadu_si256((const __m256i *)text);
    __m256i by_low = _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half));
    __m256i by_high =
        _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
    return _mm256_and_si256(by_low, by_high);
}

BB_CPU_TARGET_AVX2 size_t bb_searcher_set_step_avx2(const struct bb_searcher_set *set,
                                                    const uint8_t *text, size_t from, size_t end,
                                                    uint8_t *ret_strings)
{
    __m256i low[BB_SEARCHER_SET_PLACES];
    __m256i high[BB_SEARCHER_SET_PLACES];
    for (size_t place = 0; place < BB_SEARCHER_SET_PLACES; place++) {
        low[place] = table_of(set->low[place]);
        high[place] = table_of(set->high[place]);
    }
    for (; from < end; from += 32) {
        __m256i strings = strings_of(text + from, low[0], high[0]);
        for (size_t place = 1; place < BB_SEARCHER_SET_PLACES; place++)
            strings =
                _mm256_and_si256(strings, strings_of(text + from + place, low[place], high[place]));
        uint32_t none =
            (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(strings, _mm256_setzero_si256()));
        if (none == UINT32_MAX)
            continue;
        uint8_t lanes[32];
        size_t lane = (size_t)__builtin_ctz(~none);
        _mm256_storeu_si256((__m256i *)lanes, strings);
        *ret_strings = lanes[lane];
        return from + lane < end ? from + lane : end;
    }
    return end;
}
#endif
