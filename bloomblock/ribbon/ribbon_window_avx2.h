/* Windows of byte-grouped ribbons of 4 to 8 fingerprint bits, two groups in a vector of 16 bytes.
 * Of AVX2 this uses only the three-operand instructions. (Two vectors of 32 bytes need fewer loads,
 * but more instructions: to spread coefficients over them, to fold four groups instead of two, and
 * to clear the upper halves of registers at the end.)
 *
 *     vector     | group t, r bytes | t + 1 | later bytes  |     16 bytes
 *     order      | t ... t          | t + 1 | 128, gives 0 |     of the coefficients' bytes
 *     parities   bit p of byte p; the sums are those of the two groups, added
 *
 * The last vector has 16 - 2r bytes from after the window: BB_FILTER_PAD_BYTES at most.
 *
 * Pure functions; any thread. Compiled for x86 only. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_WINDOW_AVX2_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_WINDOW_AVX2_H

#include "bloomblock/cpu.h"
#include "bloomblock/ribbon/ribbon_window.h"

#define BB_RIBBON_WINDOW_AVX2_FINGERPRINT_BITS_MIN 4

#if BB_CPU_X86
#include <immintrin.h>

/* Constants that are kept in memory, where instructions can use them as operands. Otherwise
 * compilers would compute them into registers. */
struct bb_ribbon_window_avx2 {
    _Alignas(64) uint8_t orders[9][4][16]; /* by fingerprint bits and pair */
    uint8_t nibbles[16];
    uint8_t odd[16]; /* 0xff: the nibble's parity */
};
extern const struct bb_ribbon_window_avx2 bb_ribbon_window_avx2
    __attribute__((visibility("hidden")));

/* Group i of the window, masked, and the next group. */
BB_CPU_TARGET_AVX2 static inline __m128i
bb_ribbon_window_avx2_mask(const uint8_t *bytes, __m128i coefficients, const uint8_t order[16])
{
    __m128i pair = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    __m128i places = _mm_load_si128((const __m128i *)(const void *)order);
    return _mm_and_si128(_mm_shuffle_epi8(coefficients, places), pair);
}

/* Bit p is the parity of byte p: a byte is folded to a nibble, whose parity is looked up. */
BB_CPU_TARGET_AVX2 static inline uint32_t bb_ribbon_window_avx2_parities(__m128i bytes)
{
    const struct bb_ribbon_window_avx2 *known = &bb_ribbon_window_avx2;
    bytes = _mm_xor_si128(bytes, _mm_srli_epi16(bytes, 4));
    bytes = _mm_and_si128(bytes, _mm_load_si128((const __m128i *)(const void *)known->nibbles));
    __m128i odd = _mm_load_si128((const __m128i *)(const void *)known->odd);
    return (uint32_t)_mm_movemask_epi8(_mm_shuffle_epi8(odd, bytes));
}

/* The second step of a probe (ribbon_window.h). */
BB_CPU_TARGET_AVX2 static inline bool bb_ribbon_window_avx2_agrees(struct bb_ribbon_window window)
{
    __m128i words = _mm_cvtsi64_si128((long long)(window.coefficients | 1));
    const uint8_t(*orders)[16] = bb_ribbon_window_avx2.orders[window.fingerprint_bits];
    const uint8_t *bytes = window.bytes, *later = bytes + 4 * window.fingerprint_bits;
    __m128i sum = _mm_xor_si128(
        bb_ribbon_window_avx2_mask(bytes, words, orders[0]),
        bb_ribbon_window_avx2_mask(bytes + 2 * window.fingerprint_bits, words, orders[1]));
    sum = _mm_xor_si128(sum, bb_ribbon_window_avx2_mask(later, words, orders[2]));
    sum = _mm_xor_si128(
        sum, bb_ribbon_window_avx2_mask(later + 2 * window.fingerprint_bits, words, orders[3]));
    uint64_t sums = bb_ribbon_window_avx2_parities(sum);
    return _bzhi_u64(sums ^ sums >> window.fingerprint_bits ^ window.fingerprint,
                     (uint32_t)window.fingerprint_bits) == 0;
}
#endif

#endif
