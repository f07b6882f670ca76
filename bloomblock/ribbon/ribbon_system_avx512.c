/* Equations of hashes, eight at a time, with the formulas of ribbon_equation.h. */
#include "bloomblock/ribbon/ribbon_system.h"

#include "bloomblock/cpu.h"
#include "bloomblock/ribbon/ribbon_bits.h"

#if BB_CPU_X86
#include <immintrin.h>

/* The parameters shared by the hashes of a filter. */
struct layout {
    uint64_t added;    /* the tweak: combined with every hash by exclusive or */
    uint32_t places;   /* number of places where an equation can start */
    uint32_t overhang; /* additional places at either end, clamped to the first and last place */
    uint64_t width;    /* mask of the coefficients */
    uint32_t shift;    /* group = place >> shift */
    uint32_t results;  /* mask of a fingerprint */
};

static struct layout layout_of(struct bb_descriptor parts, uint32_t fingerprint_bits)
{
    struct layout layout = {.added = bb_ribbon_equation_tweaked(0, bb_descriptor_encode(parts)),
                            .width = UINT64_MAX,
                            .results = bb_ribbon_equation_fingerprint_mask(fingerprint_bits)};
    if (!parts.bit_exact) {
        layout.places = (uint32_t)bb_ribbon_group_starts(parts.size);
        layout.overhang = BB_RIBBON_OVERHANG_GROUPS;
        return layout;
    }
    uint32_t width = bb_ribbon_bits_width(parts.size);
    layout.places = parts.size - width + 1;
    layout.overhang = BB_RIBBON_BITS_OVERHANG;
    layout.width = (UINT64_C(1) << width) - 1;
    layout.shift = 3;
    return layout;
}

/* bb_ribbon_equation_folded_product: the halves of a product of 128 bits, by exclusive or. */
BB_CPU_TARGET_AVX512 static inline __m512i folded_product(__m512i x, uint64_t factor)
{
    const __m512i low = _mm512_set1_epi64(UINT32_MAX);
    __m512i factor_low = _mm512_set1_epi64((long long)(factor & UINT32_MAX));
    __m512i factor_high = _mm512_set1_epi64((long long)(factor >> 32));
    __m512i high = _mm512_srli_epi64(x, 32);
    __m512i product_0 = _mm512_mul_epu32(x, factor_low);
    __m512i middle =
        _mm512_add_epi64(_mm512_mul_epu32(high, factor_low), _mm512_srli_epi64(product_0, 32));
    __m512i middle_low =
        _mm512_add_epi64(_mm512_mul_epu32(x, factor_high), _mm512_and_si512(middle, low));
    __m512i product_1 = _mm512_add_epi64(
        _mm512_mul_epu32(high, factor_high),
        _mm512_add_epi64(_mm512_srli_epi64(middle, 32), _mm512_srli_epi64(middle_low, 32)));
    product_0 = _mm512_mask_mov_epi32(_mm512_slli_epi64(middle_low, 32), 0x5555, product_0);
    return _mm512_xor_si512(product_0, product_1);
}

/* Stores eight equations, from equation i on. */
BB_CPU_TARGET_AVX512 static inline void add_8(struct bb_ribbon_system *system, uint32_t i,
                                              __m512i hashes, const struct layout *layout)
{
    const long long factor = (long long)BB_RIBBON_START_FACTOR;
    __m512i tweaked = _mm512_xor_si512(hashes, _mm512_set1_epi64((long long)layout->added));
    __m512i start_hash =
        _mm512_srli_epi64(_mm512_mullo_epi64(tweaked, _mm512_set1_epi64(factor)), 32);
    __m512i drawn =
        _mm512_mul_epu32(start_hash, _mm512_set1_epi64(layout->places + 2 * layout->overhang));
    __m256i start = _mm256_sub_epi32(_mm512_cvtepi64_epi32(_mm512_srli_epi64(drawn, 32)),
                                     _mm256_set1_epi32((int)layout->overhang));
    start = _mm256_max_epi32(start, _mm256_setzero_si256());
    start = _mm256_min_epi32(start, _mm256_set1_epi32((int)layout->places - 1));
    __m512i coefficients = folded_product(tweaked, BB_RIBBON_COEFFICIENT_FACTOR);
    coefficients = _mm512_or_si512(coefficients, _mm512_set1_epi64(1));
    coefficients = _mm512_and_si512(coefficients, _mm512_set1_epi64((long long)layout->width));
    __m256i rest = _mm256_and_si256(start, _mm256_set1_epi32((1 << layout->shift) - 1));
    coefficients = _mm512_sllv_epi64(coefficients, _mm512_cvtepu32_epi64(rest));
    __m256i group = _mm256_srl_epi32(start, _mm_cvtsi32_si128((int)layout->shift));
    _mm512_storeu_si512(system->coefficients + i, coefficients);
    __m256i fingerprint =
        _mm512_cvtepi64_epi32(_mm512_srli_epi64(drawn, BB_RIBBON_FINGERPRINT_SHIFT));
    fingerprint = _mm256_and_si256(fingerprint, _mm256_set1_epi32((int)layout->results));
    _mm256_storeu_si256((__m256i *)(system->fingerprints + i), fingerprint);
    _mm_storel_epi64((__m128i *)(system->groups + i), _mm256_cvtepi32_epi8(group));
}

_Static_assert(BB_RIBBON_SLOTS_MAX % 8 == 0, "the arrays have whole groups of eight");

BB_CPU_TARGET_AVX512 void bb_ribbon_system_avx512_init(struct bb_ribbon_system *system,
                                                       const uint64_t *hashes, uint32_t count,
                                                       struct bb_descriptor parts,
                                                       uint32_t fingerprint_bits)
{
    struct layout layout = layout_of(parts, fingerprint_bits);
    bb_ribbon_system_reset(system, bb_ribbon_system_slots(parts), fingerprint_bits);
    BB_ASSERT(count <= BB_RIBBON_SLOTS_MAX);
    system->count = count;
    for (uint32_t i = 0; i < count; i += 8) {
        __mmask8 there = (__mmask8)(count - i < 8 ? (1 << (count - i)) - 1 : 0xff);
        add_8(system, i, _mm512_maskz_loadu_epi64(there, hashes + i), &layout);
    }
    for (uint32_t i = 0; i < count; i++)
        system->group_sizes[system->groups[i]]++;
}

#endif
