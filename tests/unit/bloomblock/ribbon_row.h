/* One row of a solved ribbon, for tests. */
#ifndef BB_TESTS_UNIT_BLOOMBLOCK_RIBBON_ROW_H
#define BB_TESTS_UNIT_BLOOMBLOCK_RIBBON_ROW_H

#include "bloomblock/ribbon/ribbon_rows.h"

/* Bit j: column j. */
static inline uint32_t ribbon_row(const struct bb_ribbon_rows *rows, uint32_t row,
                                  uint32_t fingerprint_bits)
{
    uint32_t value = 0;
    for (uint32_t j = 0; j < fingerprint_bits; j++) {
        uint64_t word = rows->slabs[j / BB_RIBBON_SLAB_WIDTH][row / BB_RIBBON_SLAB_WIDTH];
        uint32_t place = j % BB_RIBBON_SLAB_WIDTH * 8 + row % BB_RIBBON_SLAB_WIDTH;
        value |= (uint32_t)(word >> place & 1) << j;
    }
    return value;
}

#endif
