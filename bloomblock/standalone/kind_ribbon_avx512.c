/* Windows of ribbons that stand alone: one vector each, a lane per column, as in ribbon_avx512.c,
 * but loaded without a mask (kind_ribbon_window.h). */
#include "bloomblock/standalone/kind_ribbon_avx512.h"

#include "bloomblock/standalone/kind_ribbon_window.h"

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

/* Lane j: how many bits of column j the coefficients name. */
BB_CPU_TARGET_AVX512 static inline __m512i counts(const struct bb_kind_ribbon_window *window)
{
    __m512i lanes = _mm512_permutexvar_epi8(_mm512_load_si512(orders[window->rank]),
                                            _mm512_loadu_si512(window->end - 64));
    lanes = _mm512_and_epi64(lanes, _mm512_set1_epi64((long long)window->coefficients));
    return _mm512_popcnt_epi64(lanes);
}

BB_CPU_TARGET_AVX512 static inline bool agrees(const struct bb_kind_ribbon_window *window,
                                               __mmask8 sums)
{
    uint32_t difference = _cvtmask8_u32(sums) ^ window->fingerprint;
    return _bzhi_u32(difference, (uint32_t)window->rank) == 0;
}

/* A mask of signs needs no constant. */
BB_CPU_TARGET_AVX512 bool bb_kind_ribbon_avx512(const struct bb_filter_view *view,
                                                uint64_t key_hash)
{
    struct bb_kind_ribbon_window window = bb_kind_ribbon_find_window(view, key_hash);
    return agrees(&window, _mm512_movepi64_mask(_mm512_slli_epi64(counts(&window), 63)));
}

/* One constant for all windows saves the shift. */
BB_CPU_TARGET_AVX512 uint64_t
bb_kind_ribbon_avx512_agree(const struct bb_kind_ribbon_window *windows, size_t count)
{
    const __m512i one = _mm512_set1_epi64(1);
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits * 2 + agrees(&windows[i], _mm512_test_epi64_mask(counts(&windows[i]), one));
    return bits;
}
#endif
