/* See block.h. */
#include "tools/leveldb/block.h"

#include <inttypes.h>

#ifdef HAS_SNAPPY
#include <snappy-c.h>
#endif

#include "base/buf.h"
#include "base/bytes.h"

/* Three bytes of Snappy give at most 64. */
#define SNAPPY_RATIO_MAX 22

enum compression { NONE = 0, SNAPPY = 1 };

bool block_handle_decode(struct bb_cursor *cursor, struct block_handle *ret_handle)
{
    return bb_decode_varint64(cursor, &ret_handle->offset) &&
           bb_decode_varint64(cursor, &ret_handle->size);
}

void block_deinit(struct block *block)
{
    bb_buf_deinit(&block->stored);
    bb_buf_deinit(&block->decoded);
    bb_buf_deinit(&block->key);
    *block = (struct block){0};
}

#ifdef HAS_SNAPPY
static enum bb_status decompress(struct block *block, struct bb_bytes stored,
                                 struct bb_bytes *ret_bytes)
{
    size_t size = 0;
    uint8_t *bytes = NULL;
    const char *input = (const char *)stored.data;
    if (snappy_uncompressed_length(input, stored.size, &size) != SNAPPY_OK ||
        size / SNAPPY_RATIO_MAX > stored.size)
        return bb_corrupt(block->place, 0, "not a block of Snappy");
    bb_buf_reset(&block->decoded);
    enum bb_status status = bb_buf_extend(&block->decoded, size, &bytes);
    if (status != BB_OK)
        return status;
    if (size > 0 && snappy_uncompress(input, stored.size, (char *)bytes, &size) != SNAPPY_OK)
        return bb_corrupt(block->place, 0, "not a block of Snappy");
    *ret_bytes = bb_buf_bytes(&block->decoded);
    return BB_OK;
}
#else
static enum bb_status decompress(struct block *block, struct bb_bytes stored,
                                 struct bb_bytes *ret_bytes)
{
    (void)stored;
    (void)ret_bytes;
    return bb_fail(BB_UNSUPPORTED,
                   "%s: the block at offset %" PRIu64
                   " is compressed with Snappy, which this bloomblock was built without: build it "
                   "where snappy-c.h is installed (Debian: libsnappy-dev)",
                   block->place.file, block->place.offset);
}
#endif

static enum bb_status decode(struct block *block, size_t size, const struct crc32c *crc,
                             struct bb_bytes *ret_bytes)
{
    const uint8_t *bytes = block->stored.data;
    uint32_t stored = bb_load32(bytes + size + 1);
    uint32_t found = crc32c_mask(crc32c_of(crc, bb_bytes_of(bytes, size + 1)));
    if (stored != found)
        return bb_corrupt(block->place, size + 1,
                          "the block has the checksum %08x, its bytes have %08x", stored, found);
    *ret_bytes = bb_bytes_of(bytes, size);
    if (bytes[size] == SNAPPY)
        return decompress(block, *ret_bytes, ret_bytes);
    if (bytes[size] == NONE)
        return BB_OK;
    return bb_fail(BB_UNSUPPORTED,
                   "%s: the block at offset %" PRIu64
                   " has the compression %u; 0 (none) and 1 (Snappy) can be read, others are not "
                   "LevelDB's own",
                   block->place.file, block->place.offset, bytes[size]);
}

static enum bb_status find_entries(struct block *block, struct bb_bytes bytes)
{
    uint64_t restarts = bytes.size < 4 ? 0 : bb_load32(bytes.data + bytes.size - 4);
    if (bytes.size < 4 || restarts > (bytes.size - 4) / 4)
        return bb_corrupt(block->place, 0, "a block of %zu bytes with %" PRIu64 " restarts",
                          bytes.size, restarts);
    size_t size = bytes.size - 4 - 4 * (size_t)restarts;
    block->entries = bb_cursor_of(bb_bytes_of(bytes.data, size));
    bb_buf_reset(&block->key);
    return BB_OK;
}

enum bb_status block_read(struct block *block, struct bb_file *file, uint64_t file_size,
                          struct block_handle handle, const struct crc32c *crc)
{
    uint8_t *buffer = NULL;
    struct bb_bytes bytes = {0};
    block->place = (struct bb_place){.file = file->path, .offset = handle.offset};
    if (handle.offset > file_size || file_size - handle.offset < BLOCK_TRAILER_SIZE ||
        handle.size > file_size - handle.offset - BLOCK_TRAILER_SIZE)
        return bb_corrupt(block->place, 0,
                          "a block of %" PRIu64 " bytes reaches beyond the file's %" PRIu64,
                          handle.size, file_size);
    bb_buf_reset(&block->stored);
    enum bb_status status =
        bb_buf_extend(&block->stored, (size_t)handle.size + BLOCK_TRAILER_SIZE, &buffer);
    if (status == BB_OK)
        status = bb_file_read_exactly(file, handle.offset, buffer,
                                      (size_t)handle.size + BLOCK_TRAILER_SIZE);
    if (status == BB_OK)
        status = decode(block, (size_t)handle.size, crc, &bytes);
    return status == BB_OK ? find_entries(block, bytes) : status;
}

enum bb_status block_next(struct block *block, bool *ret_has)
{
    uint32_t shared = 0;
    uint32_t unshared = 0;
    uint32_t value_size = 0;
    struct bb_bytes rest = {0};
    struct bb_cursor *entries = &block->entries;
    *ret_has = bb_cursor_left(entries) > 0;
    if (!*ret_has)
        return BB_OK;
    if (!bb_decode_varint32(entries, &shared) || !bb_decode_varint32(entries, &unshared) ||
        !bb_decode_varint32(entries, &value_size) || shared > block->key.size ||
        !bb_decode_raw(entries, unshared, &rest) ||
        !bb_decode_raw(entries, value_size, &block->value))
        return bb_corrupt(block->place, 0, "an entry of the block does not fit into it");
    block->key.size = shared;
    return bb_buf_append(&block->key, rest.data, rest.size);
}
