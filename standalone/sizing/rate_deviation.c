/* The deviation of rates from bits. docs/filters.md, section 5, derives it. */
#include "standalone/sizing/rate_deviation.h"

#include <math.h>

/* A line of a filter (cells.h: a classic filter is one line). Functions of it take a number of
 * keys, which need not be whole. */
struct line {
    double bits;
    double hit; /* the probability that a key sets a given bit */
    double probes;
};

static struct line line_of(const struct bb_cells *cells)
{
    double lines = (double)bb_cells_lines(cells);
    return (struct line){.bits = (double)bb_cells_count(cells) / lines,
                         .hit = bb_cells_hit(cells),
                         .probes = cells->probes};
}

static double empty_share(const struct line *line, double keys)
{
    return exp(keys * log1p(-line->hit));
}

/* The relative variance of fill^probes. If m cells get a balls each on average, the number of
 * occupied cells has the variance m q (1 - (1 + a) q), where q = e^-a is the share of empty
 * cells. */
static double relative_variance(const struct line *line, double keys)
{
    double balls = keys * line->probes / line->bits;
    double empty = empty_share(line, keys);
    double spread = -expm1(log1p(balls) - balls); /* 1 - (1 + a) e^-a */
    double ratio = line->probes / (1 - empty);
    return keys == 0 ? 0 : ratio * ratio * empty * spread / line->bits;
}

/* Weighted sums over lines. */
struct sums {
    double weight;
    double keys;
    double rate;
    double square;  /* of the rate */
    double product; /* of rate and keys */
};

static void add_lines(struct sums *sums, const struct line *line, double weight, double keys)
{
    double rate = pow(1 - empty_share(line, keys), line->probes);
    sums->weight += weight;
    sums->keys += weight * keys;
    sums->rate += weight * rate;
    sums->square += weight * rate * rate * (1 + relative_variance(line, keys));
    sums->product += weight * rate * keys;
}

/* Weights, relative to that of the mean, that do not change a double. */
#define WEIGHT_MIN 1e-18

/* The number of keys of a line has nearly a Poisson distribution. The sum begins at the mean, with
 * weight 1, and continues in both directions. */
static struct sums sum_lines(const struct line *line, double mean)
{
    struct sums sums = {0};
    double middle = floor(mean), weight = 1;
    for (double j = middle; weight > WEIGHT_MIN; weight *= mean / ++j)
        add_lines(&sums, line, weight, j);
    weight = middle / mean;
    for (double j = middle - 1; j >= 0 && weight > WEIGHT_MIN; weight *= j-- / mean)
        add_lines(&sums, line, weight, j);
    return sums;
}

/* The rate of full lines is 1, without deviation. */
#define EMPTY_MIN 1e-9

double bb_rate_deviation(const struct bb_cells *cells, uint64_t key_count)
{
    struct line line = line_of(cells);
    double lines = (double)bb_cells_lines(cells);
    double mean = (double)key_count / lines;
    if (key_count == 0 || empty_share(&line, mean) < EMPTY_MIN)
        return 0;
    if (lines == 1)
        return sqrt(relative_variance(&line, mean));
    struct sums sums = sum_lines(&line, mean);
    double rate = sums.rate / sums.weight;
    double shared = sums.product / sums.weight - rate * sums.keys / sums.weight;
    /* All lines together have key_count keys: the effect of a line's number of keys is not
     * random. */
    double variance = sums.square / sums.weight - rate * rate - shared * shared / mean;
    return variance > 0 ? sqrt(variance / lines) / rate : 0;
}
