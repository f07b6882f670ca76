/* The layout and size of a ribbon for a number of keys. Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_SHAPE_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bb_ribbon_shape {
    bool bit_exact;
    uint32_t size; /* groups, or slots of the bit-exact layout */
};
/* Bytes. */
size_t bb_ribbon_shape_size(struct bb_ribbon_shape shape, uint32_t fingerprint_bits);

#define BB_RIBBON_KEYS_MAX 2000

/* The layout of fewer bytes for 1 ... BB_RIBBON_KEYS_MAX keys, with the most slots that these bytes
 * hold; byte-grouped where they tie, for its quicker probe. With slack, it has slack * key_count
 * slots more than keys, 0 <= slack <= BB_FILTER_SLACK_MAX, limited to the slots of one filter: then
 * fewer seeds are tried. */
struct bb_ribbon_shape bb_ribbon_shape_for(uint32_t key_count, uint32_t fingerprint_bits,
                                           double slack);
/* The shape to try if 64 seeds could not solve a shape. size is 0 if there is no larger one. */
struct bb_ribbon_shape bb_ribbon_shape_larger(struct bb_ribbon_shape shape);

#endif
