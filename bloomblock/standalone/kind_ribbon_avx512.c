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

/* The sums of the up to eight columns. */
BB_CPU_TARGET_AVX512 static inline uint32_t sum_window(const struct bb_kind_ribbon_window *window)
{
    __m512i lanes = _mm512_permutexvar_epi8(_mm512_load_si512(orders[window->rank]),
                                            _mm512_loadu_si512(window->end - 64));
    lanes = _mm512_and_epi64(lanes, _mm512_set1_epi64((long long)window->coefficients));
    lanes = _mm512_popcnt_epi64(lanes);
    return _cvtmask8_u32(_mm512_test_epi64_mask(lanes, _mm512_set1_epi64(1)));
}

BB_CPU_TARGET_AVX512 static inline bool agrees(const struct bb_kind_ribbon_window *window)
{
    return _bzhi_u32(sum_window(window) ^ window->fingerprint, (uint32_t)window->rank) == 0;
}

BB_CPU_TARGET_AVX512 bool bb_kind_ribbon_avx512(const struct bb_filter_view *view,
                                                uint64_t key_hash)
{
    struct bb_kind_ribbon_window window = bb_kind_ribbon_find_window(view, key_hash);
    return agrees(&window);
}

BB_CPU_TARGET_AVX512 uint64_t
bb_kind_ribbon_avx512_agree(const struct bb_kind_ribbon_window *windows, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits * 2 + agrees(&windows[i]);
    return bits;
}
#endif
