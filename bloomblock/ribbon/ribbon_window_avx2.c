/* The constants of pairs of groups. */
#include "bloomblock/ribbon/ribbon_window_avx2.h"

#if BB_CPU_X86
/* Of a pair from group t on: which byte of the coefficients byte p of its vector is masked with. */
#define GROUP(bits, p) ((p) >= 2 * (bits) ? 128 : (p) >= (bits))
#define PAIR_4(bits, t, p)                                                                         \
    GROUP(bits, p) + (t), GROUP(bits, (p) + 1) + (t), GROUP(bits, (p) + 2) + (t),                  \
        GROUP(bits, (p) + 3) + (t)
#define PAIR(bits, t)                                                                              \
    {                                                                                              \
        PAIR_4(bits, t, 0), PAIR_4(bits, t, 4), PAIR_4(bits, t, 8), PAIR_4(bits, t, 12)            \
    }
#define PAIRS(bits)                                                                                \
    {                                                                                              \
        PAIR(bits, 0), PAIR(bits, 2), PAIR(bits, 4), PAIR(bits, 6)                                 \
    }

const struct bb_ribbon_window_avx2 bb_ribbon_window_avx2 = {
    .orders = {PAIRS(0), PAIRS(1), PAIRS(2), PAIRS(3), PAIRS(4), PAIRS(5), PAIRS(6), PAIRS(7),
               PAIRS(8)},
    .nibbles = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15},
    .odd = {0, 255, 255, 0, 255, 0, 0, 255, 255, 0, 0, 255, 0, 255, 255, 0}};
#endif
