/* Predicted against measured rate, kind by kind. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "bench/filter_pool.h"
#include "bench/filter_tables.h"

static const size_t key_counts[] = {1, 4, 16, 64, 256, 1024, 4096};
static const double targets[] = {0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-5};

/* Two-sided, one in a thousand over all 300 cells or so. */
#define Z_ALL_CELLS 4.7

struct cell {
    double target;
    double planned;
    double predicted;
    double measured;
    bool fine;
};

/* Split-block filters draw their pattern from 32 bits of the hash, for any size. */
#define PATTERN_FLOOR 5e-8

static double band(const struct pool *pool, uint64_t question_count)
{
    double p = pool->predicted;
    double binomial = Z_ALL_CELLS * sqrt(p * (1 - p) / (double)question_count);
    /* With very few expected passes, a single one is normal: Poisson's tail is longer. */
    double few = 12 / (double)question_count;
    return fmax(0.05 * p, binomial + few) + PATTERN_FLOOR;
}

/* Small filters may have a much lower rate than their target; that many passes would take
 * forever. */
static uint64_t questions_for(const struct pool *pool, double target, uint64_t positives)
{
    return (uint64_t)((double)positives / fmax(pool->predicted, target));
}

static struct cell measure(const struct pool_kind *kind, size_t key_count, double target,
                           uint64_t seed, uint64_t positives)
{
    struct pool pool;
    pool_init(&pool, kind, key_count, POOL_FILTERS_MAX, target, seed);
    uint64_t question_count = questions_for(&pool, target, positives);
    question_count += POOL_FILTERS_MAX - question_count % POOL_FILTERS_MAX;
    uint64_t passed = pool_count_absent(&pool, question_count);
    struct cell cell = {.target = target,
                        .planned = pool.planned,
                        .predicted = pool.predicted,
                        .measured = (double)passed / (double)question_count};
    cell.fine = fabs(cell.measured - cell.predicted) <= band(&pool, question_count) &&
                pool.planned <= target && pool_count_denied(&pool) == 0;
    pool_deinit(&pool);
    return cell;
}

static void print_head(const struct pool_kind *kind)
{
    printf("\n%s: predicted rate / target, measured rate / rate that the set bits predict\n\n| n |",
           kind->name);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(targets); i++)
        printf(" %g |", targets[i]);
    printf("\n|---|");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(targets); i++)
        printf("---|");
    printf("\n");
}

static bool print_row(const struct pool_kind *kind, size_t key_count, uint64_t seed,
                      uint64_t positives)
{
    bool fine = true;
    printf("| %zu |", key_count);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(targets); i++) {
        struct cell cell = measure(kind, key_count, targets[i], seed, positives);
        printf(" %.3f, %.3f%s |", cell.planned / cell.target, cell.measured / cell.predicted,
               cell.fine ? "" : " **outside**");
        fflush(stdout);
        fine &= cell.fine;
    }
    printf("\n");
    return fine;
}

bool filter_tables_rates(uint64_t seed, uint64_t positives)
{
    bool fine = true;
    printf("%d filters per cell, about %" PRIu64 " non-member keys that pass, seed %" PRIu64 ".\n",
           POOL_FILTERS_MAX, positives, seed);
    for (size_t kind = 0; kind < pool_kind_count; kind++) {
        print_head(&pool_kinds[kind]);
        for (size_t i = 0; i < BB_ARRAY_LENGTH(key_counts); i++)
            fine &= print_row(&pool_kinds[kind], key_counts[i], seed, positives);
    }
    return fine;
}
