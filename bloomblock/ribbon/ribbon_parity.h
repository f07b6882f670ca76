/* Sums of columns modulo 2, for the portable probes of both layouts. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PARITY_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PARITY_H

#include "base/coding.h"
#include "bloomblock/ribbon/ribbon.h"
#include "bloomblock/ribbon/ribbon_spread.h"

/* Bit j: the parity of byte j. The multiplication collects the eight bits without carries. */
static inline uint32_t bb_ribbon_parity_bytes(uint64_t word)
{
    return (uint32_t)(bb_ribbon_spread_parities(word) * UINT64_C(0x0102040810204080) >> 56);
}

/* The sums of eight columns of a byte-grouped window, the first in byte 0: byte by byte, as
 * described in ribbon.h. */
static inline uint32_t bb_ribbon_parity_sums_simply(const uint8_t *bytes, uint64_t fingerprint_bits,
                                                    uint64_t coefficients)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < BB_RIBBON_WINDOW_GROUPS; t++) {
        uint64_t mask = ((coefficients >> (8 * t)) & 0xff) * BB_EVERY_BYTE;
        sum ^= mask & bb_load64(bytes + t * fingerprint_bits);
    }
    return bb_ribbon_parity_bytes(sum);
}

/* The same with two groups at a time, in vectors of 16 bytes, which all x86-64 and 64-bit ARM
 * processors have. These are the compiler's vectors; only the parities have a form for SSE2. */
#if defined(__has_builtin) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#if __has_builtin(__builtin_shufflevector)
#define BB_RIBBON_HAS_PAIRS 1
#endif
#endif

#ifdef BB_RIBBON_HAS_PAIRS
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef uint8_t bb_ribbon_pair_bytes __attribute__((vector_size(16)));
typedef uint64_t bb_ribbon_pair __attribute__((vector_size(16)));

/* The vectors of ret_masks have eight words. Word k is byte k of the coefficients, repeated eight
 * times. Each step doubles the runs of equal bytes, with one instruction that interleaves bytes,
 * pairs of bytes or words with themselves. */
static inline void bb_ribbon_parity_masks(uint64_t coefficients, bb_ribbon_pair ret_masks[4])
{
    bb_ribbon_pair_bytes once = (bb_ribbon_pair_bytes)(bb_ribbon_pair){coefficients, 0};
    bb_ribbon_pair_bytes twice =
        __builtin_shufflevector(once, once, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    bb_ribbon_pair_bytes low =
        __builtin_shufflevector(twice, twice, 0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7);
    bb_ribbon_pair_bytes high = __builtin_shufflevector(twice, twice, 8, 9, 8, 9, 10, 11, 10, 11,
                                                        12, 13, 12, 13, 14, 15, 14, 15);
    ret_masks[0] = (bb_ribbon_pair)__builtin_shufflevector(low, low, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5,
                                                           6, 7, 4, 5, 6, 7);
    ret_masks[1] = (bb_ribbon_pair)__builtin_shufflevector(low, low, 8, 9, 10, 11, 8, 9, 10, 11, 12,
                                                           13, 14, 15, 12, 13, 14, 15);
    ret_masks[2] = (bb_ribbon_pair)__builtin_shufflevector(high, high, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5,
                                                           6, 7, 4, 5, 6, 7);
    ret_masks[3] = (bb_ribbon_pair)__builtin_shufflevector(high, high, 8, 9, 10, 11, 8, 9, 10, 11,
                                                           12, 13, 14, 15, 12, 13, 14, 15);
}

/* Bit j: the parity of bytes j of both words. */
#ifdef __SSE2__
static inline uint32_t bb_ribbon_parity_pairs(bb_ribbon_pair words)
{
    __m128i bytes = (__m128i)words;
    /* Folds each byte onto its highest bit. */
    bytes = _mm_xor_si128(bytes, _mm_slli_epi16(bytes, 4));
    bytes = _mm_xor_si128(bytes, _mm_slli_epi16(bytes, 2));
    bytes = _mm_xor_si128(bytes, _mm_slli_epi16(bytes, 1));
    uint32_t parities = (uint32_t)_mm_movemask_epi8(bytes);
    return (uint8_t)(parities ^ parities >> 8);
}
#else
static inline uint32_t bb_ribbon_parity_pairs(bb_ribbon_pair words)
{
    return bb_ribbon_parity_bytes(words[0] ^ words[1]);
}
#endif

static inline bb_ribbon_pair bb_ribbon_parity_load(const uint8_t *first, const uint8_t *second)
{
    return (bb_ribbon_pair){bb_load64(first), bb_load64(second)};
}

/* Computes the addresses from two bases. WHY: compilers would add fingerprint_bits seven times, and
 * each addition would wait for the previous one. */
static inline uint32_t bb_ribbon_parity_sums(const uint8_t *bytes, uint64_t fingerprint_bits,
                                             uint64_t coefficients)
{
    const uint8_t *later = bytes + 4 * fingerprint_bits;
    uint64_t third = 3 * fingerprint_bits;
    bb_ribbon_pair masks[BB_RIBBON_WINDOW_GROUPS / 2];
    __asm__("" : "+r"(later), "+r"(third));
    bb_ribbon_parity_masks(coefficients, masks);
    bb_ribbon_pair sum = bb_ribbon_parity_load(bytes, bytes + fingerprint_bits) & masks[0];
    sum ^= bb_ribbon_parity_load(bytes + 2 * fingerprint_bits, bytes + third) & masks[1];
    sum ^= bb_ribbon_parity_load(later, later + fingerprint_bits) & masks[2];
    sum ^= bb_ribbon_parity_load(later + 2 * fingerprint_bits, later + third) & masks[3];
    return bb_ribbon_parity_pairs(sum);
}
#else
static inline uint32_t bb_ribbon_parity_sums(const uint8_t *bytes, uint64_t fingerprint_bits,
                                             uint64_t coefficients)
{
    return bb_ribbon_parity_sums_simply(bytes, fingerprint_bits, coefficients);
}
#endif

#endif
