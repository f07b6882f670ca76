/* Back substitution from the band. */
#include "bloomblock/ribbon_solver.h"

#include <string.h>

#include "bloomblock/ribbon_spread.h"

#define GROUP_ROWS BB_RIBBON_SLAB_WIDTH

void bb_ribbon_solver_init(struct bb_ribbon_solver *solver)
{
    solver->band.cpu = bb_cpu_best();
}

/* What the rows behind the group add to one of its rows: bit 0 of byte j is for column j. */
static inline uint64_t sum_behind(uint64_t coefficients, const uint64_t *group)
{
    uint64_t sum = 0;
    for (uint32_t t = 1; t < 8; t++)
        sum ^= (coefficients >> (8 * t) & 0xff) * BB_EVERY_BYTE & group[t];
    return bb_ribbon_parities(sum);
}

/* Byte k of square: bit i says that row i of the group has row k. In each byte of rows, a column of
 * eight right sides, the last rows are put into those before them. */
static inline uint64_t substitute_inside(uint64_t square, uint64_t rows)
{
    for (uint32_t k = GROUP_ROWS - 1; k > 0; k--) {
        uint64_t before = square >> (8 * k) & ((1u << k) - 1);
        rows ^= (rows >> k & BB_EVERY_BYTE) * before;
    }
    return rows;
}

/* The product of the square matrix, column k in byte k, with each byte of rows. */
static inline uint64_t multiply(uint64_t square, uint64_t rows)
{
    uint64_t product = 0;
    for (uint32_t k = 0; k < GROUP_ROWS; k++)
        product ^= (rows >> k & BB_EVERY_BYTE) * (square >> (8 * k) & 0xff);
    return product;
}

/* The rows of a group from the groups behind it, which follow it in memory. The inverse of what the
 * group's rows have of each other does not wait for those. */
static inline uint64_t substitute(const uint64_t *pivots, const uint64_t *results, uint32_t slab,
                                  const uint64_t *group)
{
    uint64_t rows = 0;
    uint64_t square = 0; /* byte i: coefficients of row i inside of the group */
    for (uint32_t i = 0; i < GROUP_ROWS; i++) {
        uint64_t result = results[i] >> slab & BB_EVERY_BYTE;
        rows |= (sum_behind(pivots[i], group) ^ result) << i;
        square |= (pivots[i] & 0xff) << (8 * i);
    }
    uint64_t inverse = substitute_inside(bb_ribbon_transpose(square), BB_RIBBON_UNIT_SQUARE);
    return multiply(inverse, rows);
}

bool bb_ribbon_solver_finish(struct bb_ribbon_solver *solver)
{
    const struct bb_ribbon_band *band = &solver->band;
    if (!bb_ribbon_band_finish(&solver->band))
        return false;
    uint32_t group_count = bb_ribbon_band_group_count(band);
    for (uint32_t slab = 0; slab < bb_ribbon_slab_count(band->rank); slab++) {
        uint64_t *words = solver->rows.slabs[slab];
        memset(words + group_count, 0, 8 * sizeof(words[0]));
        for (uint32_t g = group_count; g-- > 0;)
            words[g] = substitute(band->pivots + (size_t)g * GROUP_ROWS,
                                  band->results + (size_t)g * GROUP_ROWS, slab, words + g);
    }
    return true;
}
