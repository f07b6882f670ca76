/* See unit_writer.h. */
#include "skip/layout/unit_writer.h"

#include "base/status.h"

#define BUFFER_SIZE (256u * 1024)

enum bb_status bb_unit_writer_open(struct bb_unit_writer *writer, struct bb_file_system *fs,
                                   const char *path, const uint8_t id[BB_SKIP_ID_SIZE])
{
    *writer = (struct bb_unit_writer){.status = BB_OK};
    memcpy(writer->id, id, BB_SKIP_ID_SIZE);
    return bb_file_create(fs, path, &writer->file);
}

void bb_unit_writer_deinit(struct bb_unit_writer *writer)
{
    if (writer->file != NULL)
        (void)!bb_file_close(writer->file);
    writer->file = NULL;
    bb_buf_deinit(&writer->buffer);
}

static void flush(struct bb_unit_writer *writer)
{
    if (writer->status == BB_OK && writer->buffer.size > 0)
        writer->status = bb_file_append(writer->file, bb_buf_bytes(&writer->buffer));
    bb_buf_reset(&writer->buffer);
}

static void put(struct bb_unit_writer *writer, struct bb_bytes bytes)
{
    if (writer->status == BB_OK)
        writer->status = bb_buf_append(&writer->buffer, bytes.data, bytes.size);
    writer->offset += bytes.size;
    if (writer->buffer.size >= BUFFER_SIZE)
        flush(writer);
}

enum bb_status bb_unit_writer_append(struct bb_unit_writer *writer, enum bb_skip_unit type,
                                     struct bb_bytes bytes, uint64_t *ret_offset)
{
    uint8_t checksum[BB_SKIP_CHECKSUM_SIZE];
    uint64_t offset = writer->offset;
    bb_store64(checksum, bb_skip_checksum(writer->id, type, offset, bytes));
    put(writer, bytes);
    put(writer, (struct bb_bytes){.data = checksum, .size = sizeof(checksum)});
    if (writer->status == BB_OK)
        *ret_offset = offset;
    return writer->status;
}

enum bb_status bb_unit_writer_append_chunks(struct bb_unit_writer *writer, struct bb_buf *chunks,
                                            struct bb_bytes ends, uint64_t *ret_offset)
{
    uint64_t offset = writer->offset;
    size_t begin = 0;
    for (size_t i = 0; i < ends.size; i += sizeof(uint32_t)) {
        size_t end = bb_load32(ends.data + i);
        size_t size = end - begin - BB_SKIP_CHECKSUM_SIZE;
        struct bb_bytes chunk = {.data = chunks->data + begin, .size = size};
        bb_store64(chunks->data + begin + size,
                   bb_skip_checksum(writer->id, BB_SKIP_UNIT_DATA, offset + begin, chunk));
        begin = end;
    }
    put(writer, bb_buf_bytes(chunks));
    if (writer->status == BB_OK)
        *ret_offset = offset;
    return writer->status;
}

enum bb_status bb_unit_writer_finish(struct bb_unit_writer *writer, uint64_t directory_offset,
                                     uint32_t directory_size)
{
    uint8_t footer[BB_SKIP_FOOTER_SIZE] = {0};
    size_t signed_size = BB_SKIP_FOOTER_SIZE - BB_SKIP_MAGIC_SIZE - BB_SKIP_CHECKSUM_SIZE;
    bb_store64(footer, directory_offset);
    bb_store64(footer + 8, directory_size);
    bb_store32(footer + 16, BB_SKIP_VERSION);
    memcpy(footer + 20, writer->id, BB_SKIP_ID_SIZE);
    struct bb_bytes fields = {.data = footer, .size = signed_size};
    bb_store64(footer + signed_size,
               bb_skip_checksum(writer->id, BB_SKIP_UNIT_FOOTER, writer->offset, fields));
    memcpy(footer + signed_size + BB_SKIP_CHECKSUM_SIZE, BB_SKIP_MAGIC, BB_SKIP_MAGIC_SIZE);
    put(writer, (struct bb_bytes){.data = footer, .size = sizeof(footer)});
    flush(writer);
    if (writer->status == BB_OK)
        writer->status = bb_file_sync(writer->file); /* sync S21 */
    enum bb_status closed = bb_file_close(writer->file);
    writer->file = NULL;
    if (writer->status == BB_OK)
        writer->status = closed;
    return writer->status;
}
