/* Loads at the end of a buffer: off the fast path. */
#include "bloomblock/ribbon_load.h"

uint64_t bb_ribbon_load_tail(const uint8_t *data, size_t readable, size_t offset)
{
    uint64_t word = 0;
    for (size_t i = 0; i < 8 && offset + i < readable; i++)
        word |= (uint64_t)data[offset + i] << (8 * i);
    return word;
}
