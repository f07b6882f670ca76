/* Windows of byte-grouped ribbons of 8 to 16 fingerprint bits, two groups in a vector of 32 bytes.
 *
 *     vector     | earlier bytes | group t, r bytes | group t + 1 |     32 bytes
 *     order      | 128, gives 0  | t ... t          | t + 1 ...   |     of the coefficients' bytes
 *     parities   the last 2r bits: r of group t, r of group t + 1; the sums are both, added
 *
 * Each vector ends with its pair of groups, so that no byte after the window is read. The first one
 * has 32 - 2r bytes from before the window: at most 16, of BB_FILTER_LEAD_BYTES.
 *
 * Pure functions; any thread. Compiled for x86 only. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_WIDE_AVX2_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_WIDE_AVX2_H

#include "bloomblock/cpu.h"
#include "bloomblock/ribbon/ribbon_window.h"

#define BB_RIBBON_WIDE_AVX2_FINGERPRINT_BITS_MIN 8
#define BB_RIBBON_WIDE_AVX2_FINGERPRINT_BITS_MAX 16

#if BB_CPU_X86
#include <immintrin.h>

/* Constants in memory, where instructions can use them as operands: by fingerprint bits above the
 * minimum, and by pair. */
struct bb_ribbon_wide_avx2 {
    _Alignas(64) uint8_t orders[BB_RIBBON_WIDE_AVX2_FINGERPRINT_BITS_MAX -
                                BB_RIBBON_WIDE_AVX2_FINGERPRINT_BITS_MIN + 1][4][32];
    uint8_t nibbles[32];
    uint8_t odd[32]; /* 0xff: the nibble's parity */
};
extern const struct bb_ribbon_wide_avx2 bb_ribbon_wide_avx2 __attribute__((visibility("hidden")));

/* The pair of groups before `end`, masked. */
BB_CPU_TARGET_AVX2 static inline __m256i
bb_ribbon_wide_avx2_mask(const uint8_t *end, __m256i coefficients, const uint8_t order[32])
{
    __m256i pair = _mm256_loadu_si256((const __m256i *)(const void *)(end - 32));
    __m256i places = _mm256_load_si256((const __m256i *)(const void *)order);
    return _mm256_and_si256(_mm256_shuffle_epi8(coefficients, places), pair);
}

/* Bit p is the parity of byte p: a byte is folded to a nibble, whose parity is looked up. */
BB_CPU_TARGET_AVX2 static inline uint32_t bb_ribbon_wide_avx2_parities(__m256i bytes)
{
    const struct bb_ribbon_wide_avx2 *known = &bb_ribbon_wide_avx2;
    bytes = _mm256_xor_si256(bytes, _mm256_srli_epi16(bytes, 4));
    bytes =
        _mm256_and_si256(bytes, _mm256_load_si256((const __m256i *)(const void *)known->nibbles));
    __m256i odd = _mm256_load_si256((const __m256i *)(const void *)known->odd);
    return (uint32_t)_mm256_movemask_epi8(_mm256_shuffle_epi8(odd, bytes));
}

/* The second step of a probe (ribbon_window.h). */
BB_CPU_TARGET_AVX2 static inline bool bb_ribbon_wide_avx2_agrees(struct bb_ribbon_window window)
{
    uint64_t bits = window.fingerprint_bits;
    const uint8_t(*orders)[32] =
        bb_ribbon_wide_avx2.orders[bits - BB_RIBBON_WIDE_AVX2_FINGERPRINT_BITS_MIN];
    __m256i words = _mm256_set1_epi64x((long long)(window.coefficients | 1));
    const uint8_t *end = window.bytes + 2 * bits, *later = end + 4 * bits;
    __m256i sum = _mm256_xor_si256(bb_ribbon_wide_avx2_mask(end, words, orders[0]),
                                   bb_ribbon_wide_avx2_mask(end + 2 * bits, words, orders[1]));
    sum = _mm256_xor_si256(sum, bb_ribbon_wide_avx2_mask(later, words, orders[2]));
    sum = _mm256_xor_si256(sum, bb_ribbon_wide_avx2_mask(later + 2 * bits, words, orders[3]));
    uint32_t sums = bb_ribbon_wide_avx2_parities(sum) >> (32 - 2 * bits);
    return _bzhi_u32(sums ^ sums >> bits ^ window.fingerprint, (uint32_t)bits) == 0;
}
#endif

#endif
