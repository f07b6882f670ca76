/* The constants for eight probes at a time. See ribbon_eight.h. */
#include "bloomblock/ribbon/ribbon_eight.h"

#if BB_CPU_X86
/* Lane t, byte 7 - j: byte j of group t of the window. Columns from `bits` on are not used. */
#define PLACE(bits, t, j) (j) < (bits) ? BB_RIBBON_WINDOW_AVX512_PLACE(bits, t, j) : 0
#define GROUP(bits, t)                                                                             \
    PLACE(bits, t, 7), PLACE(bits, t, 6), PLACE(bits, t, 5), PLACE(bits, t, 4), PLACE(bits, t, 3), \
        PLACE(bits, t, 2), PLACE(bits, t, 1), PLACE(bits, t, 0)
#define MATRICES(bits)                                                                             \
    {                                                                                              \
        GROUP(bits, 0), GROUP(bits, 1), GROUP(bits, 2), GROUP(bits, 3), GROUP(bits, 4),            \
            GROUP(bits, 5), GROUP(bits, 6), GROUP(bits, 7)                                         \
    }
/* Byte t of every lane. */
#define BYTES(t) t, 8 + (t), 16 + (t), 24 + (t), 32 + (t), 40 + (t), 48 + (t), 56 + (t)

const struct bb_ribbon_eight_constants bb_ribbon_eight_constants = {
    .matrices = {MATRICES(0), MATRICES(1), MATRICES(2), MATRICES(3), MATRICES(4), MATRICES(5),
                 MATRICES(6), MATRICES(7), MATRICES(8)},
    .transposition = {BYTES(0), BYTES(1), BYTES(2), BYTES(3), BYTES(4), BYTES(5), BYTES(6),
                      BYTES(7)},
    .byte_of = {UINT64_C(0xff), UINT64_C(0xff) << 8, UINT64_C(0xff) << 16, UINT64_C(0xff) << 24,
                UINT64_C(0xff) << 32, UINT64_C(0xff) << 40, UINT64_C(0xff) << 48,
                UINT64_C(0xff) << 56},
    .descriptor = 0xffff,
    .size = 0xff,
    .tweak = BB_RIBBON_TWEAK_FACTOR,
    .tweak_high = BB_RIBBON_TWEAK_FACTOR >> 32,
    .start = BB_RIBBON_START_FACTOR,
    .start_high = BB_RIBBON_START_FACTOR >> 32,
    .coefficient = BB_RIBBON_COEFFICIENT_FACTOR & ((UINT64_C(1) << 52) - 1),
    .coefficient_high = BB_RIBBON_COEFFICIENT_FACTOR >> 52,
    .one = 1,
    .lead = BB_RIBBON_WINDOW_GROUPS - BB_RIBBON_OVERHANG_GROUPS,
    .window_groups = BB_RIBBON_WINDOW_GROUPS,
    .word_bits = 64,
};
#endif
