/* Reads the blocks of a log, exactly up to its size at opening. A shorter read is a failure of the
 * system, not the end of the log. */
#include "kv/wal/wal_source.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "kv/wal/wal_window.h"

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t window_end(const struct bb_wal_source *source)
{
    return source->window.size == 0 ? 0 : source->window_base + source->window.size;
}

enum bb_status bb_wal_source_open(struct bb_wal_source *source, struct bb_file_system *fs,
                                  const char *path, uint64_t seed)
{
    *source = (struct bb_wal_source){.seed = seed};
    source->block = bb_alloc(BB_WAL_BLOCK_SIZE);
    if (source->block == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a block of %s", path);
    enum bb_status status = bb_file_open(fs, path, &source->file);
    if (status == BB_OK)
        status = bb_wal_window_read(fs, path, &source->window);
    if (status == BB_OK)
        status = bb_file_size(source->file, &source->file_size);
    if (status != BB_OK)
        return status;
    source->window_base = bb_wal_window_take(&source->window, seed, source->file_size);
    source->size = max(source->file_size, window_end(source));
    return BB_OK;
}

void bb_wal_source_close(struct bb_wal_source *source)
{
    enum bb_status ignored = bb_file_close(source->file);
    (void)ignored; /* only read, so no data can be lost */
    bb_free(source->block);
    bb_buf_deinit(&source->window);
    *source = (struct bb_wal_source){0};
}

/* Replaces the bytes [offset, offset + size) that the window has. */
static void take_window(const struct bb_wal_source *source, uint64_t offset, uint8_t *bytes,
                        size_t size)
{
    uint64_t begin = max(offset, source->window_base);
    uint64_t end = min(offset + size, window_end(source));
    if (begin < end)
        memcpy(bytes + (begin - offset), source->window.data + (begin - source->window_base),
               (size_t)(end - begin));
}

/* If the file has lost its end, there are zeros between it and the window. */
enum bb_status bb_wal_source_copy(const struct bb_wal_source *source, uint64_t offset,
                                  uint8_t *bytes, size_t size)
{
    BB_DEBUG_ASSERT(offset <= source->size && size <= source->size - offset);
    uint64_t in_file = max(source->file_size, offset) - offset;
    size_t read_size = (size_t)min(in_file, size);
    enum bb_status status =
        read_size == 0 ? BB_OK : bb_file_read_exactly(source->file, offset, bytes, read_size);
    if (status != BB_OK)
        return status;
    memset(bytes + read_size, 0, size - read_size);
    take_window(source, offset, bytes, size);
    return BB_OK;
}

static enum bb_status load(struct bb_wal_source *source, uint64_t block_offset)
{
    size_t size = (size_t)min(source->size - block_offset, BB_WAL_BLOCK_SIZE);
    source->block_size = 0;
    enum bb_status status = bb_wal_source_copy(source, block_offset, source->block, size);
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
