/* The finder with vectors of 32 bytes. See json_finder.h. */
#include "skip/record/json_finder.h"

#if BB_CPU_X86
#include <immintrin.h>

BB_CPU_TARGET_AVX2 static inline __m256i load(const uint8_t *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

BB_CPU_TARGET_AVX2 static inline __m256i equals(__m256i bytes, char byte)
{
    return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte));
}

BB_CPU_TARGET_AVX2 static inline const uint8_t *find_string_stop(const uint8_t *at,
                                                                 const uint8_t *end)
{
    for (; end - at >= 32; at += 32) {
        __m256i bytes = load(at);
        __m256i stops = _mm256_or_si256(equals(bytes, '"'), equals(bytes, '\\'));
        uint32_t mask = (uint32_t)_mm256_movemask_epi8(stops);
        if (mask != 0)
            return at + __builtin_ctz(mask);
    }
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

BB_CPU_TARGET_AVX2 static inline const uint8_t *find_structure(const uint8_t *at,
                                                               const uint8_t *end)
{
    for (; end - at >= 32; at += 32) {
        __m256i bytes = load(at);
        /* '[' and '{' differ only in this bit, and so do ']' and '}'. */
        __m256i folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
        __m256i brackets = _mm256_or_si256(equals(folded, '{'), equals(folded, '}'));
        uint32_t mask =
            (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(brackets, equals(bytes, '"')));
        if (mask != 0)
            return at + __builtin_ctz(mask);
    }
    while (at < end && *at != '"' && (*at | 0x20) != '{' && (*at | 0x20) != '}')
        at++;
    return at;
}

#define FORM_TARGET BB_CPU_TARGET_AVX2
#define FORM_FIND   bb_json_find_avx2
#include "skip/record/json_finder_form.h"
#endif
