/* The hashes of eight tokens together. See token_hash.h.
 *
 *     loads       t0 t2 t4 t6 and t1 t3 t5 t7, 16 bytes each
 *     words       low and high words of t0 ... t7, bytes after a token's end 0
 *     hashes      member_hash.h, in eight lanes
 *
 * WHY loads of 16 bytes and not gathers: gathers are slow on processors that are protected from the
 * sampling of gathered data.
 */
#include "skip/member/token_hash.h"

#if BB_CPU_X86

#include <immintrin.h>

#include "base/assert.h"

#define LANES ((size_t)8)

/* Sixteen bytes of every second one of eight tokens. */
BB_CPU_TARGET_AVX512 static inline __m512i load_four(const uint8_t *data, const uint32_t *edges)
{
    __m512i loaded =
        _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)(data + edges[0])));
    loaded = _mm512_inserti64x2(
        loaded, _mm_loadu_si128((const __m128i *)(const void *)(data + edges[4])), 1);
    loaded = _mm512_inserti64x2(
        loaded, _mm_loadu_si128((const __m128i *)(const void *)(data + edges[8])), 2);
    return _mm512_inserti64x2(
        loaded, _mm_loadu_si128((const __m128i *)(const void *)(data + edges[12])), 3);
}

/* The sizes of eight tokens. */
BB_CPU_TARGET_AVX512 static inline __m512i load_sizes(const uint32_t *edges)
{
    __m512i pairs = _mm512_loadu_si512(edges);
    __m512i ends = _mm512_srli_epi64(pairs, 32);
    return _mm512_sub_epi64(ends, _mm512_and_si512(pairs, _mm512_set1_epi64(UINT32_MAX)));
}

/* The words without the bytes from the size on. A shift by 64 bits or more gives 0. */
BB_CPU_TARGET_AVX512 static inline __m512i first_bytes(__m512i words, __m512i sizes)
{
    __m512i bits = _mm512_slli_epi64(sizes, 3);
    return _mm512_andnot_si512(_mm512_sllv_epi64(_mm512_set1_epi64(-1), bits), words);
}

BB_CPU_TARGET_AVX512 static inline __m512i lower(__m512i words)
{
    __m512i letter = _mm512_sub_epi8(words, _mm512_set1_epi8('A'));
    __mmask64 is_upper = _mm512_cmplt_epu8_mask(letter, _mm512_set1_epi8(26));
    return _mm512_or_si512(words, _mm512_maskz_set1_epi8(is_upper, 0x20));
}

/* The halves of the products of 128 bits, one exclusive or the other. */
BB_CPU_TARGET_AVX512 static inline __m512i fold_product(__m512i a, __m512i b)
{
    const __m512i low_half = _mm512_set1_epi64(UINT32_MAX);
    __m512i a_high = _mm512_srli_epi64(a, 32);
    __m512i b_high = _mm512_srli_epi64(b, 32);
    __m512i low = _mm512_mul_epu32(a, b);
    __m512i cross = _mm512_mul_epu32(a_high, b);
    __m512i other = _mm512_mul_epu32(a, b_high);
    __m512i high = _mm512_mul_epu32(a_high, b_high);
    __m512i middle = _mm512_add_epi64(
        _mm512_srli_epi64(low, 32),
        _mm512_add_epi64(_mm512_and_si512(cross, low_half), _mm512_and_si512(other, low_half)));
    high = _mm512_add_epi64(
        high, _mm512_add_epi64(_mm512_srli_epi64(cross, 32), _mm512_srli_epi64(other, 32)));
    high = _mm512_add_epi64(high, _mm512_srli_epi64(middle, 32));
    low = _mm512_or_si512(_mm512_slli_epi64(middle, 32), _mm512_and_si512(low, low_half));
    return _mm512_xor_si512(high, low);
}

/* bb_hash_mix. */
BB_CPU_TARGET_AVX512 static inline __m512i mix(__m512i x)
{
    const __m512i factor = _mm512_set1_epi64((long long)BB_HASH_MIX_FACTOR);
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), factor);
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), factor);
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
}

/* bb_member_hash_words. */
BB_CPU_TARGET_AVX512 static inline __m512i hash_words(struct bb_member_key key, __m512i low,
                                                      __m512i high, __m512i sizes)
{
    __m512i factors =
        _mm512_mullo_epi64(sizes, _mm512_set1_epi64((long long)BB_MEMBER_SIZE_FACTOR));
    low = _mm512_xor_si512(low, _mm512_set1_epi64((long long)key.low));
    high = _mm512_xor_si512(high, _mm512_set1_epi64((long long)key.high));
    return mix(fold_product(low, _mm512_xor_si512(high, factors)));
}

/* Eight tokens. One of more than 16 bytes is hashed again. */
BB_CPU_TARGET_AVX512 static inline void hash_eight(const struct bb_token_hasher *hasher,
                                                   struct bb_bytes text, const uint32_t *edges,
                                                   uint64_t *hashes)
{
    const __m512i eight = _mm512_set1_epi64(8);
    __m512i sizes = load_sizes(edges);
    __m512i even = load_four(text.data, edges);
    __m512i odd = load_four(text.data, edges + 2);
    __m512i low = first_bytes(_mm512_unpacklo_epi64(even, odd), sizes);
    __m512i after_eight = _mm512_sub_epi64(_mm512_max_epu64(sizes, eight), eight);
    __m512i high = first_bytes(_mm512_unpackhi_epi64(even, odd), after_eight);
    if (hasher->folds_case) {
        low = lower(low);
        high = lower(high);
    }
    _mm512_storeu_si512(hashes, hash_words(bb_member_key_of(&hasher->secret), low, high, sizes));
    uint32_t longer = _mm512_cmpgt_epu64_mask(sizes, _mm512_set1_epi64(BB_MEMBER_SHORT_MAX));
    for (; longer != 0; longer &= longer - 1) {
        size_t i = (size_t)__builtin_ctz(longer);
        hashes[i] = bb_token_hash_one(hasher, text, edges + 2 * i);
    }
}

/* If fewer than eight are left, the last eight are hashed, some of them a second time. */
BB_CPU_TARGET_AVX512 void bb_token_hash_avx512(const struct bb_token_hasher *hasher,
                                               struct bb_bytes text, const uint32_t *edges,
                                               size_t count, uint64_t *hashes)
{
    size_t done = 0;
    BB_DEBUG_ASSERT(count == 0 || edges[2 * count - 2] + BB_MEMBER_SHORT_MAX <= text.size);
    for (; done + LANES <= count; done += LANES)
        hash_eight(hasher, text, edges + 2 * done, hashes + done);
    if (done < count && count >= LANES)
        hash_eight(hasher, text, edges + 2 * (count - LANES), hashes + count - LANES);
    for (; done < count && count < LANES; done++)
        hashes[done] = bb_token_hash_one(hasher, text, edges + 2 * done);
}

#endif
