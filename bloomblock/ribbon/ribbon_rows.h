/* The rows of a ribbon, as computed by the solver and used to write both layouts: eight rows and
 * eight columns per word, so that a word has eight columns of a group of rows in the byte-grouped
 * layout.
 *
 *     slab s, word g      byte 0          byte 1              byte 7
 *                       | column 8s     | column 8s + 1 | ... | column 8s + 7 |
 *                         bit i: row 8g + i of that column
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_ROWS_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_ROWS_H

#include "bloomblock/ribbon/ribbon_equation.h"

#define BB_RIBBON_SLOTS_MAX  2040
#define BB_RIBBON_SLAB_WIDTH 8 /* columns, and rows of a word */
#define BB_RIBBON_SLABS_MAX                                                                        \
    ((BB_RIBBON_FINGERPRINT_BITS_MAX + BB_RIBBON_SLAB_WIDTH - 1) / BB_RIBBON_SLAB_WIDTH)
#define BB_RIBBON_WORDS_MAX (BB_RIBBON_SLOTS_MAX / BB_RIBBON_SLAB_WIDTH)

struct bb_ribbon_rows {
    /* Eight extra words for coefficients after the last group. */
    uint64_t slabs[BB_RIBBON_SLABS_MAX][BB_RIBBON_WORDS_MAX + 8];
};

static inline uint32_t bb_ribbon_rows_slab_count(uint32_t fingerprint_bits)
{
    return (fingerprint_bits + BB_RIBBON_SLAB_WIDTH - 1) / BB_RIBBON_SLAB_WIDTH;
}

/* Writes group_count groups of the byte-grouped layout (ribbon.h): group_count *
 * fingerprint_bits bytes. */
void bb_ribbon_rows_encode(const struct bb_ribbon_rows *rows, uint32_t group_count,
                           uint32_t fingerprint_bits, uint8_t *payload);
/* Writes slot_count rows of the bit-exact layout (ribbon_bits.h): bb_ribbon_bits_size bytes. Later
 * rows, up to a multiple of eight, are 0. */
void bb_ribbon_rows_encode_bits(const struct bb_ribbon_rows *rows, uint32_t slot_count,
                                uint32_t fingerprint_bits, uint8_t *payload);

#endif
