/* Counts of items in rows of cells: a count-min sketch with any number of columns and rows.
 *
 * The library's sketch (bb/filter_sets.h) derives its dimensions from an error. The commands of
 * Redis also take dimensions, and add sketches with weights.
 *
 *     cells    row after row, column_count numbers of 32 bits each
 *
 * Row r, from 0 on, selects a column by the item's hash times the (r + 1)-th power of a
 * constant. */
#ifndef BB_REDIS_FILTER_SKETCH_H
#define BB_REDIS_FILTER_SKETCH_H

#include "bb/base.h"

/* 512 MiB, the largest string that the server permits by default. WHY a limit: a sketch allocates
 * all of its cells when it is created. */
#define BB_REDIS_SKETCH_CELLS_MAX (UINT64_C(1) << 27)

/* The largest number of a reply. Increments stop there; a merge with a larger total is refused. */
#define BB_REDIS_SKETCH_TOTAL_MAX ((uint64_t)INT64_MAX)

struct bb_redis_sketch {
    uint64_t column_count;
    uint64_t row_count;
    uint64_t total; /* the sum of all counts that were added; bb_redis_sketch_set_total */
    uint32_t cells[];
};

/* NULL: there is no memory. REQUIRES: the sketch has 1 ... BB_REDIS_SKETCH_CELLS_MAX cells. */
struct bb_redis_sketch *bb_redis_sketch_create(uint64_t column_count, uint64_t row_count);
void bb_redis_sketch_destroy(struct bb_redis_sketch *sketch);
/* NULL: there is no memory. */
struct bb_redis_sketch *bb_redis_sketch_copy(const struct bb_redis_sketch *sketch);

uint64_t bb_redis_sketch_cell_count(const struct bb_redis_sketch *sketch);
size_t bb_redis_sketch_memory(const struct bb_redis_sketch *sketch);

/* Sets the total, or the maximum if it is larger: version 0.1.0 saved such totals. */
void bb_redis_sketch_set_total(struct bb_redis_sketch *sketch, uint64_t total);

/* What an addition did. */
struct bb_redis_sketch_addition {
    uint32_t count;   /* of the item, now */
    bool is_overflow; /* a cell reached 2^32 - 1, and no longer changes */
    bool is_change;   /* of a cell or of the total */
};

/* Adds to the count of an item. */
struct bb_redis_sketch_addition bb_redis_sketch_add(struct bb_redis_sketch *sketch, uint64_t hash,
                                                    uint64_t count);
uint32_t bb_redis_sketch_count(const struct bb_redis_sketch *sketch, uint64_t hash);

/* Replaces the sketch by the weighted sum of sketches of the same dimensions. It may be one of
 * these sources. False: a cell or the total would leave its range; the sketch is unchanged.
 * *ret_change: the sketch differs now. */
bool bb_redis_sketch_sum(struct bb_redis_sketch *sketch,
                         const struct bb_redis_sketch *const *sources, const long long *weights,
                         size_t source_count, bool *ret_change);

#endif
