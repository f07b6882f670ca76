/* Chunks: entries of a store (fields and values) in order, for RDB files and for BB.LOADCHUNK.
 *
 *     | XXH64 of the rest : 8 | size of field : 4 | size of value : 4 | field | value | ... |
 *
 * Numbers are little-endian. A chunk has about 256 KiB, or one larger value. Fields ascend strictly
 * within a chunk and from chunk to chunk. So stores with equal contents have equal chunks. */
#ifndef BB_REDIS_STORE_CHUNK_H
#define BB_REDIS_STORE_CHUNK_H

#include "bb/db.h"

struct bb_redis_chunk_sink {
    void (*take)(void *context, struct bb_bytes chunk);
    void *context;
};

/* Passes all entries of the store to the sink, in chunks. *ret_count: the number of entries. */
BB_MUST_CHECK enum bb_status bb_redis_chunks_write(struct bb_db *db,
                                                   const struct bb_redis_chunk_sink *sink,
                                                   uint64_t *ret_count);

/* Checks the order of consecutive chunks. Zeroed: no chunk was read. */
struct bb_redis_chunk_order {
    struct bb_buf last; /* the last field */
    uint64_t count;     /* entries so far */
};

void bb_redis_chunk_order_deinit(struct bb_redis_chunk_order *order);

/* Checks a chunk and adds its entries to the batch (NULL: only checks). order NULL: does not
 * compare the chunk's first field with the last field of the chunk before. BB_CORRUPT: the chunk is
 * damaged; the batch may have a part of its entries. */
BB_MUST_CHECK enum bb_status bb_redis_chunk_read(struct bb_bytes chunk,
                                                 struct bb_redis_chunk_order *order,
                                                 struct bb_batch *batch);

#endif
