/* The bit-exact ribbon: any number of slots up to 255, columns one after another, for small sets,
 * where rounding the rows to a multiple of eight costs more than shifting in the probe.
 *
 *     payload    | column 0, m bits | column 1, m bits | ... | column r-1 | zero bits |
 *                  bit j * m + i: row i of column j; bit b is bit b mod 8 of byte b / 8
 *                  ceil(m * r / 8) bytes, 1 <= m <= 255
 *
 * At most 57 coefficients: any eight bytes contain 57 bits from any bit on, so one load per column
 * suffices. With m <= 57 there is one start, and the system is dense.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_BITS_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_BITS_H

#include "bloomblock/ribbon/ribbon.h"

#define BB_RIBBON_BITS_WIDTH     57
#define BB_RIBBON_BITS_OVERHANG  20
#define BB_RIBBON_BITS_SLOTS_MAX 255

static inline size_t bb_ribbon_bits_size(uint32_t slot_count, uint32_t fingerprint_bits)
{
    return ((size_t)slot_count * fingerprint_bits + 7) / 8;
}

static inline uint32_t bb_ribbon_bits_width(uint32_t slot_count)
{
    return slot_count < BB_RIBBON_BITS_WIDTH ? slot_count : BB_RIBBON_BITS_WIDTH;
}

/* tweak: the filter's descriptor. */
static inline struct bb_ribbon_equation bb_ribbon_bits_equation(uint64_t hash, uint32_t tweak,
                                                                uint32_t slot_count)
{
    uint32_t width = bb_ribbon_bits_width(slot_count);
    uint32_t starts = slot_count - width + 1;
    uint64_t drawn = bb_ribbon_equation_draw(bb_ribbon_equation_start_hash(hash, tweak), starts,
                                             BB_RIBBON_BITS_OVERHANG);
    return (struct bb_ribbon_equation){
        .start = (uint32_t)bb_ribbon_equation_start(drawn, starts, BB_RIBBON_BITS_OVERHANG),
        .fingerprint = bb_ribbon_equation_fingerprint(drawn),
        .coefficients =
            bb_ribbon_equation_coefficients(hash, tweak) & ((UINT64_C(1) << width) - 1)};
}

#endif
