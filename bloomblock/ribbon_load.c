#include "bloomblock/ribbon_load.h"

uint64_t bb_ribbon_load_tail(const struct bb_ribbon_probe *probe, size_t offset)
{
    uint64_t word = 0;
    for (size_t i = 0; i < 8 && offset + i < probe->readable; i++)
        word |= (uint64_t)probe->payload[offset + i] << (8 * i);
    return word;
}
