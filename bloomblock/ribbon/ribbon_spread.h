/* Moves bits to the places where the solver needs them: eight bits in eight bytes, the columns of a
 * fingerprint in a word, and the parity of each byte in its lowest bit.
 *
 * Pure functions; any thread.
 */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_SPREAD_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_SPREAD_H

#include "bloomblock/ribbon/ribbon_rows.h"

#define BB_EVERY_BYTE UINT64_C(0x0101010101010101)

/* Moves bit j to bit 0 of byte j. */
static inline uint64_t bb_ribbon_spread(uint32_t byte)
{
    uint64_t diagonal = (byte & 0xff) * BB_EVERY_BYTE & UINT64_C(0x8040201008040201);
    return (diagonal + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 & BB_EVERY_BYTE;
}

/* Moves bit j of the lowest `fingerprint_bits` bits to bit 8 (j % 8) + j / 8. */
static inline uint64_t bb_ribbon_spread_fingerprint(uint32_t fingerprint, uint32_t fingerprint_bits)
{
    uint32_t used = fingerprint & bb_ribbon_equation_fingerprint_mask(fingerprint_bits);
    uint64_t spread = bb_ribbon_spread(used);
    for (uint32_t slab = 1; slab < bb_ribbon_rows_slab_count(fingerprint_bits); slab++)
        spread |= bb_ribbon_spread(used >> (8 * slab)) << slab;
    return spread;
}

/* Bit 0 of each byte: its parity; the other bits are 0. */
static inline uint64_t bb_ribbon_spread_parities(uint64_t word)
{
    word ^= word >> 4;
    word ^= word >> 2;
    word ^= word >> 1;
    return word & BB_EVERY_BYTE;
}

#endif
