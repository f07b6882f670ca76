/* The constants of windows in vectors of 64 bytes. */
#include "bloomblock/ribbon/ribbon_window_avx512.h"

#if BB_CPU_X86
#define STEP(rank, t, j) BB_RIBBON_WINDOW_AVX512_PLACE(rank, t, j)
/* Lane j, step t: byte j of group t of the window. */
#define LANE(rank, j)                                                                              \
    STEP(rank, 0, j), STEP(rank, 1, j), STEP(rank, 2, j), STEP(rank, 3, j), STEP(rank, 4, j),      \
        STEP(rank, 5, j), STEP(rank, 6, j), STEP(rank, 7, j)
#define ORDER(rank)                                                                                \
    {                                                                                              \
        LANE(rank, 0), LANE(rank, 1), LANE(rank, 2), LANE(rank, 3), LANE(rank, 4), LANE(rank, 5),  \
            LANE(rank, 6), LANE(rank, 7)                                                           \
    }

const struct bb_ribbon_window_avx512 bb_ribbon_window_avx512 = {
    .orders = {ORDER(0), ORDER(1), ORDER(2), ORDER(3), ORDER(4), ORDER(5), ORDER(6), ORDER(7),
               ORDER(8)},
    .one = 1};
#endif
