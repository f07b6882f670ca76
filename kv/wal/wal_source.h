/* The blocks of a log, one at a time: of its file, and of its window (wal_window.h) where it has
 * these bytes. Threads: one. */
#ifndef BB_KV_WAL_WAL_SOURCE_H
#define BB_KV_WAL_WAL_SOURCE_H

#include "base/file.h"
#include "kv/wal/wal_format.h"

struct bb_wal_source {
    struct bb_file *file; /* owned */
    /* Of the file when it was opened; a read must return this much. */
    uint64_t file_size;
    uint64_t size;        /* of the log */
    struct bb_buf window; /* its bytes; often empty */
    uint64_t window_base; /* their place in the log */
    uint64_t seed;        /* of the log's checks */
    /* Displacement of the blocks in bytes, to read fragments that were displaced. */
    uint64_t shift;
    uint8_t *block;        /* owned, BB_WAL_BLOCK_SIZE bytes */
    uint64_t block_offset; /* of the loaded block */
    size_t block_size;     /* 0: no block is loaded */
};

BB_MUST_CHECK enum bb_status bb_wal_source_open(struct bb_wal_source *source,
                                                struct bb_file_system *fs, const char *path,
                                                uint64_t seed);
/* A zeroed source is allowed. */
void bb_wal_source_close(struct bb_wal_source *source);

/* The bytes from a file offset to the end of its block or of the file; valid until another block is
 * loaded. REQUIRES: offset < size. */
BB_MUST_CHECK enum bb_status bb_wal_source_at(struct bb_wal_source *source, uint64_t offset,
                                              struct bb_bytes *ret_rest);

/* Copies bytes of the log; the loaded block remains. REQUIRES: they are below size. */
BB_MUST_CHECK enum bb_status bb_wal_source_copy(const struct bb_wal_source *source, uint64_t offset,
                                                uint8_t *bytes, size_t size);

/* Drops the loaded block, so that it is read again. */
void bb_wal_source_forget(struct bb_wal_source *source);

#endif
