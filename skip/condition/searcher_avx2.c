/* Both bytes at 32 places at a time. See searcher.h. */
#include "skip/condition/searcher.h"

#if BB_CPU_X86
#include <immintrin.h>

/* A bit for each of the places from here on where both are. */
BB_CPU_TARGET_AVX2 static inline uint32_t places_of(const uint8_t *firsts, const uint8_t *seconds,
                                                    __m256i first, __m256i second)
{
    __m256i a = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)firsts), first);
    __m256i b = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)seconds), second);
    return (uint32_t)_mm256_movemask_epi8(_mm256_and_si256(a, b));
}

BB_CPU_TARGET_AVX2 bool bb_searcher_step_avx2(const struct bb_searcher *searcher,
                                              const uint8_t *text, size_t from, size_t end,
                                              size_t *ret_at)
{
    const uint8_t *firsts = text + searcher->first;
    const uint8_t *seconds = text + searcher->second;
    __m256i first = _mm256_set1_epi8((char)searcher->wanted.data[searcher->first]);
    __m256i second = _mm256_set1_epi8((char)searcher->wanted.data[searcher->second]);
    for (; from + 32 <= end; from += 32) {
        uint32_t places = places_of(firsts + from, seconds + from, first, second);
        if (places == 0)
            continue;
        *ret_at = from + (size_t)__builtin_ctz(places);
        return true;
    }
    return bb_searcher_step_portable(searcher, text, from, end, ret_at);
}
#endif
