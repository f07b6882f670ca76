/* Makes a bit of each of 64 bytes. See digit_run.h. */
#include "skip/condition/digit_run.h"

#if BB_CPU_X86
#include <immintrin.h>

#define STEP 64

/* Bit i: byte i of 32 is a digit. */
BB_CPU_TARGET_AVX2 static inline uint32_t digits_of(const uint8_t *text)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)text);
    __m256i values = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
    __m256i most = _mm256_min_epu8(values, _mm256_set1_epi8(9));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(values, most));
}

/* Bit i: bits i ... i + size - 1 of digits are all set. */
static inline uint64_t runs_of(uint64_t digits, size_t size)
{
    uint64_t runs = digits;
    size_t length = 1;
    for (; 2 * length <= size; length *= 2)
        runs &= runs >> length;
    return runs & runs >> (size - length);
}

BB_CPU_TARGET_AVX2 bool bb_digit_run_find_avx2(struct bb_bytes text, size_t size, size_t from,
                                               size_t *ret_at)
{
    /* A run that begins in the last size - 1 bytes of a step may continue after it. So the next
     * step begins with these bytes. */
    for (; text.size - from >= STEP; from += STEP - size + 1) {
        uint64_t low = digits_of(text.data + from);
        uint64_t high = digits_of(text.data + from + STEP / 2);
        uint64_t runs = runs_of(low | high << 32, size);
        if (runs != 0) {
            *ret_at = from + (size_t)__builtin_ctzll(runs);
            return true;
        }
    }
    return bb_digit_run_find_portable(text, size, from, ret_at);
}
#endif
