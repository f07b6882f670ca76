/* See sketch.h. */
#include "redis/filter/sketch.h"

#include <string.h>

#include "redis/server/redis_module.h"

#define ROW_FACTOR UINT64_C(0xd1342543de82ef95) /* ON DISK */

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 wide_sum;

static size_t size_of(uint64_t cell_count)
{
    return sizeof(struct bb_redis_sketch) + (size_t)cell_count * sizeof(uint32_t);
}

struct bb_redis_sketch *bb_redis_sketch_create(uint64_t column_count, uint64_t row_count)
{
    size_t size = size_of(column_count * row_count);
    struct bb_redis_sketch *sketch = RedisModule_TryAlloc(size);
    if (sketch == NULL)
        return NULL;
    memset(sketch, 0, size);
    sketch->column_count = column_count;
    sketch->row_count = row_count;
    return sketch;
}

void bb_redis_sketch_destroy(struct bb_redis_sketch *sketch)
{
    RedisModule_Free(sketch);
}

uint64_t bb_redis_sketch_cell_count(const struct bb_redis_sketch *sketch)
{
    return sketch->column_count * sketch->row_count;
}

struct bb_redis_sketch *bb_redis_sketch_copy(const struct bb_redis_sketch *sketch)
{
    size_t size = size_of(bb_redis_sketch_cell_count(sketch));
    struct bb_redis_sketch *copy = RedisModule_TryAlloc(size);
    return copy == NULL ? NULL : memcpy(copy, sketch, size);
}

size_t bb_redis_sketch_memory(const struct bb_redis_sketch *sketch)
{
    return RedisModule_MallocSize((void *)(uintptr_t)sketch);
}

/* The cell of a row. Before the first row *multiplied is the hash; each call multiplies it once
 * more. */
static uint64_t next_cell(const struct bb_redis_sketch *sketch, uint64_t row, uint64_t *multiplied)
{
    *multiplied *= ROW_FACTOR;
    uint64_t column = (uint64_t)((wide)*multiplied * sketch->column_count >> 64);
    return row * sketch->column_count + column;
}

void bb_redis_sketch_set_total(struct bb_redis_sketch *sketch, uint64_t total)
{
    sketch->total = total < BB_REDIS_SKETCH_TOTAL_MAX ? total : BB_REDIS_SKETCH_TOTAL_MAX;
}

/* The sum, at most the maximum. */
static uint64_t add_up_to(uint64_t maximum, uint64_t value, uint64_t count)
{
    return count > maximum - value ? maximum : value + count;
}

struct bb_redis_sketch_addition bb_redis_sketch_add(struct bb_redis_sketch *sketch, uint64_t hash,
                                                    uint64_t count)
{
    struct bb_redis_sketch_addition addition = {.count = UINT32_MAX};
    for (uint64_t row = 0; row < sketch->row_count; row++) {
        uint32_t *cell = &sketch->cells[next_cell(sketch, row, &hash)];
        uint32_t sum = (uint32_t)add_up_to(UINT32_MAX, *cell, count);
        addition.is_overflow |= count > UINT32_MAX - *cell;
        addition.is_change |= sum != *cell;
        addition.count = sum < addition.count ? sum : addition.count;
        *cell = sum;
    }
    uint64_t total = add_up_to(BB_REDIS_SKETCH_TOTAL_MAX, sketch->total, count);
    addition.is_change |= total != sketch->total;
    sketch->total = total;
    return addition;
}

uint32_t bb_redis_sketch_count(const struct bb_redis_sketch *sketch, uint64_t hash)
{
    uint32_t minimum = UINT32_MAX;
    for (uint64_t row = 0; row < sketch->row_count; row++) {
        uint32_t cell = sketch->cells[next_cell(sketch, row, &hash)];
        minimum = cell < minimum ? cell : minimum;
    }
    return minimum;
}

/* The weighted sum of one cell. The sum of 2^32 products fits into the type. */
static wide_sum sum_of(const struct bb_redis_sketch *const *sources, const long long *weights,
                       size_t source_count, uint64_t cell)
{
    wide_sum sum = 0;
    for (size_t i = 0; i < source_count; i++)
        sum += (wide_sum)weights[i] * sources[i]->cells[cell];
    return sum;
}

static wide_sum total_of(const struct bb_redis_sketch *const *sources, const long long *weights,
                         size_t source_count)
{
    wide_sum sum = 0;
    for (size_t i = 0; i < source_count; i++) {
        if (__builtin_add_overflow(sum, (wide_sum)weights[i] * (wide_sum)sources[i]->total, &sum))
            return -1;
    }
    return sum;
}

bool bb_redis_sketch_sum(struct bb_redis_sketch *sketch,
                         const struct bb_redis_sketch *const *sources, const long long *weights,
                         size_t source_count, bool *ret_change)
{
    uint64_t cell_count = bb_redis_sketch_cell_count(sketch);
    wide_sum total = total_of(sources, weights, source_count);
    if (total < 0 || total > (wide_sum)BB_REDIS_SKETCH_TOTAL_MAX)
        return false;
    for (uint64_t cell = 0; cell < cell_count; cell++) {
        wide_sum sum = sum_of(sources, weights, source_count, cell);
        if (sum < 0 || sum > UINT32_MAX)
            return false;
    }
    /* Each cell is read before it is written, so the sketch may be a source. */
    *ret_change = sketch->total != (uint64_t)total;
    for (uint64_t cell = 0; cell < cell_count; cell++) {
        uint32_t sum = (uint32_t)sum_of(sources, weights, source_count, cell);
        *ret_change |= sketch->cells[cell] != sum;
        sketch->cells[cell] = sum;
    }
    sketch->total = (uint64_t)total;
    return true;
}
