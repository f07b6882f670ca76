/* The constants of windows in vectors of 64 bytes. */
#include "bloomblock/ribbon/ribbon_window_avx512.h"

#if BB_CPU_X86
#define STEP(bits, t, j) BB_RIBBON_WINDOW_AVX512_PLACE(bits, t, j)
/* Lane j, step t: byte j of group t of the window. */
#define LANE(bits, j)                                                                              \
    STEP(bits, 0, j), STEP(bits, 1, j), STEP(bits, 2, j), STEP(bits, 3, j), STEP(bits, 4, j),      \
        STEP(bits, 5, j), STEP(bits, 6, j), STEP(bits, 7, j)
#define ORDER(bits)                                                                                \
    {                                                                                              \
        LANE(bits, 0), LANE(bits, 1), LANE(bits, 2), LANE(bits, 3), LANE(bits, 4), LANE(bits, 5),  \
            LANE(bits, 6), LANE(bits, 7)                                                           \
    }

const struct bb_ribbon_window_avx512 bb_ribbon_window_avx512 = {
    .orders = {ORDER(0), ORDER(1), ORDER(2), ORDER(3), ORDER(4), ORDER(5), ORDER(6), ORDER(7),
               ORDER(8)},
    .one = 1};
#endif
