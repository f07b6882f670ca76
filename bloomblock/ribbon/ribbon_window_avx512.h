/* Windows of byte-grouped ribbons of up to 8 fingerprint bits, in a vector of 64 bytes: the second
 * step of a probe (ribbon_window.h) with AVX-512.
 *
 * The vector is loaded whole, without a mask. The window is its last bytes; the bytes before it are
 * read and ignored: BB_FILTER_LEAD_BYTES at most. Then the bytes of one column are collected, a
 * lane per column, and masked with the coefficients; the parities of all lanes are the sums.
 *
 *     payload    ...... | window: group t, r bytes | group t + 1 | ... |
 *     vector     |<---------------------- 64 bytes ------------------->|
 *     lane j     | byte j of group t | byte j of group t + 1 | ...        8 bytes
 *     result     bit j: parity of (lane j & coefficients)
 *
 * (Two vectors of 32 bytes, which touch no other line than the window's, take 5 to 10 % more in the
 * caches, and no less out of them.)
 *
 * Pure functions; any thread. Compiled for x86 only. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_WINDOW_AVX512_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_WINDOW_AVX512_H

#include "bloomblock/cpu.h"
#include "bloomblock/ribbon/ribbon_window.h"

_Static_assert(BB_FILTER_LEAD_BYTES >= 64 - BB_RIBBON_WINDOW_GROUPS,
               "enough bytes precede a window of 1 fingerprint bit for the vector that is loaded");

#if BB_CPU_X86
#include <immintrin.h>

/* Byte j of group t of the window, in its vector. */
#define BB_RIBBON_WINDOW_AVX512_PLACE(bits, t, j) (64 - (8 - (t)) * (bits) + (j))

/* In memory they are operands of the instructions that use them; otherwise compilers compose them
 * first. */
struct bb_ribbon_window_avx512 {
    /* Of bytes, by fingerprint bits. */
    _Alignas(64) uint8_t orders[BB_RIBBON_WINDOW_FINGERPRINT_BITS_MAX + 1][64];
    uint64_t one;
};
extern const struct bb_ribbon_window_avx512 bb_ribbon_window_avx512
    __attribute__((visibility("hidden")));

/* Their address in a register, which shortens the instructions. */
static inline const struct bb_ribbon_window_avx512 *bb_ribbon_window_avx512_known(void)
{
    const struct bb_ribbon_window_avx512 *known = &bb_ribbon_window_avx512;
    __asm__("" : "+r"(known));
    return known;
}

BB_CPU_TARGET_AVX512 static inline __m512i bb_ribbon_window_avx512_load(const uint8_t *end)
{
    return _mm512_loadu_si512(end - 64);
}

/* Bit j: the sum of column j. */
BB_CPU_TARGET_AVX512 static inline uint32_t
bb_ribbon_window_avx512_sums(const struct bb_ribbon_window_avx512 *known,
                             struct bb_ribbon_window window)
{
    /* The truth table of: the first, and the second or the third. clang wants a constant here. */
    enum { AND_OF_OR = 0xe0 };
    const __m512i one = _mm512_set1_epi64((long long)known->one);
    __m512i lanes = _mm512_permutexvar_epi8(
        _mm512_load_si512(known->orders[window.fingerprint_bits]),
        bb_ribbon_window_avx512_load(window.bytes +
                                     BB_RIBBON_WINDOW_GROUPS * window.fingerprint_bits));
    __m512i coefficients = _mm512_set1_epi64((long long)window.coefficients);
    lanes = _mm512_ternarylogic_epi64(lanes, coefficients, one, AND_OF_OR);
    return _cvtmask8_u32(_mm512_test_epi64_mask(_mm512_popcnt_epi64(lanes), one));
}

BB_CPU_TARGET_AVX512 static inline bool
bb_ribbon_window_avx512_agrees(const struct bb_ribbon_window_avx512 *known,
                               struct bb_ribbon_window window)
{
    uint32_t sums = bb_ribbon_window_avx512_sums(known, window);
    return _bzhi_u32(sums ^ window.fingerprint, (uint32_t)window.fingerprint_bits) == 0;
}
#endif

#endif
