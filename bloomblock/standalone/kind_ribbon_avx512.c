/* Ribbons that stand alone, asked with AVX-512: as ribbon_avx512.c does, with two differences.
 *
 * From the key's hash to the answer there is no call, and nothing is stored: what is left are 60
 * instructions a view, of which no view's wait for another's.
 *
 * Loads are not masked. Instead of the first bytes of a vector a window takes the last ones, and
 * what is loaded with it stands in front of it. In front of the first shard's payload there are an
 * entry of the directory and the envelope's header, 72 bytes, of which 56 at most are touched.
 *
 *     envelope   | header, 64 bytes | directory | payload ...... | window, 8r bytes | ...
 *     vector                             |<------------- 64 bytes ------------->|
 */
#include "bloomblock/standalone/kind_ribbon_avx512.h"

#include "bloomblock/standalone/kind_ribbon.h"

_Static_assert(BB_ENVELOPE_HEADER_SIZE + BB_SHARD_ENTRY_SIZE >= 64 - BB_RIBBON_WINDOW_GROUPS,
               "in front of a window of rank 1 there are the bytes that are loaded with it");

#if BB_CPU_X86
#include <immintrin.h>

/* Lane j, step t: byte j of group t of the window, 64 - 8 rank + t * rank + j. */
#define LANE(rank, j)                                                                              \
    64 - 8 * (rank) + (j), 64 - 7 * (rank) + (j), 64 - 6 * (rank) + (j), 64 - 5 * (rank) + (j),    \
        64 - 4 * (rank) + (j), 64 - 3 * (rank) + (j), 64 - 2 * (rank) + (j), 64 - (rank) + (j)
#define ORDER(rank)                                                                                \
    {                                                                                              \
        LANE(rank, 0), LANE(rank, 1), LANE(rank, 2), LANE(rank, 3), LANE(rank, 4), LANE(rank, 5),  \
            LANE(rank, 6), LANE(rank, 7)                                                           \
    }
static const _Alignas(64) uint8_t orders[9][64] = {ORDER(0), ORDER(1), ORDER(2), ORDER(3), ORDER(4),
                                                   ORDER(5), ORDER(6), ORDER(7), ORDER(8)};

/* The sums of the up to eight columns of the window that ends at end. */
BB_CPU_TARGET_AVX512 static inline uint32_t sum_window(const uint8_t *end, uint64_t rank,
                                                       uint64_t coefficients)
{
    __m512i lanes =
        _mm512_permutexvar_epi8(_mm512_load_si512(orders[rank]), _mm512_loadu_si512(end - 64));
    lanes = _mm512_and_si512(lanes, _mm512_set1_epi64((long long)coefficients));
    lanes = _mm512_slli_epi64(_mm512_popcnt_epi64(lanes), 63);
    return _cvtmask8_u32(_mm512_movepi64_mask(lanes));
}

/* Bit-exact, or no filter at all. */
static inline bool has_no_window(uint64_t descriptor)
{
    return descriptor >> 15 != 0 || !bb_ribbon_has_window(descriptor);
}

/* The group behind the key's window. */
static inline uint64_t end_group(uint64_t drawn, uint64_t group_count)
{
    uint64_t end = (drawn >> 32) + BB_RIBBON_WINDOW_GROUPS - BB_RIBBON_OVERHANG_GROUPS;
    end = end < BB_RIBBON_WINDOW_GROUPS ? BB_RIBBON_WINDOW_GROUPS : end;
    return end < group_count ? end : group_count;
}

/* 0: the window agrees. */
BB_CPU_TARGET_AVX512 static inline uint32_t difference(const struct bb_kind_ribbon_place *place,
                                                       uint64_t table_rank)
{
    uint64_t size = place->descriptor & 255;
    uint64_t rank = table_rank + (place->descriptor >> 14 & 1);
    uint64_t drawn = bb_ribbon_draw_group(place->hash, place->descriptor, size);
    uint32_t sums = sum_window(place->payload + end_group(drawn, size) * rank, rank,
                               bb_ribbon_coefficients(place->hash, place->descriptor));
    return _bzhi_u32(sums ^ bb_ribbon_fingerprint(drawn), (uint32_t)rank);
}

BB_CPU_TARGET_AVX512 bool bb_kind_ribbon_avx512(const struct bb_filter_view *view,
                                                uint64_t key_hash)
{
    struct bb_kind_ribbon_place place = bb_kind_ribbon_find(view, key_hash);
    if (has_no_window(place.descriptor))
        return bb_kind_ribbon_ask(view, &place);
    return difference(&place, view->parameters[BB_VIEW_PROBES]) == 0;
}

static __attribute__((noinline)) uint64_t ask_one_by_one(const struct bb_filter_view *views,
                                                         size_t count, uint64_t key_hash)
{
    uint64_t bits = 0;
    for (size_t i = count; i-- > 0;)
        bits = bits << 1 | bb_kind_ribbon_avx512(&views[i], key_hash);
    return bits;
}

/* A processor works on six views or so at a time by itself, and waits for their misses together.
 * Shards without windows are those of small filters, which seldom stand among large ones. */
BB_CPU_TARGET_AVX512 uint64_t bb_kind_ribbon_avx512_each(const struct bb_filter_view *views,
                                                         size_t count, uint64_t key_hash)
{
    uint64_t bits = 0;
    for (const struct bb_filter_view *view = views + count; view-- > views;) {
        struct bb_kind_ribbon_place place = bb_kind_ribbon_find(view, key_hash);
        if (has_no_window(place.descriptor))
            return ask_one_by_one(views, count, key_hash);
        bits = bits * 2 + (difference(&place, view->parameters[BB_VIEW_PROBES]) == 0);
    }
    return bits;
}
#endif
