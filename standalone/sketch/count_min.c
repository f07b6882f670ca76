/* The cells of a count-min sketch. */
#include "standalone/sketch/count_min.h"

#include "base/coding.h"
#include "bloomblock/bloom/bloom.h"

/* The key's cell in the next row; *state begins as its hash. */
static inline uint64_t next_cell(const struct bb_count_min *shape, uint32_t row, uint64_t *state)
{
    return (row * shape->columns + bb_bloom_next(state, shape->columns)) * 4;
}

uint64_t bb_count_min_count(const uint8_t *cells, const struct bb_count_min *shape, uint64_t hash)
{
    uint64_t least = BB_COUNT_MIN_CELL_MAX;
    for (uint32_t row = 0; row < shape->rows; row++) {
        uint64_t value = bb_load32(cells + next_cell(shape, row, &hash));
        least = value < least ? value : least;
    }
    return least;
}

static inline uint32_t sum_or_max(uint64_t a, uint64_t b)
{
    return b < BB_COUNT_MIN_CELL_MAX - a ? (uint32_t)(a + b) : BB_COUNT_MIN_CELL_MAX;
}

void bb_count_min_add(uint8_t *cells, const struct bb_count_min *shape, uint64_t hash,
                      uint64_t count, bool conservative)
{
    uint32_t raised = sum_or_max(bb_count_min_count(cells, shape, hash), count);
    for (uint32_t row = 0; row < shape->rows; row++) {
        uint8_t *cell = cells + next_cell(shape, row, &hash);
        uint32_t value = bb_load32(cell);
        if (!conservative)
            value = sum_or_max(value, count);
        bb_store32(cell, value > raised ? value : raised);
    }
}

/* Adds a row's cells to the sums; gives their total and the number that is used. */
static uint64_t sum_row(const uint8_t *cells, uint64_t columns, struct bb_count_min_sums *sums,
                        uint64_t *ret_used)
{
    uint64_t total = 0, used = 0;
    for (uint64_t i = 0; i < columns; i++) {
        uint32_t value = bb_load32(cells + i * 4);
        total += value;
        used += value != 0;
        sums->saturated += value == BB_COUNT_MIN_CELL_MAX;
    }
    *ret_used = used;
    return total;
}

struct bb_count_min_sums bb_count_min_sums(const uint8_t *cells, const struct bb_count_min *shape)
{
    struct bb_count_min_sums sums = {.least = UINT64_MAX, .rate = 1};
    for (uint32_t row = 0; row < shape->rows; row++) {
        uint64_t used = 0;
        uint64_t total = sum_row(cells + row * shape->columns * 4, shape->columns, &sums, &used);
        sums.least = total < sums.least ? total : sums.least;
        sums.most = total > sums.most ? total : sums.most;
        sums.used += used;
        sums.rate *= (double)used / (double)shape->columns;
    }
    return sums;
}
