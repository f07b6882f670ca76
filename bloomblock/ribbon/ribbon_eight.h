/* Eight probes of byte-grouped ribbons at a time, with AVX-512: both steps of ribbon_window.h.
 *
 * A probe is a lane until its window is known. Each window then becomes a vector with one group per
 * lane. Such a lane is a matrix of 8 x 8 bits, with a row for each column of the filter. Its
 * product with the group's byte of the coefficients is the group's part of the sums. Byte q of all
 * lanes belongs to probe q:
 *
 *     coefficients       lane q:  | byte 0 | byte 1 | ... | byte 7 |     of probe q
 *     transposed         lane t:  | byte t of probe 0 | byte t of probe 1 | ...
 *     window of q        lane t:  | group t, the last column first |
 *     parts              lane t:  | part t of probe 0 | part t of probe 1 | ...
 *     transposed         lane q:  | part 0 | part 1 | ... | part 7 |     together the sums of q
 *
 * The limit is the latency of dependent instructions rather than their number: a processor stalls
 * when some hundred instructions wait. Therefore products are composed of 32-bit products (vpmullq
 * takes three times as long as one of them), and shards are found without vectors.
 *
 * Windows are loaded as in ribbon_window_avx512.h.
 *
 * Pure functions; any thread. Compiled for x86 only. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_EIGHT_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_EIGHT_H

#include "bloomblock/ribbon/ribbon_window_avx512.h"

#define BB_RIBBON_EIGHT 8

#if BB_CPU_X86
/* In memory they are operands of the instruction that uses them. Constants that a compiler composes
 * go through the port that moves bytes across lanes, which is the busiest one. */
struct bb_ribbon_eight_constants {
    /* Orders of bytes, by fingerprint bits. */
    _Alignas(64) uint8_t matrices[BB_RIBBON_WINDOW_FINGERPRINT_BITS_MAX + 1][64];
    uint8_t transposition[64];
    uint64_t byte_of[BB_RIBBON_EIGHT]; /* of question q, in every lane */
    uint64_t descriptor;               /* the bits of an entry that are it */
    uint64_t size;
    uint64_t tweak, tweak_high;
    uint64_t start, start_high;
    uint64_t coefficient, coefficient_high; /* 52 bits and the rest */
    uint64_t one, lead, window_groups, word_bits;
};
extern const struct bb_ribbon_eight_constants bb_ribbon_eight_constants
    __attribute__((visibility("hidden")));

/* The truth tables of vpternlogq for three operands. */
#define BB_RIBBON_EIGHT_XOR    0x96
#define BB_RIBBON_EIGHT_CHOOSE 0xd8 /* between the second, where the third is set, and the first */

/* Their address in a register, which shortens the instructions. */
static inline const struct bb_ribbon_eight_constants *bb_ribbon_eight_known(void)
{
    const struct bb_ribbon_eight_constants *known = &bb_ribbon_eight_constants;
    __asm__("" : "+r"(known));
    return known;
}

BB_CPU_TARGET_AVX512 static inline __m512i bb_ribbon_eight_words(uint64_t word)
{
    return _mm512_set1_epi64((long long)word);
}

/* The arguments of eight probes, a lane each. */
struct bb_ribbon_eight {
    __m512i hashes;           /* in the domains of the filters */
    __m512i places;           /* bb_filter_place */
    __m512i fingerprint_bits; /* of the shorter steps */
    __m512i payloads;         /* addresses of the first of each set */
};

/* The coefficients and fingerprints for their windows. */
struct bb_ribbon_eight_windows {
    const uint8_t *ends[BB_RIBBON_EIGHT];
    uint64_t matrices[BB_RIBBON_EIGHT]; /* offsets of the orders */
    __m512i coefficients;               /* transposed */
    __m512i fingerprints;
    __m512i fingerprint_bits;
};

/* Two halves: a word out of the upper half of a vector is not there before the vector has reached
 * the cache. */
BB_CPU_TARGET_AVX512 static inline void bb_ribbon_eight_store_halves(void *words, __m512i lanes)
{
    __m256i low = _mm512_castsi512_si256(lanes);
    __asm__("" : "+x"(low)); /* else clang makes one of them */
    _mm256_storeu_si256(words, low);
    _mm256_storeu_si256((__m256i *)words + 1, _mm512_extracti64x4_epi64(lanes, 1));
}

/* The product of the lower halves. clang computes 64-bit products where only a half is used. */
BB_CPU_TARGET_AVX512 static inline __m512i bb_ribbon_eight_product(__m512i a, __m512i b)
{
    __m512i words = _mm512_mul_epu32(a, b);
    __asm__("" : "+v"(words));
    return words;
}

/* See bb_ribbon_equation_tweaked. */
BB_CPU_TARGET_AVX512 static inline __m512i
bb_ribbon_eight_tweaked(const struct bb_ribbon_eight_constants *known, __m512i hashes,
                        __m512i descriptors)
{
    __m512i low = bb_ribbon_eight_product(descriptors, bb_ribbon_eight_words(known->tweak));
    __m512i high = bb_ribbon_eight_product(descriptors, bb_ribbon_eight_words(known->tweak_high));
    return _mm512_xor_si512(hashes, _mm512_add_epi64(low, _mm512_slli_epi64(high, 32)));
}

/* See bb_ribbon_equation_start_hash; with anything in the upper half. */
BB_CPU_TARGET_AVX512 static inline __m512i
bb_ribbon_eight_start_hashes(const struct bb_ribbon_eight_constants *known, __m512i tweaked)
{
    __m512i low = bb_ribbon_eight_product(tweaked, bb_ribbon_eight_words(known->start));
    __m512i cross = bb_ribbon_eight_product(tweaked, bb_ribbon_eight_words(known->start_high));
    __m512i across = bb_ribbon_eight_product(_mm512_srli_epi64(tweaked, 32),
                                             bb_ribbon_eight_words(known->start));
    return _mm512_add_epi64(_mm512_srli_epi64(low, 32), _mm512_add_epi64(cross, across));
}

/* See bb_ribbon_equation_coefficients. The product of 128 bits in parts of 52:
 *
 *     top << 104 + middle << 52 + low
 */
BB_CPU_TARGET_AVX512 static inline __m512i
bb_ribbon_eight_coefficients(const struct bb_ribbon_eight_constants *known, __m512i tweaked)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i factor = bb_ribbon_eight_words(known->coefficient),
                  rest = bb_ribbon_eight_words(known->coefficient_high);
    __m512i upper = _mm512_srli_epi64(tweaked, 52);
    __m512i low = _mm512_madd52lo_epu64(zero, tweaked, factor);
    __m512i middle = _mm512_madd52hi_epu64(zero, tweaked, factor);
    middle = _mm512_madd52lo_epu64(middle, tweaked, rest);
    middle = _mm512_add_epi64(middle, _mm512_madd52lo_epu64(zero, upper, factor));
    __m512i top = _mm512_madd52lo_epu64(zero, upper, rest);
    top = _mm512_madd52hi_epu64(top, tweaked, rest);
    top = _mm512_madd52hi_epu64(top, upper, factor);
    __m512i high = _mm512_add_epi64(_mm512_srli_epi64(middle, 12), _mm512_slli_epi64(top, 40));
    low = _mm512_ternarylogic_epi64(low, _mm512_slli_epi64(middle, 52), high, BB_RIBBON_EIGHT_XOR);
    return _mm512_or_si512(low, bb_ribbon_eight_words(known->one));
}

/* The groups after the windows; see bb_ribbon_group. */
BB_CPU_TARGET_AVX512 static inline __m512i
bb_ribbon_eight_end_groups(const struct bb_ribbon_eight_constants *known, __m512i drawn,
                           __m512i sizes)
{
    __m512i ends =
        _mm512_add_epi64(_mm512_srli_epi64(drawn, 32), bb_ribbon_eight_words(known->lead));
    ends = _mm512_max_epu32(ends, bb_ribbon_eight_words(known->window_groups));
    return _mm512_min_epu32(ends, sizes);
}

/* Finds the windows; see bb_ribbon_window_at. */
BB_CPU_TARGET_AVX512 static inline void
bb_ribbon_eight_find(const struct bb_ribbon_eight_constants *known,
                     const struct bb_ribbon_eight *eight, struct bb_ribbon_eight_windows *windows)
{
    __m512i descriptors = _mm512_and_si512(eight->places, bb_ribbon_eight_words(known->descriptor));
    __m512i sizes = _mm512_and_si512(eight->places, bb_ribbon_eight_words(known->size));
    __m512i fingerprint_bits =
        _mm512_add_epi64(eight->fingerprint_bits, _mm512_srli_epi64(descriptors, 14));
    __m512i hashes = bb_ribbon_eight_tweaked(known, eight->hashes, descriptors);
    __m512i drawn = _mm512_mul_epu32(bb_ribbon_eight_start_hashes(known, hashes),
                                     _mm512_sub_epi64(sizes, bb_ribbon_eight_words(known->one)));
    __m512i payloads = _mm512_add_epi64(eight->payloads, _mm512_srli_epi64(eight->places, 16));
    bb_ribbon_eight_store_halves(
        windows->ends,
        _mm512_madd52lo_epu64(payloads, bb_ribbon_eight_end_groups(known, drawn, sizes),
                              fingerprint_bits));
    bb_ribbon_eight_store_halves(windows->matrices, _mm512_slli_epi64(fingerprint_bits, 6));
    __asm__("" : "+m"(windows->ends), "+m"(windows->matrices)); /* else gcc takes vectors apart */
    windows->coefficients = _mm512_permutexvar_epi8(_mm512_load_si512(known->transposition),
                                                    bb_ribbon_eight_coefficients(known, hashes));
    windows->fingerprints = _mm512_srli_epi64(drawn, BB_RIBBON_FINGERPRINT_SHIFT);
    windows->fingerprint_bits = fingerprint_bits;
}

/* A vector spans two cache lines, which a load fetches one after the other. */
static inline __attribute__((always_inline)) void
bb_ribbon_eight_prefetch(const struct bb_ribbon_eight_windows *windows, size_t count)
{
#pragma GCC unroll 8
    for (size_t q = 0; q < count; q++) {
        __builtin_prefetch(windows->ends[q] - 64);
        __builtin_prefetch(windows->ends[q] - 1);
    }
}

/* Lane t, byte q: the part of group t in the sums of probe q. Other bytes are undefined. */
BB_CPU_TARGET_AVX512 static inline __m512i
bb_ribbon_eight_parts_of(const struct bb_ribbon_eight_constants *known,
                         const struct bb_ribbon_eight_windows *windows, size_t q)
{
    const void *order = (const uint8_t *)known->matrices + windows->matrices[q];
    __m512i window = bb_ribbon_window_avx512_load(windows->ends[q]);
    __m512i matrices = _mm512_permutexvar_epi8(_mm512_load_si512(order), window);
    return _mm512_gf2p8affine_epi64_epi8(windows->coefficients, matrices, 0);
}

/* Of the first count of them; a constant. */
BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) __m512i
bb_ribbon_eight_parts(const struct bb_ribbon_eight_constants *known,
                      const struct bb_ribbon_eight_windows *windows, size_t count)
{
    __m512i parts = bb_ribbon_eight_parts_of(known, windows, 0);
#pragma GCC unroll 8
    for (size_t q = 1; q < count; q++)
        parts = _mm512_ternarylogic_epi64(parts, bb_ribbon_eight_parts_of(known, windows, q),
                                          bb_ribbon_eight_words(known->byte_of[q]),
                                          BB_RIBBON_EIGHT_CHOOSE);
    return parts;
}

/* Bit q is the answer to question q, of the first count; a constant. */
BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) uint64_t
bb_ribbon_eight_agree(const struct bb_ribbon_eight_constants *known,
                      const struct bb_ribbon_eight_windows *windows, size_t count)
{
    __m512i sums = _mm512_permutexvar_epi8(_mm512_load_si512(known->transposition),
                                           bb_ribbon_eight_parts(known, windows, count));
    sums = _mm512_xor_si512(sums, _mm512_srli_epi64(sums, 32));
    sums = _mm512_xor_si512(sums, _mm512_srli_epi64(sums, 16));
    __m512i differences = _mm512_ternarylogic_epi64(sums, _mm512_srli_epi64(sums, 8),
                                                    windows->fingerprints, BB_RIBBON_EIGHT_XOR);
    __m512i above =
        _mm512_sub_epi64(bb_ribbon_eight_words(known->word_bits), windows->fingerprint_bits);
    differences = _mm512_sllv_epi64(differences, above);
    return _cvtmask8_u32(_mm512_testn_epi64_mask(differences, differences));
}
#endif

#endif
