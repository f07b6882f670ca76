#include "bloomblock/ribbon.h"

#include "bloomblock/ribbon_load.h"

#define EVERY_BYTE UINT64_C(0x0101010101010101)

static uint8_t encode_column(const uint32_t *rows, uint32_t column)
{
    uint32_t byte = 0;
    for (uint32_t i = 0; i < BB_RIBBON_GROUP_ROWS; i++)
        byte |= ((rows[i] >> column) & 1) << i;
    return (uint8_t)byte;
}

void bb_ribbon_encode(const uint32_t *rows, uint32_t group_count, uint32_t rank, uint8_t *payload)
{
    for (uint32_t group = 0; group < group_count; group++)
        for (uint32_t column = 0; column < rank; column++)
            *payload++ = encode_column(rows + (size_t)group * BB_RIBBON_GROUP_ROWS, column);
}

/* Bit j: the parity of byte j. The product brings the eight results together without carries. */
static inline uint32_t byte_parities(uint64_t word)
{
    word ^= word >> 4;
    word ^= word >> 2;
    word ^= word >> 1;
    return (uint32_t)(((word & EVERY_BYTE) * UINT64_C(0x0102040810204080)) >> 56);
}

/* The sums of eight columns, of which the first stands in byte first_byte of the payload. */
static inline uint32_t sum_columns(const struct bb_ribbon_probe *probe, size_t first_byte,
                                   uint64_t coefficients, bool bounded)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < BB_RIBBON_WINDOW_GROUPS; t++) {
        uint64_t mask = ((coefficients >> (8 * t)) & 0xff) * EVERY_BYTE;
        sum ^= mask & bb_ribbon_load(probe, first_byte + (size_t)t * probe->rank, bounded);
    }
    return byte_parities(sum);
}

static inline bool may_contain(const struct bb_ribbon_probe *probe, uint64_t hash, bool bounded)
{
    uint64_t coefficients = bb_ribbon_coefficients(hash, probe->seed);
    size_t window = (size_t)bb_ribbon_group(hash, probe->seed, probe->size) * probe->rank;
    uint32_t sums = sum_columns(probe, window, coefficients, bounded);
    for (uint32_t column = 8; column < probe->rank_limit; column += 8)
        sums |= sum_columns(probe, window + column, coefficients, bounded) << column;
    return ((sums ^ (uint32_t)hash) & bb_ribbon_rank_mask(probe->rank)) == 0;
}

bool bb_ribbon_may_contain(struct bb_ribbon_probe probe, uint64_t hash)
{
    return may_contain(&probe, hash, false);
}

bool bb_ribbon_may_contain_bounded(struct bb_ribbon_probe probe, uint64_t hash)
{
    return may_contain(&probe, hash, true);
}
