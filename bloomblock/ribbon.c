/* The byte-grouped ribbon, written and asked. */
#include "bloomblock/ribbon.h"

#include "base/coding.h"
#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon_parity.h"

/* The sums of eight columns, of which the first stands in byte 0. */
static inline uint32_t sum_columns(const uint8_t *bytes, uint32_t rank, uint64_t coefficients)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < BB_RIBBON_WINDOW_GROUPS; t++) {
        uint64_t mask = ((coefficients >> (8 * t)) & 0xff) * UINT64_C(0x0101010101010101);
        sum ^= mask & bb_load64(bytes + (size_t)t * rank);
    }
    return bb_ribbon_byte_parities(sum);
}

/* All columns of up to rank_limit. That is a constant of the table, where the rank of a filter is
 * not: the end of the loop is predicted, and a column too many is masked out. */
static inline bool sums_agree(const uint8_t *payload, struct bb_ribbon_descriptor parts,
                              uint32_t rank, uint32_t rank_limit, uint64_t hash)
{
    uint64_t coefficients = bb_ribbon_coefficients(hash, parts.seed);
    const uint8_t *window = payload + (size_t)bb_ribbon_group(hash, parts.seed, parts.size) * rank;
    uint32_t sums = sum_columns(window, rank, coefficients);
    for (uint32_t column = 8; column < rank_limit; column += 8)
        sums |= sum_columns(window + column, rank, coefficients) << column;
    return ((sums ^ (uint32_t)hash) & bb_ribbon_rank_mask(rank)) == 0;
}

/* Apart, so that the usual ranks up to 8 need no stack. */
static __attribute__((noinline)) bool may_contain_wide(const uint8_t *payload,
                                                       struct bb_ribbon_descriptor parts,
                                                       uint32_t rank, uint64_t hash)
{
    return sums_agree(payload, parts, rank + parts.step, rank + 1, hash);
}

bool bb_ribbon_may_contain(const uint8_t *payload, uint16_t descriptor, uint32_t rank,
                           uint64_t hash)
{
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size < BB_RIBBON_GROUPS_MIN)
        return true;
    if (rank + 1 > 8)
        return may_contain_wide(payload, parts, rank, hash);
    return sums_agree(payload, parts, rank + parts.step, 8, hash);
}
