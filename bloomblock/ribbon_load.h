/* Eight bytes of a ribbon's payload, and sums of columns, as both layouts' probes need them. */
#ifndef BB_BLOOMBLOCK_RIBBON_LOAD_H
#define BB_BLOOMBLOCK_RIBBON_LOAD_H

#include "base/coding.h"

/* The bytes that a probe may read. The unbounded probes are handed NO_END, a constant, for which
 * the compiler leaves the comparisons out. */
struct bb_ribbon_bytes {
    const uint8_t *data;
    size_t readable;
};

#define BB_RIBBON_NO_END SIZE_MAX

/* What is readable of the eight bytes at an offset, zeros behind it. */
uint64_t bb_ribbon_load_tail(const uint8_t *data, size_t readable, size_t offset);

/* The eight bytes at an offset, little-endian. */
static inline uint64_t bb_ribbon_load(struct bb_ribbon_bytes bytes, size_t offset)
{
    bool bounded = bytes.readable != BB_RIBBON_NO_END;
    if (bounded && (bytes.readable < 8 || offset > bytes.readable - 8))
        return bb_ribbon_load_tail(bytes.data, bytes.readable, offset);
    return bb_load64(bytes.data + offset);
}

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
