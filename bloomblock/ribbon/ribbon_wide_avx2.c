/* The constants of pairs of groups. */
#include "bloomblock/ribbon/ribbon_wide_avx2.h"

#if BB_CPU_X86
/* Of a pair from group t on: which byte of the coefficients byte p of its vector is masked with. */
#define GROUP(bits, t, p) ((p) < 32 - 2 * (bits) ? 128 : (t) + ((p) >= 32 - (bits)))
#define PAIR_4(bits, t, p)                                                                         \
    GROUP(bits, t, p), GROUP(bits, t, (p) + 1), GROUP(bits, t, (p) + 2), GROUP(bits, t, (p) + 3)
#define PAIR_16(bits, t, p)                                                                        \
    PAIR_4(bits, t, p), PAIR_4(bits, t, (p) + 4), PAIR_4(bits, t, (p) + 8),                        \
        PAIR_4(bits, t, (p) + 12)
#define PAIR(bits, t)                                                                              \
    {                                                                                              \
        PAIR_16(bits, t, 0), PAIR_16(bits, t, 16)                                                  \
    }
#define PAIRS(bits)                                                                                \
    {                                                                                              \
        PAIR(bits, 0), PAIR(bits, 2), PAIR(bits, 4), PAIR(bits, 6)                                 \
    }
#define TWICE(...)                                                                                 \
    {                                                                                              \
        __VA_ARGS__, __VA_ARGS__                                                                   \
    }

const struct bb_ribbon_wide_avx2 bb_ribbon_wide_avx2 = {
    .orders = {PAIRS(8), PAIRS(9), PAIRS(10), PAIRS(11), PAIRS(12), PAIRS(13), PAIRS(14), PAIRS(15),
               PAIRS(16)},
    .nibbles = TWICE(15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15),
    .odd = TWICE(0, 255, 255, 0, 255, 0, 0, 255, 255, 0, 0, 255, 0, 255, 255, 0)};
#endif
