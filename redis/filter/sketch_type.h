/* The data type bb-sketch, whose values are struct bb_redis_sketch. */
#ifndef BB_REDIS_FILTER_SKETCH_TYPE_H
#define BB_REDIS_FILTER_SKETCH_TYPE_H

#include "redis/filter/sketch.h"
#include "redis/server/redis_module.h"

/* NULL: the server refuses the type. */
struct RedisModuleType *bb_redis_sketch_type_create(struct RedisModuleCtx *ctx);

/* The cells from this one on, in little-endian bytes; size is a multiple of 4. */
void bb_redis_sketch_type_store(const struct bb_redis_sketch *sketch, uint64_t cell, uint8_t *bytes,
                                size_t size);
/* False: not whole cells, or beyond the sketch. */
bool bb_redis_sketch_type_load(struct bb_redis_sketch *sketch, uint64_t cell,
                               struct bb_bytes bytes);

/* Whether a sketch may have these dimensions. */
bool bb_redis_sketch_type_is_possible(uint64_t column_count, uint64_t row_count);

#endif
