/* A block of a LevelDB table, entry after entry.
 *
 *     stored  := block | compression, 1 | masked CRC-32C of both, 4
 *     block   := entry ... | restart offset, 4 ... | restarts, 4
 *     entry   := varint shared | varint unshared | varint value size | key rest | value
 *
 * Compression 0 is no compression, 1 is Snappy. Threads: one.
 */
#ifndef BB_TOOLS_LEVELDB_BLOCK_H
#define BB_TOOLS_LEVELDB_BLOCK_H

#include "base/coding.h"
#include "base/file.h"
#include "base/status.h"
#include "tools/leveldb/crc32c.h"

#define BLOCK_TRAILER_SIZE 5

/* The position of a block: the value of index entries. */
struct block_handle {
    uint64_t offset;
    uint64_t size; /* without the trailer */
};
/* False: not one. */
BB_MUST_CHECK bool block_handle_decode(struct bb_cursor *cursor, struct block_handle *ret_handle);

struct block {
    struct bb_place place;
    struct bb_buf stored;
    struct bb_buf decoded; /* of a compressed block */
    struct bb_cursor entries;
    struct bb_buf key; /* of the current entry */
    struct bb_bytes value;
};

/* A zeroed block is an empty one. */
void block_deinit(struct block *block);
/* Reads the block at a place of the file, verified. BB_CORRUPT; BB_UNSUPPORTED naming the
 * compression. */
BB_MUST_CHECK enum bb_status block_read(struct block *block, struct bb_file *file,
                                        uint64_t file_size, struct block_handle handle,
                                        const struct crc32c *crc);
/* *ret_has is false at the end. */
BB_MUST_CHECK enum bb_status block_next(struct block *block, bool *ret_has);

#endif
