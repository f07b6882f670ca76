/* The shards of one set in memory, asked without vectors. */
#include "bloomblock/ribbon/ribbon_shards.h"

#include "bloomblock/ribbon/ribbon_parity.h"

bool bb_ribbon_shards_portable(const struct bb_ribbon_shards *shards, uint64_t key_hash)
{
    struct bb_ribbon_window window = bb_ribbon_shards_window(shards, key_hash);
    uint32_t sums = bb_ribbon_sum_columns(window.bytes, window.rank, window.coefficients | 1);
    return ((sums ^ window.fingerprint) & bb_ribbon_rank_mask((uint32_t)window.rank)) == 0;
}
