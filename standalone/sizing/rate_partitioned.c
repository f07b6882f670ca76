/* Rates and sizes of Bloom filters with a slice of bits for every probe. */
#include "standalone/sizing/rate_partitioned.h"

#include <math.h>

#include "bloomblock/bloom/bloom.h"

double bb_rate_partitioned(uint64_t key_count, uint64_t width, uint32_t probes)
{
    if (key_count == 0)
        return 0;
    double fill = -expm1((double)key_count * log1p(-1 / (double)width));
    return width == 1 ? 1 : pow(fill, probes);
}

/* Solves rate = target for the width, then corrects the rounding. */
static uint64_t width_of(uint64_t key_count, uint32_t probes, double target_rate)
{
    if (key_count == 0)
        return 1;
    double fill = pow(target_rate, 1.0 / probes);
    double width = -1 / expm1(log1p(-fill) / (double)key_count);
    uint64_t least = width < 3 ? 1 : (uint64_t)width - 1;
    while (bb_rate_partitioned(key_count, least, probes) > target_rate)
        least++;
    return least;
}

/* Tries all numbers of probes. For small sets, whose slices have few bits, more probes than usual
 * may need fewer bits; and a lower target must never give a smaller size than a higher target. */
uint32_t bb_rate_partitioned_best_probes(uint64_t key_count, double target_rate,
                                         uint64_t *ret_width)
{
    uint32_t best = 1;
    uint64_t best_width = width_of(key_count, 1, target_rate);
    for (uint32_t probes = 2; probes <= BB_BLOOM_PROBES_MAX; probes++) {
        uint64_t width = width_of(key_count, probes, target_rate);
        if (width * probes < best_width * best) {
            best = probes;
            best_width = width;
        }
    }
    *ret_width = best_width;
    return best;
}
