/* The stored form of a data block. See stored_block.h. Any thread. */
#include "sstable/block/stored_block.h"

#include <lz4.h>

#include "base/assert.h"

/* Compresses the payload into *packed. *ret_saves: this saves at least an eighth. WHY the buffer
 * has space for the worst case: then LZ4 does not check its end, and takes 0.83 to 1.0 of the
 * time. */
static enum bb_status try_lz4(const struct bb_buf *payload, struct bb_buf *packed, bool *ret_saves)
{
    size_t limit = payload->size - payload->size / 8;
    size_t bound = LZ4_COMPRESSBOUND(payload->size);
    *ret_saves = false;
    if (payload->size < 8)
        return BB_OK;
    bb_buf_reset(packed);
    enum bb_status status = bb_buf_reserve(packed, bound + BB_BLOCK_TRAILER_SIZE);
    if (status != BB_OK)
        return status;
    int size = LZ4_compress_default((const char *)payload->data, (char *)packed->data,
                                    (int)payload->size, (int)bound);
    packed->size = size > 0 ? (size_t)size : 0;
    *ret_saves = size > 0 && packed->size <= limit;
    return BB_OK;
}

static enum bb_status append_trailer(struct bb_buf *stored, enum bb_compression compression,
                                     size_t raw_size, struct bb_table_id table, uint64_t offset)
{
    enum bb_status status = bb_append_u8(stored, (uint8_t)compression);
    if (status == BB_OK)
        status = bb_append_u32(stored, (uint32_t)raw_size);
    if (status == BB_OK)
        status = bb_append_u64(
            stored, bb_checksum(table, BB_STORED_BLOCK, offset, stored->data, stored->size));
    return status;
}

enum bb_status bb_stored_block_encode(struct bb_buf *payload, enum bb_compression compression,
                                      struct bb_table_id table, uint64_t offset,
                                      struct bb_buf *packed, struct bb_bytes *ret_stored)
{
    BB_ASSERT(payload->size <= BB_BLOCK_RAW_SIZE_MAX);
    size_t raw_size = payload->size;
    bool saves = false;
    enum bb_status status = BB_OK;
    if (compression == BB_COMPRESSION_LZ4)
        status = try_lz4(payload, packed, &saves);
    struct bb_buf *stored = saves ? packed : payload;
    if (status == BB_OK)
        status = append_trailer(stored, saves ? BB_COMPRESSION_LZ4 : BB_COMPRESSION_NONE, raw_size,
                                table, offset);
    if (status == BB_OK)
        *ret_stored = bb_buf_bytes(stored);
    return status;
}

bool bb_stored_block_is_whole(const uint8_t *stored, size_t size, struct bb_table_id table,
                              uint64_t offset)
{
    BB_ASSERT(size >= BB_BLOCK_TRAILER_SIZE);
    return bb_checksum_matches(table, BB_STORED_BLOCK, offset, stored, size - BB_CHECKSUM_SIZE);
}

enum bb_status bb_stored_block_check(const uint8_t *stored, size_t size, struct bb_table_id table,
                                     struct bb_place place)
{
    BB_ASSERT(size >= BB_BLOCK_TRAILER_SIZE);
    return bb_checksum_check(table, BB_STORED_BLOCK, place.file, place.offset, stored,
                             size - BB_CHECKSUM_SIZE, "data block");
}

enum bb_status bb_stored_block_info(const uint8_t *stored, size_t size, struct bb_place place,
                                    struct bb_stored_block_info *ret_info)
{
    if (size < BB_BLOCK_TRAILER_SIZE)
        return bb_corrupt(place, 0, "a data block of %zu bytes is shorter than its trailer", size);
    size_t payload_size = size - BB_BLOCK_TRAILER_SIZE;
    uint8_t compression = stored[payload_size];
    uint32_t raw_size = bb_load32(stored + payload_size + 1);
    if (compression != BB_COMPRESSION_NONE && compression != BB_COMPRESSION_LZ4)
        return bb_corrupt(place, payload_size, "unknown compression %u of a data block",
                          compression);
    if (raw_size > BB_BLOCK_RAW_SIZE_MAX)
        return bb_corrupt(place, payload_size + 1, "a data block of %u raw bytes: the limit is %u",
                          raw_size, BB_BLOCK_RAW_SIZE_MAX);
    if (compression == BB_COMPRESSION_NONE && raw_size != payload_size)
        return bb_corrupt(place, payload_size + 1, "a data block of %zu bytes stored raw claims %u",
                          payload_size, raw_size);
    if (compression == BB_COMPRESSION_LZ4 &&
        raw_size > BB_LZ4_RATIO_MAX * (uint64_t)payload_size + BB_LZ4_SLACK)
        return bb_corrupt(place, payload_size + 1, "%zu bytes of LZ4 claim to hold %u",
                          payload_size, raw_size);
    *ret_info = (struct bb_stored_block_info){.compression = (enum bb_compression)compression,
                                              .raw_size = raw_size};
    return BB_OK;
}

static enum bb_status decompress(const uint8_t *stored, size_t payload_size, uint32_t raw_size,
                                 struct bb_place place, uint8_t *payload)
{
    int size = LZ4_decompress_safe((const char *)stored, (char *)payload, (int)payload_size,
                                   (int)raw_size);
    if (size < 0 || (uint32_t)size != raw_size)
        return bb_corrupt(place, 0, "%zu bytes of LZ4 give %d raw bytes, expected %u", payload_size,
                          size, raw_size);
    return BB_OK;
}

/* Copies or decompresses the payload of stored bytes into a block. */
static enum bb_status unpack(const uint8_t *stored, const struct bb_stored_block_info *info,
                             size_t payload_size, struct bb_place place, struct bb_block *block)
{
    if (info->compression == BB_COMPRESSION_LZ4)
        return decompress(stored, payload_size, info->raw_size, place, block->payload);
    if (block->payload != stored)
        memcpy(block->payload, stored, info->raw_size);
    return BB_OK;
}

/* Makes a searchable block from stored bytes, in `block` or, if that is NULL, in a new one. Takes
 * the block. */
static enum bb_status fill(const uint8_t *stored, uint32_t size,
                           const struct bb_stored_block_info *info, struct bb_block *block,
                           struct bb_block_spares *spares, const struct bb_comparator *comparator,
                           struct bb_place place, struct bb_block **ret_block)
{
    enum bb_status status = BB_OK;
    if (block == NULL)
        status = bb_block_create(spares, info->raw_size, &block);
    if (status == BB_OK)
        status = unpack(stored, info, size - BB_BLOCK_TRAILER_SIZE, place, block);
    if (status == BB_OK)
        status = bb_block_index(block, info->raw_size, comparator, place);
    if (status == BB_OK)
        *ret_block = block;
    else
        bb_block_unref(block);
    return status;
}

enum bb_status bb_stored_block_decode(struct bb_block **block, uint32_t size,
                                      const struct bb_comparator *comparator, struct bb_place place)
{
    struct bb_stored_block_info info = {0};
    struct bb_block *stored = *block;
    enum bb_status status = bb_stored_block_info(stored->payload, size, place, &info);
    bool is_raw = status == BB_OK && info.compression == BB_COMPRESSION_NONE;
    *block = NULL;
    if (status == BB_OK)
        status = fill(stored->payload, size, &info, is_raw ? stored : NULL, stored->spares,
                      comparator, place, block);
    if (!is_raw)
        bb_block_unref(stored);
    return status;
}

enum bb_status bb_stored_block_decode_scratch(struct bb_block_scratch *scratch,
                                              const uint8_t *stored, uint32_t size, bool is_kept,
                                              struct bb_block_spares *spares,
                                              const struct bb_comparator *comparator,
                                              struct bb_place place, struct bb_block **ret_block)
{
    BB_DEBUG_ASSERT(size >= BB_BLOCK_TRAILER_SIZE);
    struct bb_stored_block_info info = {0};
    struct bb_block *block = NULL;
    enum bb_status status = bb_stored_block_info(stored, size, place, &info);
    if (status != BB_OK)
        return status;
    if (!is_kept)
        block = bb_block_in_scratch(scratch, info.raw_size,
                                    info.compression == BB_COMPRESSION_NONE ? stored : NULL);
    return fill(stored, size, &info, block, spares, comparator, place, ret_block);
}

enum bb_status bb_stored_block_copy(const uint8_t *stored, uint32_t size,
                                    struct bb_block_spares *spares,
                                    const struct bb_comparator *comparator, struct bb_place place,
                                    struct bb_block **ret_block)
{
    return bb_stored_block_decode_scratch(NULL, stored, size, true, spares, comparator, place,
                                          ret_block);
}

enum bb_status bb_stored_block_show(const uint8_t *stored, uint32_t size,
                                    const struct bb_comparator *comparator, struct bb_place place,
                                    struct bb_block **ret_block)
{
    BB_DEBUG_ASSERT(size >= BB_BLOCK_TRAILER_SIZE);
    struct bb_stored_block_info info = {0};
    struct bb_block *block = NULL;
    enum bb_status status = bb_stored_block_info(stored, size, place, &info);
    if (status == BB_OK && info.compression == BB_COMPRESSION_NONE)
        status = bb_block_create_over(stored, info.raw_size, &block);
    if (status == BB_OK && block != NULL)
        status = bb_block_index(block, info.raw_size, comparator, place);
    if (status != BB_OK || block == NULL || block->restart_count > 1) {
        bb_block_unref(block);
        block = NULL;
    }
    if (status == BB_OK)
        *ret_block = block;
    return status;
}
