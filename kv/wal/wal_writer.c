/* Appends records to a log.
 *
 * A call's records are framed into one buffer, which is then appended to the file as a whole: an
 * acknowledged record costs one write(2), and a group of them too. The copy is some 20 ns where the
 * system call is 400.
 */
#include "kv/wal/wal_writer.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"

/* A larger buffer is given back after use: one huge value must not keep its size in memory for
 * ever. */
#define KEPT_BUFFER_BYTES ((size_t)1 << 20)

struct bb_wal_writer {
    struct bb_file *file; /* owned */
    uint64_t seed;
    uint64_t size;    /* of the log; the last frames.size bytes of it are not written yet */
    uint64_t durable; /* synced so far */
    uint64_t told;    /* the latest durable offset that stands in the log */
    size_t buffer_bytes;
    struct bb_buf frames;
    struct bb_error error; /* the failure that sticks; BB_OK: none */
};

static enum bb_status stick(struct bb_wal_writer *writer, enum bb_status status)
{
    if (status != BB_OK)
        writer->error = *bb_error_last();
    return status;
}

static enum bb_status usable(const struct bb_wal_writer *writer)
{
    return writer->error.status == BB_OK ? BB_OK : bb_error_restore(&writer->error);
}

static enum bb_status write_frames(struct bb_wal_writer *writer)
{
    if (writer->frames.size == 0)
        return BB_OK;
    enum bb_status status =
        stick(writer, bb_file_append(writer->file, bb_buf_bytes(&writer->frames)));
    bb_buf_reset(&writer->frames);
    if (writer->frames.capacity > KEPT_BUFFER_BYTES + writer->buffer_bytes)
        bb_buf_deinit(&writer->frames);
    return status;
}

enum bb_status bb_wal_writer_create(struct bb_file_system *fs, const char *path,
                                    uint64_t log_number,
                                    const uint8_t store_id[BB_WAL_STORE_ID_SIZE],
                                    size_t buffer_bytes, struct bb_wal_writer **ret_writer)
{
    struct bb_wal_identity identity = bb_wal_identity(log_number, store_id);
    enum bb_status status = BB_OK;
    struct bb_wal_writer *writer = bb_alloc_zeroed(1, sizeof(*writer));
    if (writer == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the writer of %s", path);
    writer->seed = bb_wal_seed(&identity);
    writer->size = BB_WAL_HEADER_SIZE;
    writer->buffer_bytes = buffer_bytes;

    uint8_t header[BB_WAL_HEADER_SIZE];
    bb_wal_header_encode(&identity, header);
    status = stick(writer, bb_file_create(fs, path, &writer->file));
    if (status == BB_OK)
        status = stick(writer, bb_file_append(writer->file, bb_bytes_of(header, sizeof(header))));
    if (status != BB_OK)
        return bb_wal_writer_close(writer); /* gives the failure that stuck */
    *ret_writer = writer;
    return BB_OK;
}

/* Where the next fragment goes: zeros fill a block's end that is too small for one. */
static void pad_block(struct bb_wal_writer *writer)
{
    size_t left = bb_wal_block_left(writer->size);
    if (left >= BB_WAL_FRAGMENT_SIZE_MIN)
        return;
    memset(writer->frames.data + writer->frames.size, 0, left);
    writer->frames.size += left;
    writer->size += left;
}

/* One fragment whose body is head, then part. REQUIRES: room in frames and in the block. */
static void frame(struct bb_wal_writer *writer, enum bb_wal_fragment_type type,
                  struct bb_bytes head, struct bb_bytes part)
{
    uint8_t *fragment = writer->frames.data + writer->frames.size;
    uint8_t *body = fragment + BB_WAL_FRAGMENT_HEADER;
    size_t body_size = head.size + part.size;
    if (head.size > 0)
        memcpy(body, head.data, head.size);
    if (part.size > 0)
        memcpy(body + head.size, part.data, part.size);
    bb_store64(fragment,
               bb_wal_check(writer->seed, writer->size, type, bb_bytes_of(body, body_size)));
    bb_store16(fragment + 8, (uint16_t)body_size);
    fragment[10] = (uint8_t)type;
    writer->frames.size += BB_WAL_FRAGMENT_HEADER + body_size;
    writer->size += BB_WAL_FRAGMENT_HEADER + body_size;
}

static enum bb_wal_fragment_type type_of(bool is_first, bool is_last)
{
    if (is_first)
        return is_last ? BB_WAL_FULL : BB_WAL_FIRST;
    return is_last ? BB_WAL_LAST : BB_WAL_MIDDLE;
}

static void frame_record(struct bb_wal_writer *writer, struct bb_bytes payload)
{
    uint8_t durable[BB_WAL_DURABLE_SIZE];
    bb_store64(durable, writer->durable);
    writer->told = writer->durable;
    struct bb_bytes head = bb_bytes_of(durable, sizeof(durable));
    bool is_last = false;
    for (bool is_first = true; !is_last; is_first = false) {
        pad_block(writer);
        size_t room = bb_wal_block_left(writer->size) - BB_WAL_FRAGMENT_HEADER - head.size;
        struct bb_bytes part = payload;
        if (part.size > room)
            part.size = room;
        is_last = part.size == payload.size;
        frame(writer, type_of(is_first, is_last), head, part);
        payload.size -= part.size;
        payload.data = is_last ? NULL : payload.data + part.size;
        head.size = 0;
    }
}

/* What a record's frames may take: its bytes, and a header and padding for each block that it
 * touches. */
static size_t frames_size_max(size_t payload_size)
{
    size_t bytes = payload_size + BB_WAL_DURABLE_SIZE;
    size_t blocks = bytes / (BB_WAL_BLOCK_SIZE - 2 * BB_WAL_FRAGMENT_SIZE_MIN) + 2;
    return bytes + blocks * (BB_WAL_FRAGMENT_HEADER + BB_WAL_FRAGMENT_SIZE_MIN);
}

static enum bb_status make_room(struct bb_wal_writer *writer, const struct bb_bytes *payloads,
                                size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        if (payloads[i].size > BB_WAL_PAYLOAD_SIZE_MAX)
            return bb_fail(BB_TOO_LARGE, "a log record of %zu bytes: the limit is %u",
                           payloads[i].size, BB_WAL_PAYLOAD_SIZE_MAX);
        size += frames_size_max(payloads[i].size);
    }
    return bb_buf_reserve(&writer->frames, size);
}

enum bb_status bb_wal_writer_append(struct bb_wal_writer *writer, const struct bb_bytes *payloads,
                                    size_t count)
{
    enum bb_status status = usable(writer);
    if (status == BB_OK)
        status = make_room(writer, payloads, count);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        frame_record(writer, payloads[i]);
    return writer->frames.size > writer->buffer_bytes ? write_frames(writer) : BB_OK;
}

enum bb_status bb_wal_writer_flush(struct bb_wal_writer *writer)
{
    enum bb_status status = usable(writer);
    return status == BB_OK ? write_frames(writer) : status;
}

enum bb_status bb_wal_writer_sync(struct bb_wal_writer *writer)
{
    enum bb_status status = bb_wal_writer_flush(writer);
    if (status == BB_OK)
        status = stick(writer, bb_file_sync(writer->file));
    if (status == BB_OK)
        writer->durable = writer->size;
    return status;
}

uint64_t bb_wal_writer_size(const struct bb_wal_writer *writer)
{
    return writer->size;
}

uint64_t bb_wal_writer_durable(const struct bb_wal_writer *writer)
{
    return writer->durable;
}

/* Without the mark the last synced records would look like a tail that nobody had synced. */
static enum bb_status mark(struct bb_wal_writer *writer)
{
    if (writer->durable == writer->told)
        return BB_OK;
    enum bb_status status = bb_buf_reserve(&writer->frames, frames_size_max(0));
    if (status != BB_OK)
        return status;
    uint8_t durable[BB_WAL_DURABLE_SIZE];
    bb_store64(durable, writer->durable);
    pad_block(writer);
    frame(writer, BB_WAL_MARK, bb_bytes_of(durable, sizeof(durable)), (struct bb_bytes){0});
    return BB_OK;
}

enum bb_status bb_wal_writer_close(struct bb_wal_writer *writer)
{
    if (writer == NULL)
        return BB_OK;
    enum bb_status status = usable(writer);
    if (status == BB_OK) {
        /* Without memory for the mark, what was gathered is still to be written. */
        status = mark(writer);
        enum bb_status written = write_frames(writer);
        status = status == BB_OK ? written : status;
    }
    struct bb_error first = status == BB_OK ? (struct bb_error){.status = BB_OK} : *bb_error_last();
    enum bb_status closed = bb_file_close(writer->file);
    bb_buf_deinit(&writer->frames);
    bb_free(writer);
    return first.status == BB_OK ? closed : bb_error_restore(&first);
}
