#include "bloomblock/ribbon_bits.h"

#include "bloomblock/ribbon_load.h"

void bb_ribbon_bits_encode(const uint32_t *rows, uint32_t slot_count, uint32_t rank,
                           uint8_t *payload)
{
    memset(payload, 0, bb_ribbon_bits_size(slot_count, rank));
    size_t position = 0;
    for (uint32_t column = 0; column < rank; column++)
        for (uint32_t i = 0; i < slot_count; i++, position++)
            payload[position / 8] |= (uint8_t)(((rows[i] >> column) & 1) << (position % 8));
}

/* Columns from rank to rank_limit do not exist; what is read in their place (at most 40 bytes past
 * the payload) is masked out at the end, which is cheaper than a loop with an unpredicted end. */
static inline bool may_contain(const struct bb_ribbon_probe *probe, uint64_t hash, bool bounded)
{
    struct bb_ribbon_equation equation = bb_ribbon_bits_equation(hash, probe->seed, probe->size);
    uint32_t sums = 0;
    size_t position = equation.start;
    for (uint32_t column = 0; column < probe->rank_limit; column++, position += probe->size) {
        uint64_t rows = bb_ribbon_load(probe, position / 8, bounded) >> (position % 8);
        sums |= (uint32_t)__builtin_parityll(rows & equation.coefficients) << column;
    }
    return ((sums ^ equation.fingerprint) & bb_ribbon_rank_mask(probe->rank)) == 0;
}

bool bb_ribbon_bits_may_contain(struct bb_ribbon_probe probe, uint64_t hash)
{
    return may_contain(&probe, hash, false);
}

bool bb_ribbon_bits_may_contain_bounded(struct bb_ribbon_probe probe, uint64_t hash)
{
    return may_contain(&probe, hash, true);
}
