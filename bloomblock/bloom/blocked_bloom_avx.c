/* Probing lines of blocked Bloom filters with vectors.
 *
 * Each probe of a product has a lane; six of eight lanes are used. A variable shift extracts the
 * position of the probe from the product. The upper bits of the position select a word of the line,
 * the lower bits a bit of the word.
 *
 *     product    | position 0, 9 bits | position 1 | ... | position 5 | 10 bits |
 *     position   word | bit               of 8 words (AVX-512) or 16 (AVX2)
 *
 * As in the portable form, no probe is skipped after one that rules out the key. */
#include "bloomblock/bloom/blocked_bloom.h"

#include "bloomblock/cpu.h"

#if BB_CPU_X86
#include <immintrin.h>

/* The shift that puts position i of a product into the lowest bits. The two unused lanes may have
 * any shift. */
#define END(i) ((i) < BB_LINE_PROBES_PER_PRODUCT ? 64 - BB_LINE_BITS_LOG2 * ((i) + 1) : 0)

/* A mask of the lanes that the next product uses. */
static inline uint32_t lanes_of(uint32_t probes_left)
{
    return probes_left < BB_LINE_PROBES_PER_PRODUCT ? (UINT32_C(1) << probes_left) - 1
                                                    : (1 << BB_LINE_PROBES_PER_PRODUCT) - 1;
}

/* --- AVX2 --- */

/* Eight positions. The bits above each position are not cleared. */
BB_CPU_TARGET_AVX2 static inline __m256i positions_of(uint64_t product)
{
    __m256i all = _mm256_set1_epi64x((long long)product);
    __m256i even = _mm256_srlv_epi64(all, _mm256_setr_epi64x(END(0), END(2), END(4), END(6)));
    __m256i odd = _mm256_srlv_epi64(all, _mm256_setr_epi64x(END(1), END(3), END(5), END(7)));
    return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}

/* Bit i: the bit of the line at position i. */
BB_CPU_TARGET_AVX2 static inline uint32_t bits_at(__m256i low, __m256i high, __m256i positions)
{
    __m256i words = _mm256_srli_epi32(positions, 5);
    __m256 from_low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, words));
    __m256 from_high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, words));
    __m256 half = _mm256_castsi256_ps(_mm256_slli_epi32(positions, 31 - 8));
    __m256i found = _mm256_castps_si256(_mm256_blendv_ps(from_low, from_high, half));
    __m256i to_top = _mm256_andnot_si256(positions, _mm256_set1_epi32(31));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_sllv_epi32(found, to_top)));
}

BB_CPU_TARGET_AVX2 bool bb_blocked_bloom_avx2(const uint8_t *payload, uint32_t line_count,
                                              uint32_t probes, uint64_t hash)
{
    const uint8_t *line = payload + (size_t)bb_blocked_bloom_line(hash, line_count) * BB_LINE_SIZE;
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)line);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(line + 32));
    uint32_t missing = 0;
    for (uint32_t i = 0; i < probes; i += BB_LINE_PROBES_PER_PRODUCT) {
        hash *= BB_LINE_REMIX;
        missing |= lanes_of(probes - i) & ~bits_at(low, high, positions_of(hash));
    }
    return missing == 0;
}

/* --- AVX-512 --- */

/* Lane i: position i without its `lowest` lowest bits. The bits above it are not cleared. */
BB_CPU_TARGET_AVX512 static inline __m512i shifted(uint64_t product, int lowest)
{
    __m512i ends =
        _mm512_setr_epi64(END(0), END(1), END(2), END(3), END(4), END(5), END(6), END(7));
    return _mm512_srlv_epi64(_mm512_set1_epi64((long long)product),
                             _mm512_add_epi64(ends, _mm512_set1_epi64(lowest)));
}

BB_CPU_TARGET_AVX512 bool bb_blocked_bloom_avx512(const uint8_t *payload, uint32_t line_count,
                                                  uint32_t probes, uint64_t hash)
{
    __m512i line = _mm512_loadu_si512(payload + (size_t)bb_blocked_bloom_line(hash, line_count) *
                                                    BB_LINE_SIZE);
    uint32_t missing = 0;
    for (uint32_t i = 0; i < probes; i += BB_LINE_PROBES_PER_PRODUCT) {
        hash *= BB_LINE_REMIX;
        __m512i words = _mm512_permutexvar_epi64(shifted(hash, 6), line);
        __m512i bits = _mm512_rolv_epi64(_mm512_set1_epi64(1), shifted(hash, 0));
        missing |= lanes_of(probes - i) & ~(uint32_t)_mm512_test_epi64_mask(words, bits);
    }
    return missing == 0;
}
#endif
