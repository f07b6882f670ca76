/* Counts of items in rows of cells: a count-min sketch with any number of columns and rows.
 *
 * The library's sketch (bb/filter_sets.h) derives its dimensions from an error. The commands of
 * Redis also take dimensions, and add sketches with weights.
 *
 *     cells    row after row, column_count numbers of 32 bits each
 *
 * A row finds its column by the hash of the item times a power of a constant. */
#ifndef BB_REDIS_FILTER_SKETCH_H
#define BB_REDIS_FILTER_SKETCH_H

#include "bb/base.h"

/* 512 MiB, as much as the server permits one string by default: all of it is taken at once. */
#define BB_REDIS_SKETCH_CELLS_MAX (UINT64_C(1) << 27)

struct bb_redis_sketch {
    uint64_t column_count;
    uint64_t row_count;
    /* Of all counts that were added. */
    uint64_t total;
    uint32_t cells[];
};

/* NULL: there is no memory. REQUIRES: at least one cell, at most BB_REDIS_SKETCH_CELLS_MAX. */
struct bb_redis_sketch *bb_redis_sketch_create(uint64_t column_count, uint64_t row_count);
void bb_redis_sketch_destroy(struct bb_redis_sketch *sketch);
/* NULL: there is no memory. */
struct bb_redis_sketch *bb_redis_sketch_copy(const struct bb_redis_sketch *sketch);

uint64_t bb_redis_sketch_cell_count(const struct bb_redis_sketch *sketch);
size_t bb_redis_sketch_memory(const struct bb_redis_sketch *sketch);

/* Adds a count, and returns the new one. *ret_overflow: a cell reached 2^32 - 1 and stays there. */
uint32_t bb_redis_sketch_add(struct bb_redis_sketch *sketch, uint64_t hash, uint64_t count,
                             bool *ret_overflow);
uint32_t bb_redis_sketch_count(const struct bb_redis_sketch *sketch, uint64_t hash);

/* Replaces the sketch by the weighted sum of sketches of the same dimensions, which may contain it.
 * False, without a change: a cell or the total leaves its range. */
bool bb_redis_sketch_sum(struct bb_redis_sketch *sketch,
                         const struct bb_redis_sketch *const *sources, const long long *weights,
                         size_t source_count);

#endif
