/* Eight bytes of a ribbon's payload, as both layouts' probes read them. */
#ifndef BB_BLOOMBLOCK_RIBBON_LOAD_H
#define BB_BLOOMBLOCK_RIBBON_LOAD_H

#include "base/coding.h"
#include "bloomblock/ribbon.h"

/* What is readable of the eight bytes at an offset, zeros behind it. */
uint64_t bb_ribbon_load_tail(const struct bb_ribbon_probe *probe, size_t offset);

/* The eight bytes at an offset, little-endian. bounded is a constant where it is called: it decides
 * at compile time whether the end of the buffer is looked at. */
static inline uint64_t bb_ribbon_load(const struct bb_ribbon_probe *probe, size_t offset,
                                      bool bounded)
{
    if (bounded && (probe->readable < 8 || offset > probe->readable - 8))
        return bb_ribbon_load_tail(probe, offset);
    return bb_load64(probe->payload + offset);
}

#endif
