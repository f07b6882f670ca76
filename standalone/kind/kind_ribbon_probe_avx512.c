/* Batches of probes of standalone ribbons, eight at a time (ribbon_eight.h). This file loads the
 * fields of views into the lanes of vectors. */
#include "standalone/kind/kind_ribbon_probe.h"

#include "base/assert.h"
#include "bloomblock/ribbon/ribbon_eight.h"
#include "standalone/kind/kind_ribbon_view.h"

#if BB_CPU_X86
#include <string.h>

/* --- One hash, eight views --- */

/* Fields of up to four views, in the order of the views. */
struct four_views {
    __m512i first;  /* two first parameters, two third ones, and so for the other two views */
    __m512i second; /* the same of the second and the fourth parameters */
    __m256i places;
};

BB_CPU_TARGET_AVX512 static inline __m512i parameters_of(const struct bb_filter_view *view)
{
    return _mm512_castsi256_si512(_mm256_loadu_si256((const void *)view->parameters));
}

BB_CPU_TARGET_AVX512 static inline __m512i parameters_of_two(const struct bb_filter_view *view,
                                                             const struct bb_filter_view *other)
{
    return _mm512_inserti64x4(parameters_of(view),
                              _mm256_loadu_si256((const void *)other->parameters), 1);
}

/* As one word: clang splits bb_load64 if the same load is in two branches. */
static inline long long place_at(const struct bb_filter_view *view, uint64_t shard)
{
    long long place;
    memcpy(&place, view->payload.data + shard * BB_SHARD_ENTRY_SIZE, sizeof(place));
    return place;
}

static inline long long place_of(const struct bb_filter_view *view, uint64_t key_hash)
{
    uint64_t hash = bb_kind_ribbon_view_hash(view, key_hash);
    return place_at(view, bb_shard_hash_shard(hash, view->parameters[BB_VIEW_SIZE]));
}

BB_CPU_TARGET_AVX512 static inline __m128i places_of_two(const struct bb_filter_view *const *views,
                                                         uint64_t key_hash)
{
    return _mm_set_epi64x(place_of(views[1], key_hash), place_of(views[0], key_hash));
}

/* has_four: a constant; false: two views. */
BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) struct four_views
load_four(const struct bb_filter_view *const *views, bool has_four, uint64_t key_hash)
{
    __m512i even = has_four ? parameters_of_two(views[0], views[2]) : parameters_of(views[0]);
    __m512i odd = has_four ? parameters_of_two(views[1], views[3]) : parameters_of(views[1]);
    __m256i places = _mm256_castsi128_si256(places_of_two(views, key_hash));
    if (has_four)
        places = _mm256_inserti128_si256(places, places_of_two(views + 2, key_hash), 1);
    return (struct four_views){.first = _mm512_unpacklo_epi64(even, odd),
                               .second = _mm512_unpackhi_epi64(even, odd),
                               .places = places};
}

/* count: a constant, 6 or 8. The last lane probes views[last] instead. */
BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) struct bb_ribbon_eight
load_views(const struct bb_filter_view *views, size_t count, size_t last, uint64_t key_hash)
{
    const struct bb_filter_view *each[BB_RIBBON_EIGHT];
#pragma GCC unroll 8
    for (size_t i = 0; i < BB_RIBBON_EIGHT; i++)
        each[i] = i + 1 < count ? views + i : views + last;
    struct four_views low = load_four(each, true, key_hash);
    struct four_views high = load_four(each + 4, count > 6, key_hash);
    __m512i domains = _mm512_shuffle_i64x2(low.first, high.first, 0xdd);
    return (struct bb_ribbon_eight){
        .hashes = _mm512_xor_si512(bb_ribbon_eight_words(key_hash), domains),
        .places = _mm512_inserti64x4(_mm512_castsi256_si512(low.places), high.places, 1),
        .fingerprint_bits = _mm512_shuffle_i64x2(low.second, high.second, 0x88),
        .payloads = _mm512_shuffle_i64x2(low.second, high.second, 0xdd)};
}

BB_CPU_TARGET_AVX512 static inline __attribute__((always_inline)) uint64_t
ask_views(const struct bb_filter_view *views, size_t count, size_t last, uint64_t key_hash)
{
    const struct bb_ribbon_eight_constants *known = bb_ribbon_eight_known();
    struct bb_ribbon_eight eight = load_views(views, count, last, key_hash);
    struct bb_ribbon_eight_windows windows;
    bb_ribbon_eight_find(known, &eight, &windows);
    bb_ribbon_eight_prefetch(&windows, count);
    return bb_ribbon_eight_agree(known, &windows, count);
}

/* Probes more than eight views, eight at a time. The last turn probes the last eight views, of
 * which some were probed before. */
BB_CPU_TARGET_AVX512 static __attribute__((noinline)) uint64_t
ask_eights(const struct bb_filter_view *views, size_t count, uint64_t key_hash)
{
    const struct bb_ribbon_eight_constants *known = bb_ribbon_eight_known();
    struct bb_ribbon_eight_windows windows[BB_KIND_BATCH / BB_RIBBON_EIGHT];
    const size_t last = count - BB_RIBBON_EIGHT;
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i += BB_RIBBON_EIGHT) {
        const struct bb_filter_view *first = views + (i < last ? i : last);
        struct bb_ribbon_eight eight =
            load_views(first, BB_RIBBON_EIGHT, BB_RIBBON_EIGHT - 1, key_hash);
        bb_ribbon_eight_find(known, &eight, &windows[i / BB_RIBBON_EIGHT]);
        bb_ribbon_eight_prefetch(&windows[i / BB_RIBBON_EIGHT], BB_RIBBON_EIGHT);
    }
    for (size_t i = 0; i < count; i += BB_RIBBON_EIGHT)
        bits |= bb_ribbon_eight_agree(known, &windows[i / BB_RIBBON_EIGHT], BB_RIBBON_EIGHT)
                << (i < last ? i : last);
    return bits;
}

/* Up to eight views take six or eight lanes: of an odd number the last view is probed twice. */
BB_CPU_TARGET_AVX512 uint64_t bb_kind_ribbon_probe_avx512_each(const struct bb_filter_view *views,
                                                               size_t count, uint64_t key_hash)
{
    BB_DEBUG_ASSERT(count >= BB_KIND_RIBBON_PROBE_AVX512_MIN);
    uint64_t bits;
    if (count > BB_RIBBON_EIGHT)
        return ask_eights(views, count, key_hash);
    if (count > 6)
        bits = ask_views(views, 8, count - 1, key_hash);
    else
        bits = ask_views(views, 6, count - 1, key_hash);
    return _bzhi_u64(bits, (uint32_t)count);
}

/* --- Eight hashes, one view --- */

/* The places of eight shards, loaded word by word: gathers are slower on a processor with a
 * mitigation for gather data sampling. */
BB_CPU_TARGET_AVX512 static inline __m512i places_of(const struct bb_filter_view *view,
                                                     __m512i hashes)
{
    uint64_t shards[BB_RIBBON_EIGHT];
    long long places[BB_RIBBON_EIGHT];
    __m512i products = _mm512_mul_epu32(_mm512_srli_epi64(hashes, 32),
                                        bb_ribbon_eight_words(view->parameters[BB_VIEW_SIZE]));
    bb_ribbon_eight_store_halves(shards, _mm512_srli_epi64(products, 32));
    __asm__("" : "+m"(shards));
#pragma GCC unroll 8
    for (size_t i = 0; i < BB_RIBBON_EIGHT; i++)
        places[i] = place_at(view, shards[i]);
    return _mm512_set_epi64(places[7], places[6], places[5], places[4], places[3], places[2],
                            places[1], places[0]);
}

/* Loads the lanes set in `there`; the others are zeros. */
BB_CPU_TARGET_AVX512 static inline struct bb_ribbon_eight
load_hashes(const struct bb_filter_view *view, const uint64_t *hashes, __mmask8 there)
{
    __m512i own = _mm512_xor_si512(_mm512_maskz_loadu_epi64(there, hashes),
                                   bb_ribbon_eight_words(view->parameters[BB_VIEW_DOMAIN]));
    return (struct bb_ribbon_eight){
        .hashes = own,
        .places = places_of(view, own),
        .fingerprint_bits = bb_ribbon_eight_words(view->parameters[BB_VIEW_PROBES]),
        .payloads = bb_ribbon_eight_words(view->parameters[BB_VIEW_OWN])};
}

BB_CPU_TARGET_AVX512 uint64_t bb_kind_ribbon_probe_avx512_many(const struct bb_filter_view *view,
                                                               const uint64_t *hashes, size_t count)
{
    const struct bb_ribbon_eight_constants *known = bb_ribbon_eight_known();
    struct bb_ribbon_eight_windows windows[BB_KIND_BATCH / BB_RIBBON_EIGHT];
    const uint64_t there = _bzhi_u64(UINT64_MAX, (uint32_t)count);
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i += BB_RIBBON_EIGHT) {
        struct bb_ribbon_eight eight = load_hashes(view, hashes + i, (__mmask8)(there >> i));
        bb_ribbon_eight_find(known, &eight, &windows[i / BB_RIBBON_EIGHT]);
        bb_ribbon_eight_prefetch(&windows[i / BB_RIBBON_EIGHT], BB_RIBBON_EIGHT);
    }
    for (size_t i = 0; i < count; i += BB_RIBBON_EIGHT)
        bits |= bb_ribbon_eight_agree(known, &windows[i / BB_RIBBON_EIGHT], BB_RIBBON_EIGHT) << i;
    return bits & there;
}
#endif
