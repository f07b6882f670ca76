/* The mathematics of the filters of tables, in double precision. docs/filters.md derives the
 * formulas. */
#include "bloomblock/sizing/rate.h"

#include <math.h>

#include "base/assert.h"
#include "bloomblock/bloom/blocked_bloom.h"
#include "bloomblock/bloom/bloom.h"

double bb_rate_limit(double rate)
{
    return -log2(rate);
}

/* --- Ribbon --- */

double bb_rate_ribbon(uint32_t fingerprint_bits)
{
    return ldexp(1, -(int)fingerprint_bits);
}

uint32_t bb_rate_ribbon_fingerprint_bits(double target_rate)
{
    int exponent = 0;
    double fraction = frexp(target_rate, &exponent); /* target = fraction * 2^exponent, >= 1/2 */
    int fingerprint_bits = fraction == 0.5 ? 1 - exponent : -exponent;
    return fingerprint_bits < 1 ? 1 : (uint32_t)fingerprint_bits;
}

/* --- Cells and balls ---
 *
 * A filter has m cells, which are bits. A ball is a probe of a member key, and covers a cell. The
 * probes of a non-member key use d distinct cells, because they may coincide. The key is a false
 * positive if b balls have covered all d cells. states[u] is the probability that u of them are
 * still uncovered. WHY not the closed formula, by inclusion and exclusion: its terms cancel, and
 * from about 20 probes on it loses all digits. Here all terms are positive. */

/* states[d]: the probability that the probes of a non-member key use d distinct cells. */
static void distinct_cells(double states[BB_BLOOM_PROBES_MAX + 1], uint32_t probes, double cells)
{
    states[0] = 1;
    for (uint32_t d = 1; d <= probes; d++)
        states[d] = 0;
    for (uint32_t probe = 0; probe < probes; probe++) {
        for (uint32_t d = probe + 1; d > 0; d--)
            states[d] = states[d] * d / cells + states[d - 1] * (cells - (d - 1)) / cells;
        states[0] = 0;
    }
}

static void throw_balls(double states[BB_BLOOM_PROBES_MAX + 1], uint32_t probes, double cells,
                        uint64_t balls)
{
    double covered[BB_BLOOM_PROBES_MAX + 1];
    for (uint32_t u = 0; u <= probes; u++)
        covered[u] = u / cells < 1 ? u / cells : 1;
    for (uint64_t ball = 0; ball < balls; ball++) {
        for (uint32_t u = 0; u < probes; u++)
            states[u] += states[u + 1] * covered[u + 1] - states[u] * covered[u];
        states[probes] -= states[probes] * covered[probes];
    }
}

/* --- Classic Bloom --- */

/* Up to this number of keys the rate is computed exactly. For more keys it is computed from
 * moments, with a relative error below 1e-4 (at 25 probes; 1e-6 at 7). */
#define EXACT_KEYS 24

static double bloom_exact(uint64_t key_count, double bits, uint32_t probes)
{
    double states[BB_BLOOM_PROBES_MAX + 1];
    distinct_cells(states, probes, bits);
    throw_balls(states, probes, bits, key_count * probes);
    return states[0];
}

/* The moments of the share of empty cells after some balls: the mean, stored as the fill, and the
 * central moments. */
struct moments {
    double fill; /* 1 - mean */
    double variance;
    double third;
    double fourth;
};

/* The factorial moment j of the number of empty cells is m (m - 1) ... (m - j + 1) (1 - j/m)^b. The
 * variance is arranged to avoid cancellation for large m. The third moment is of order 1/m^2; it is
 * omitted if rounding errors would exceed it. For the fourth, a normal distribution is assumed. */
static struct moments empty_share(double balls, double cells)
{
    double one = exp(balls * log1p(-1 / cells));
    double two = exp(balls * log1p(-2 / cells));
    double correlation = expm1(balls * log1p(-1 / ((cells - 1) * (cells - 1))));
    double variance = one * one * correlation + (one - two) / cells;
    double third = 0;
    if (cells < 1e5) {
        double three = exp(balls * log1p(-3 / cells));
        double second_raw = two * (1 - 1 / cells) + one / cells;
        double third_raw = three * (1 - 1 / cells) * (1 - 2 / cells) +
                           3 * two * (1 - 1 / cells) / cells + one / (cells * cells);
        third = third_raw - 3 * one * second_raw + 2 * one * one * one;
    }
    double fill = -expm1(balls * log1p(-1 / cells));
    return (struct moments){fill, variance, third, 3 * variance * variance};
}

/* The mean of (1 - X)^k, where X is the share of empty cells, by a Taylor series at the mean of
 * X. */
static double bloom_by_moments(double key_count, double bits, uint32_t probes)
{
    struct moments empty = empty_share(key_count * probes, bits);
    double k = probes;
    double fill = empty.fill;
    double second = k * (k - 1) / 2 * empty.variance / (fill * fill);
    double third = k * (k - 1) * (k - 2) / 6 * empty.third / (fill * fill * fill);
    double fourth =
        k * (k - 1) * (k - 2) * (k - 3) / 24 * empty.fourth / (fill * fill * fill * fill);
    double rate = pow(fill, k) * (1 + second - third + fourth);
    return rate < 1 ? rate : 1;
}

double bb_rate_bloom(uint64_t key_count, uint64_t bits, uint32_t probes)
{
    if (key_count <= EXACT_KEYS)
        return bloom_exact(key_count, (double)bits, probes);
    if (bits < 4)
        return 1;
    return bloom_by_moments((double)key_count, (double)bits, probes);
}

/* Bits per key, in the limit of many keys. */
static double bloom_bits_per_key(uint32_t probes, double target_rate)
{
    return -(double)probes / log1p(-pow(target_rate, 1.0 / probes));
}

uint32_t bb_rate_bloom_probes(double target_rate)
{
    uint32_t fewer = bb_rate_ribbon_fingerprint_bits(target_rate); /* floor of log2(1 / rate) */
    return bloom_bits_per_key(fewer, target_rate) <= bloom_bits_per_key(fewer + 1, target_rate)
               ? fewer
               : fewer + 1;
}

/* The smallest number in (low, high] that meets the target. `high` must meet it. */
static uint64_t bisect_bits(uint64_t low, uint64_t high, uint64_t key_count, uint32_t probes,
                            double target_rate)
{
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (bb_rate_bloom(key_count, middle, probes) <= target_rate)
            high = middle;
        else
            low = middle;
    }
    return high;
}

uint64_t bb_rate_bloom_bits(uint64_t key_count, uint32_t probes, double target_rate)
{
    double guess = (double)key_count * bloom_bits_per_key(probes, target_rate);
    uint64_t low = (uint64_t)(guess * 0.995);
    uint64_t width = low / 64 + 1;
    while (low > 0 && bb_rate_bloom(key_count, low, probes) <= target_rate) {
        low = low > width ? low - width : 0;
        width *= 2;
    }
    uint64_t high = low + width;
    while (bb_rate_bloom(key_count, high, probes) > target_rate) {
        low = high;
        width *= 2;
        high += width;
    }
    return bisect_bits(low, high, key_count, probes, target_rate);
}

uint32_t bb_rate_bloom_best_probes(uint64_t key_count, double target_rate, uint64_t *ret_bits)
{
    uint32_t best = bb_rate_bloom_probes(target_rate);
    uint64_t best_bits = bb_rate_bloom_bits(key_count, best, target_rate);
    /* Small sets need fewer probes than large ones, at most a third fewer (computed for every
     * rate). */
    uint32_t fewest = best - best / 3 > 1 ? best - best / 3 - 1 : 1;
    for (uint32_t probes = best; probes-- > fewest;) {
        uint64_t bits = bb_rate_bloom_bits(key_count, probes, target_rate);
        if (bits < best_bits) {
            best = probes;
            best_bits = bits;
        }
    }
    *ret_bits = best_bits;
    return best;
}

/* --- Blocked Bloom --- */

void bb_rate_line_init(struct bb_rate_line *line, uint32_t probes, uint64_t key_count)
{
    double states[BB_BLOOM_PROBES_MAX + 1];
    BB_ASSERT(probes >= 1 && probes <= BB_BLOOM_PROBES_MAX);
    distinct_cells(states, probes, BB_LINE_BITS);
    line->filled = key_count < BB_RATE_LINE_KEYS ? (uint32_t)key_count + 1 : BB_RATE_LINE_KEYS;
    for (uint32_t keys = 0; keys < line->filled; keys++) {
        line->rate[keys] = states[0];
        throw_balls(states, probes, BB_LINE_BITS, probes);
    }
}

/* Lines with more keys than this have a binomial weight below 1e-24. */
uint64_t bb_rate_line_keys(double mean_keys)
{
    return (uint64_t)(mean_keys + 12 * sqrt(mean_keys) + 48);
}

static double line_rate(const struct bb_rate_line *line, uint64_t key_count)
{
    return key_count < line->filled ? line->rate[key_count] : 1;
}

/* If lines have more keys than this on average, the rate is 1. WHY: it is above any target, and the
 * binomial weights would underflow. */
#define LINE_KEYS_MEAN_MAX 600
/* Smaller weights no longer change the sum. */
#define WEIGHT_MIN 1e-24

double bb_rate_blocked_bloom(const struct bb_rate_line *line, uint64_t key_count,
                             uint64_t line_count)
{
    double keys = (double)key_count;
    double lines = (double)line_count;
    if (line_count == 1)
        return line_rate(line, key_count);
    if (keys > lines * LINE_KEYS_MEAN_MAX)
        return 1;
    double weight = exp(keys * log1p(-1 / lines)); /* of lines with j keys */
    double rest = 1;                               /* the weight of lines with more keys */
    double rate = 0;
    uint32_t j = 0;
    for (; j < line->filled && j <= key_count && (weight > WEIGHT_MIN || j < keys / lines); j++) {
        rate += weight * line->rate[j];
        rest -= weight;
        weight *= (keys - j) / ((j + 1) * (lines - 1));
    }
    return j == line->filled && j <= key_count && rest > 0 ? rate + rest : rate;
}

/* Element k - 1: the limit of log2(1 / rate) up to which k probes need the fewest lines. Computed
 * from the Poisson mixture. */
static const double probes_until[] = {1.35, 2.45, 3.5,   4.5,   5.55, 6.55, 7.75,  9.0,   10.25,
                                      11.5, 12.8, 14.25, 15.55, 17.2, 18.7, 20.25, 22.05, 23.7};

uint32_t bb_rate_blocked_bloom_probes(double target_rate)
{
    double limit = bb_rate_limit(target_rate);
    uint32_t probes = 1;
    while (probes <= BB_ARRAY_LENGTH(probes_until) && limit > probes_until[probes - 1])
        probes++;
    return probes;
}

uint64_t bb_rate_blocked_bloom_lines(const struct bb_rate_line *line, uint64_t key_count,
                                     double target_rate)
{
    /* No filter can be smaller than the limit, so `low` never meets the target. (It is lower than
     * needed for the smaller units of split-block filters.) */
    uint64_t low = (uint64_t)((double)key_count * bb_rate_limit(target_rate) / BB_LINE_BITS);
    uint64_t high = low + 1;
    for (; bb_rate_blocked_bloom(line, key_count, high) > target_rate; high += low + 1)
        low = high;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (bb_rate_blocked_bloom(line, key_count, middle) <= target_rate)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* probes_until is rounded, and sizes are rounded up to whole lines. So near a step of the table,
 * one probe more or less may need one line less. No other number of probes does (computed for every
 * rate). */
uint32_t bb_rate_blocked_bloom_best_probes(uint64_t key_count, double target_rate,
                                           uint64_t *ret_lines)
{
    struct bb_rate_line line;
    uint32_t usual = bb_rate_blocked_bloom_probes(target_rate);
    uint32_t best = usual;
    uint64_t best_lines = UINT64_MAX;
    const uint32_t tried[] = {usual, usual + 1, usual > 1 ? usual - 1 : usual};
    uint64_t line_keys = bb_rate_line_keys(BB_LINE_BITS / bb_rate_limit(target_rate));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(tried); i++) {
        bb_rate_line_init(&line, tried[i], key_count < line_keys ? key_count : line_keys);
        uint64_t lines = bb_rate_blocked_bloom_lines(&line, key_count, target_rate);
        if (lines < best_lines) {
            best = tried[i];
            best_lines = lines;
        }
    }
    *ret_lines = best_lines;
    return best;
}
