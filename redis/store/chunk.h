/* Chunks: fields and values of a store in order, for RDB files and for BB.LOADCHUNK.
 *
 *     | XXH64 of the rest : 8 | size of field : 4 | size of value : 4 | field | value | ... |
 *
 * Numbers are little-endian. A chunk has about 256 KiB, or one larger value. Fields ascend strictly
 * within a chunk and from chunk to chunk, so that equal contents give equal chunks. */
#ifndef BB_REDIS_STORE_CHUNK_H
#define BB_REDIS_STORE_CHUNK_H

#include "bb/db.h"

struct bb_redis_chunk_sink {
    void (*take)(void *context, struct bb_bytes chunk);
    void *context;
};

/* Passes all entries of the store to the sink, in chunks. *ret_count: their number. */
BB_MUST_CHECK enum bb_status bb_redis_chunks_write(struct bb_db *db,
                                                   const struct bb_redis_chunk_sink *sink,
                                                   uint64_t *ret_count);

/* A loading of chunks. Zeroed: the next chunk is the first. */
struct bb_redis_chunk_order {
    struct bb_buf last;
    uint64_t count; /* entries so far */
};

void bb_redis_chunk_order_deinit(struct bb_redis_chunk_order *order);

/* Checks a chunk, and adds its entries to the batch (NULL: only checks). order may be NULL; the
 * first field of the chunk is then not compared. BB_CORRUPT: it is damaged. The batch may have got
 * a part of the chunk then. */
BB_MUST_CHECK enum bb_status bb_redis_chunk_read(struct bb_bytes chunk,
                                                 struct bb_redis_chunk_order *order,
                                                 struct bb_batch *batch);

#endif
