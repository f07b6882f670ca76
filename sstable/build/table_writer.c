/* Writes a file sequentially through one buffer. See the header. One thread. */
#include "sstable/build/table_writer.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

/* The size of a piece. Each write call except the last writes whole pieces, so its offset is a
 * multiple of this size. A page cache that keeps the bytes of one write together (Linux with large
 * folios) then has a few large pieces of the file instead of many small ones, and later reads find
 * and copy them in fewer steps. */
#define BUFFER_SIZE (256u * 1024)

enum bb_status bb_table_writer_open(struct bb_table_writer *writer, struct bb_file_system *fs,
                                    const char *path)
{
    *writer = (struct bb_table_writer){.fs = fs};
    writer->path = bb_strdup(path);
    if (writer->path == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the name of a table");
    enum bb_status status = bb_buf_reserve(&writer->buffer, BUFFER_SIZE);
    if (status == BB_OK)
        status = bb_file_create(fs, path, &writer->file);
    if (status != BB_OK)
        bb_table_writer_abandon(writer);
    return status;
}

static enum bb_status flush(struct bb_table_writer *writer)
{
    if (writer->buffer.size == 0)
        return BB_OK;
    enum bb_status status = bb_file_append(writer->file, bb_buf_bytes(&writer->buffer));
    bb_buf_reset(&writer->buffer);
    return status;
}

/* Writes whole pieces directly while the buffer is empty, and advances `data`. */
static enum bb_status write_through(struct bb_table_writer *writer, struct bb_bytes *data)
{
    size_t size = data->size - data->size % BUFFER_SIZE;
    if (size == 0)
        return BB_OK;
    enum bb_status status = bb_file_append(writer->file, bb_bytes_of(data->data, size));
    *data = bb_bytes_after(*data, size);
    return status;
}

/* Copies as much as fits into the buffer, and advances `data`. */
static enum bb_status fill(struct bb_table_writer *writer, struct bb_bytes *data)
{
    size_t space = BUFFER_SIZE - writer->buffer.size;
    size_t size = data->size < space ? data->size : space;
    enum bb_status status = bb_buf_append(&writer->buffer, data->data, size);
    *data = bb_bytes_after(*data, size);
    return status;
}

enum bb_status bb_table_writer_append(struct bb_table_writer *writer, struct bb_bytes data)
{
    BB_DEBUG_ASSERT(writer->file != NULL || writer->status != BB_OK);
    enum bb_status status = writer->status;
    size_t size = data.size;
    while (status == BB_OK && data.size > 0) {
        if (writer->buffer.size == 0)
            status = write_through(writer, &data);
        if (status == BB_OK)
            status = fill(writer, &data);
        if (status == BB_OK && writer->buffer.size == BUFFER_SIZE)
            status = flush(writer);
    }
    if (writer->status == BB_OK)
        writer->offset += size;
    writer->status = status;
    return status;
}

enum bb_status bb_table_writer_sync(struct bb_file *file)
{
    enum bb_status status = bb_file_sync(file); /* sync S10 */
    return bb_file_close_after(file, status);
}

enum bb_status bb_table_writer_finish(struct bb_table_writer *writer, struct bb_file **ret_file)
{
    if (writer->status != BB_OK)
        return writer->status;
    struct bb_file *file = writer->file;
    enum bb_status status = flush(writer);
    if (status == BB_OK)
        writer->file = NULL;
    if (status == BB_OK && ret_file == NULL)
        status = bb_table_writer_sync(file);
    writer->status = status;
    if (status != BB_OK)
        return status;
    bb_free(writer->path); /* the file stays */
    writer->path = NULL;
    if (ret_file != NULL) {
        bb_file_write_back(file);
        *ret_file = file;
    }
    return BB_OK;
}

void bb_table_writer_abandon(struct bb_table_writer *writer)
{
    /* Without an open file this writer created no file: the name may belong to another one. */
    bool is_ours = writer->file != NULL || writer->status != BB_OK;
    enum bb_status ignored = bb_file_close(writer->file); /* the file is removed anyway */
    if (is_ours && writer->path != NULL)
        ignored = writer->fs->ops->remove(writer->fs, writer->path);
    (void)ignored;
    bb_free(writer->path);
    bb_buf_deinit(&writer->buffer);
    *writer = (struct bb_table_writer){0};
}
