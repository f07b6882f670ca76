/* The n-th separator, 32 bytes at a time. See separator.h. */
#include "skip/record/separator.h"

#if BB_CPU_X86
#include <immintrin.h>

/* The position of the count-th set bit. REQUIRES: the mask has that many bits. */
BB_CPU_TARGET_AVX2 static unsigned place_of_bit(uint32_t mask, size_t count)
{
    return (unsigned)_tzcnt_u32(_pdep_u32(1u << (count - 1), mask));
}

BB_CPU_TARGET_AVX2 const uint8_t *bb_separator_skip_avx2(const uint8_t *at, const uint8_t *end,
                                                         uint8_t separator, size_t count)
{
    __m256i wanted = _mm256_set1_epi8((char)separator);
    for (; end - at >= 32; at += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)at);
        uint32_t mask = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, wanted));
        size_t found = (size_t)__builtin_popcount(mask);
        if (found >= count)
            return at + place_of_bit(mask, count) + 1;
        count -= found;
    }
    for (; at < end; at++) {
        if (*at == separator && --count == 0)
            return at + 1;
    }
    return NULL;
}
#endif
