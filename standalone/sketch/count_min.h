/* The count-min sketch (Cormode, Muthukrishnan, "An improved data stream summary: the count-min
 * sketch and its applications", 2005): a partitioned Bloom filter with counts instead of bits.
 *
 *     cells      | row 0 | row 1 | ... | row d - 1 |      w cells of 32 bits each, little-endian
 *     key        one cell per row: in row i, floor(h * C^(i+1) / 2^64 * w), as in
 *                partitioned_bloom.h
 *     count      the minimum of the key's cells: never less than the true count
 *
 * Adding raises all cells of the key, or, conservatively (Estan, Varghese, 2002), only the cells
 * below the new count. A cell that has reached 2^32 - 1 stays there.
 *
 * Threads: add is for one thread; the rest are pure.
 */
#ifndef BB_STANDALONE_SKETCH_COUNT_MIN_H
#define BB_STANDALONE_SKETCH_COUNT_MIN_H

#include <stdbool.h>
#include <stdint.h>

#define BB_COUNT_MIN_ROWS_MAX 30
#define BB_COUNT_MIN_CELL_MAX UINT32_MAX

struct bb_count_min {
    uint64_t columns;
    uint32_t rows;
};

/* Bytes of all cells. */
static inline uint64_t bb_count_min_size(const struct bb_count_min *shape)
{
    return shape->columns * shape->rows * 4;
}

uint64_t bb_count_min_count(const uint8_t *cells, const struct bb_count_min *shape, uint64_t hash);
void bb_count_min_add(uint8_t *cells, const struct bb_count_min *shape, uint64_t hash,
                      uint64_t count, bool conservative);

struct bb_count_min_sums {
    uint64_t used;      /* cells above 0 */
    uint64_t saturated; /* cells of BB_COUNT_MIN_CELL_MAX */
    uint64_t least;     /* sum of the row with the smallest sum */
    uint64_t most;      /* sum of the row with the largest sum */
    double rate; /* share of non-member keys whose count is not 0: the product of the rows' fills */
};
struct bb_count_min_sums bb_count_min_sums(const uint8_t *cells, const struct bb_count_min *shape);

#endif
