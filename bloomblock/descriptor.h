/* The fields of a block filter's 16-bit descriptor, which block_filter.h draws. */
#ifndef BB_BLOOMBLOCK_DESCRIPTOR_H
#define BB_BLOOMBLOCK_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#define BB_DESCRIPTOR_NONE 0 /* no filter: may contain */

struct bb_descriptor {
    bool bit_exact;
    uint32_t step; /* 0 or 1 */
    uint32_t seed; /* 0 ... 63 */
    uint32_t size; /* groups, or slots of the bit-exact layout: 0 ... 255 */
};

static inline bool bb_descriptor_is_bit_exact(uint16_t descriptor)
{
    return descriptor >> 15 != 0;
}

static inline struct bb_descriptor bb_descriptor_decode(uint16_t descriptor)
{
    return (struct bb_descriptor){.bit_exact = bb_descriptor_is_bit_exact(descriptor),
                                  .step = descriptor >> 14 & 1,
                                  .seed = descriptor >> 8 & 63,
                                  .size = descriptor & 255};
}

static inline uint16_t bb_descriptor_encode(struct bb_descriptor parts)
{
    return (uint16_t)((uint32_t)parts.bit_exact << 15 | parts.step << 14 | parts.seed << 8 |
                      parts.size);
}

#endif
