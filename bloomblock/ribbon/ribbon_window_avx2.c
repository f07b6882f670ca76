/* The constants of pairs of groups. */
#include "bloomblock/ribbon/ribbon_window_avx2.h"

#if BB_CPU_X86
/* Of a pair from group t on: which byte of the coefficients byte p of its vector is masked with. */
#define GROUP(rank, p) ((p) >= 2 * (rank) ? 128 : (p) >= (rank))
#define PAIR_4(rank, t, p)                                                                         \
    GROUP(rank, p) + (t), GROUP(rank, (p) + 1) + (t), GROUP(rank, (p) + 2) + (t),                  \
        GROUP(rank, (p) + 3) + (t)
#define PAIR(rank, t)                                                                              \
    {                                                                                              \
        PAIR_4(rank, t, 0), PAIR_4(rank, t, 4), PAIR_4(rank, t, 8), PAIR_4(rank, t, 12)            \
    }
#define PAIRS(rank)                                                                                \
    {                                                                                              \
        PAIR(rank, 0), PAIR(rank, 2), PAIR(rank, 4), PAIR(rank, 6)                                 \
    }

const struct bb_ribbon_window_avx2 bb_ribbon_window_avx2 = {
    .orders = {PAIRS(0), PAIRS(1), PAIRS(2), PAIRS(3), PAIRS(4), PAIRS(5), PAIRS(6), PAIRS(7),
               PAIRS(8)},
    .nibbles = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15},
    .odd = {0, 255, 255, 0, 255, 0, 0, 255, 255, 0, 0, 255, 0, 255, 255, 0}};
#endif
