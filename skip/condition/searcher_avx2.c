/* Both bytes at 32 places at a time. See searcher.h. */
#include "skip/condition/searcher.h"

#if BB_CPU_X86
#include <immintrin.h>

/* A byte in 32 lanes, and the bit of its case. */
struct lanes {
    __m256i byte;
    __m256i of_case;
};

BB_CPU_TARGET_AVX2 static inline struct lanes lanes_of(uint8_t byte, uint8_t of_case)
{
    return (struct lanes){.byte = _mm256_set1_epi8((char)byte),
                          .of_case = _mm256_set1_epi8((char)of_case)};
}

BB_CPU_TARGET_AVX2 static inline __m256i equal_at(const uint8_t *text, struct lanes lanes)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)text);
    return _mm256_cmpeq_epi8(_mm256_or_si256(bytes, lanes.of_case), lanes.byte);
}

BB_CPU_TARGET_AVX2 bool bb_searcher_step_avx2(const struct bb_searcher *searcher,
                                              const uint8_t *text, size_t from, size_t end,
                                              size_t *ret_at)
{
    const uint8_t *firsts = text + searcher->first;
    const uint8_t *seconds = text + searcher->second;
    const uint8_t *wanted = searcher->wanted.data;
    struct lanes first = lanes_of(wanted[searcher->first], searcher->first_case);
    struct lanes second = lanes_of(wanted[searcher->second], searcher->second_case);
    for (; from + 32 <= end; from += 32) {
        /* A bit for each of the places from here on where both are. */
        uint32_t places = (uint32_t)_mm256_movemask_epi8(
            _mm256_and_si256(equal_at(firsts + from, first), equal_at(seconds + from, second)));
        if (places == 0)
            continue;
        *ret_at = from + (size_t)__builtin_ctz(places);
        return true;
    }
    return bb_searcher_step_portable(searcher, text, from, end, ret_at);
}
#endif
