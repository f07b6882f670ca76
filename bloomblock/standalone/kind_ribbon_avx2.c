/* Windows of ribbons that stand alone: two vectors of four groups each, a bit per byte, as in
 * ribbon_avx2.c, but loaded without masks (kind_ribbon_window.h).
 *
 *     vector     | bytes in front | group t, r bytes | t + 1 | t + 2 | t + 3 |     32 bytes
 *     order      | 128, gives 0   | 0 ... 0          | 1 ... | 2 ... | 3 ... |
 *     parities   bit p of byte p; the highest r bits, after folding, are the sums
 */
#include "bloomblock/standalone/kind_ribbon_avx2.h"

#include "bloomblock/standalone/kind_ribbon_window.h"

#if BB_CPU_X86
#include <immintrin.h>

/* The group of a part to which byte p belongs. */
#define GROUP(rank, p) (p) < 32 - 4 * (rank) ? 128 : ((p) + 4 * (rank)) % 32 / (rank)
#define GROUPS_4(rank, p)                                                                          \
    GROUP(rank, p), GROUP(rank, (p) + 1), GROUP(rank, (p) + 2), GROUP(rank, (p) + 3)
#define GROUPS_16(rank, p)                                                                         \
    GROUPS_4(rank, p), GROUPS_4(rank, (p) + 4), GROUPS_4(rank, (p) + 8), GROUPS_4(rank, (p) + 12)
#define GROUPS(rank)                                                                               \
    {                                                                                              \
        GROUPS_16(rank, 0), GROUPS_16(rank, 16)                                                    \
    }
static const _Alignas(32) uint8_t groups[9][32] = {
    {0}, GROUPS(1), GROUPS(2), GROUPS(3), GROUPS(4), GROUPS(5), GROUPS(6), GROUPS(7), GROUPS(8)};

/* Four groups, those bits left that the coefficients name. */
BB_CPU_TARGET_AVX2 static inline __m256i masked(const uint8_t *end, __m256i order,
                                                __m256i coefficients)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(end - 32));
    return _mm256_and_si256(bytes, _mm256_shuffle_epi8(coefficients, order));
}

/* The highest bit of a byte: its parity. A nibble's is looked up. */
BB_CPU_TARGET_AVX2 static inline __m256i odd_bytes(__m256i bytes)
{
    __m256i odd = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0));
    bytes = _mm256_xor_si256(bytes, _mm256_srli_epi16(bytes, 4));
    return _mm256_shuffle_epi8(odd, _mm256_and_si256(bytes, _mm256_set1_epi8(15)));
}

/* The highest rank bits are the sums. */
BB_CPU_TARGET_AVX2 static inline uint32_t sum_window(const struct bb_kind_ribbon_window *window)
{
    uint32_t rank = (uint32_t)window->rank;
    __m256i order = _mm256_load_si256((const __m256i *)(const void *)groups[rank]);
    __m256i coefficients = _mm256_set1_epi64x((long long)window->coefficients);
    __m256i first = masked(window->end - 4 * window->rank, order, coefficients);
    __m256i second = masked(window->end, order, _mm256_srli_epi64(coefficients, 32));
    __m256i odd = odd_bytes(_mm256_xor_si256(first, second));
    uint32_t sums = (uint32_t)_mm256_movemask_epi8(odd);
    sums ^= sums << 2 * rank;
    return sums ^ sums << rank;
}

BB_CPU_TARGET_AVX2 static inline bool agrees(const struct bb_kind_ribbon_window *window)
{
    uint32_t below = 32 - (uint32_t)window->rank;
    return (sum_window(window) ^ window->fingerprint << below) >> below == 0;
}

BB_CPU_TARGET_AVX2 bool bb_kind_ribbon_avx2(const struct bb_filter_view *view, uint64_t key_hash)
{
    struct bb_kind_ribbon_window window = bb_kind_ribbon_find_window(view, key_hash);
    return agrees(&window);
}

BB_CPU_TARGET_AVX2 uint64_t bb_kind_ribbon_avx2_agree(const struct bb_kind_ribbon_window *windows,
                                                      size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits * 2 + agrees(&windows[i]);
    return bits;
}
#endif
