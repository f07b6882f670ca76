/* Reads the blocks of a log file, exactly up to the file's size at opening. A shorter read is a
 * failure of the system, not the end of the log. */
#include "kv/wal/wal_source.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"

enum bb_status bb_wal_source_open(struct bb_wal_source *source, struct bb_file_system *fs,
                                  const char *path, uint64_t seed)
{
    *source = (struct bb_wal_source){.seed = seed};
    source->block = bb_alloc(BB_WAL_BLOCK_SIZE);
    if (source->block == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a block of %s", path);
    enum bb_status status = bb_file_open(fs, path, &source->file);
    if (status == BB_OK)
        status = bb_file_size(source->file, &source->size);
    return status;
}

void bb_wal_source_close(struct bb_wal_source *source)
{
    enum bb_status ignored = bb_file_close(source->file);
    (void)ignored; /* only read, so no data can be lost */
    bb_free(source->block);
    *source = (struct bb_wal_source){0};
}

static enum bb_status load(struct bb_wal_source *source, uint64_t block_offset)
{
    uint64_t left = source->size - block_offset;
    size_t size = left < BB_WAL_BLOCK_SIZE ? (size_t)left : BB_WAL_BLOCK_SIZE;
    source->block_size = 0;
    enum bb_status status = bb_file_read_exactly(source->file, block_offset, source->block, size);
    if (status != BB_OK)
        return status;
    source->block_offset = block_offset;
    source->block_size = size;
    return BB_OK;
}

enum bb_status bb_wal_source_at(struct bb_wal_source *source, uint64_t offset,
                                struct bb_bytes *ret_rest)
{
    BB_DEBUG_ASSERT(offset < source->size);
    uint64_t block_offset = offset - (offset - source->shift) % BB_WAL_BLOCK_SIZE;
    if (source->block_size == 0 || source->block_offset != block_offset) {
        enum bb_status status = load(source, block_offset);
        if (status != BB_OK)
            return status;
    }
    size_t within = (size_t)(offset - block_offset);
    *ret_rest = bb_bytes_of(source->block + within, source->block_size - within);
    return BB_OK;
}

void bb_wal_source_forget(struct bb_wal_source *source)
{
    source->block_size = 0;
}
