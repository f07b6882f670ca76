/* Sums of columns modulo 2, as both layouts' portable probes need them. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PARITY_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PARITY_H

#include "base/coding.h"
#include "bloomblock/ribbon/ribbon.h"

/* Bit j: the parity of byte j. The product brings the eight results together without carries. */
static inline uint32_t bb_ribbon_byte_parities(uint64_t word)
{
    const uint64_t every_byte = UINT64_C(0x0101010101010101);
    word ^= word >> 4;
    word ^= word >> 2;
    word ^= word >> 1;
    return (uint32_t)(((word & every_byte) * UINT64_C(0x0102040810204080)) >> 56);
}

/* The sums of eight columns of a byte-grouped window, of which the first stands in byte 0. */
static inline uint32_t bb_ribbon_sum_columns(const uint8_t *bytes, uint64_t rank,
                                             uint64_t coefficients)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < BB_RIBBON_WINDOW_GROUPS; t++) {
        uint64_t mask = ((coefficients >> (8 * t)) & 0xff) * UINT64_C(0x0101010101010101);
        sum ^= mask & bb_load64(bytes + t * rank);
    }
    return bb_ribbon_byte_parities(sum);
}

#endif
