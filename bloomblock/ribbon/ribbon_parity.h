/* Sums of columns modulo 2, as both layouts' portable probes need them. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PARITY_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PARITY_H

#include <stdint.h>

/* Bit j: the parity of byte j. The product brings the eight results together without carries. */
static inline uint32_t bb_ribbon_byte_parities(uint64_t word)
{
    const uint64_t every_byte = UINT64_C(0x0101010101010101);
    word ^= word >> 4;
    word ^= word >> 2;
    word ^= word >> 1;
    return (uint32_t)(((word & every_byte) * UINT64_C(0x0102040810204080)) >> 56);
}

#endif
