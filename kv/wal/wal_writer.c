/* Appends records to a log.
 *
 * The records of a call are framed into one buffer. The buffered bytes are also in the log's
 * window, so that a crash of the process does not lose it (wal_window.h); the two copies take about
 * 40 ns, a write(2) 400 to 700. The buffer is written to the file in one piece when the window
 * cannot take it, and before a sync. Large records are written in pieces, so that the buffer stays
 * small: a value of 1 GiB is not duplicated, and the copy stays in the processor's cache.
 */
#include "kv/wal/wal_writer.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "kv/wal/wal_window.h"

/* Bytes buffered beyond buffer_bytes before a piece of a large record is written. */
#define PIECE_BYTES ((size_t)1 << 20)

/* A log gets a window at this many appends without a sync between them. WHY not from the start:
 * creating the window takes as long as some dozens of writes, and a store that syncs each commit
 * needs none. */
#define WINDOW_APPENDS 32

struct bb_wal_writer {
    struct bb_file *file; /* owned */
    struct bb_file_system *fs;
    struct bb_wal_identity identity;
    struct bb_wal_window *window; /* NULL: none */
    uint32_t appends_left;        /* until the window is created; 0: not any more */
    uint64_t seed;
    uint64_t running_check;   /* of all fragments */
    uint64_t record_check;    /* of the fragments up to record_end */
    uint64_t size;            /* of the log; the last frames.size bytes are not written yet */
    _Atomic uint64_t durable; /* synced so far */
    uint64_t told;            /* the latest durable offset recorded in the log */
    /* Of the last record; the end of the header before the first. */
    uint64_t record_end;
    size_t buffer_bytes;
    struct bb_buf frames;
    struct bb_error error; /* the sticky failure; BB_OK if none */
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
    return status;
}

/* ---- the window ---- */

/* A failure has no effect but the cost of writes: the log is complete without a window. */
static void create_window(struct bb_wal_writer *writer)
{
    struct bb_error before;
    bb_error_save(&before);
    (void)!bb_wal_window_create(writer->fs, writer->file->path, &writer->identity, &writer->window);
    (void)bb_error_settle(BB_OK, &before);
}

/* True when the buffer is in the window now. */
static bool put_into_window(struct bb_wal_writer *writer)
{
    if (writer->appends_left > 0 && --writer->appends_left == 0)
        create_window(writer);
    return writer->window != NULL &&
           bb_wal_window_put(writer->window, writer->size - writer->frames.size,
                             bb_buf_bytes(&writer->frames));
}

/* Makes the buffered records survive a crash of the process, unless the buffer may lose them. */
static enum bb_status publish(struct bb_wal_writer *writer)
{
    if (writer->frames.size <= writer->buffer_bytes)
        return BB_OK;
    if (writer->buffer_bytes == 0 && put_into_window(writer))
        return BB_OK;
    return write_frames(writer);
}

/* Call when the file has all records. */
static void remove_window(struct bb_wal_writer *writer)
{
    bb_wal_window_remove(writer->window, writer->fs);
    writer->window = NULL;
    writer->appends_left = 0;
}

/* ---- records ---- */

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
    writer->fs = fs;
    writer->identity = identity;
    writer->appends_left = WINDOW_APPENDS;
    writer->seed = bb_wal_format_seed(&identity);
    writer->running_check = writer->seed;
    writer->record_check = writer->seed;
    writer->size = BB_WAL_HEADER_SIZE;
    writer->record_end = BB_WAL_HEADER_SIZE;
    writer->buffer_bytes = buffer_bytes;

    uint8_t header[BB_WAL_HEADER_SIZE];
    bb_wal_format_encode_header(&identity, header);
    status = stick(writer, bb_file_create(fs, path, &writer->file));
    if (status == BB_OK)
        status = stick(writer, bb_file_append(writer->file, bb_bytes_of(header, sizeof(header))));
    if (status != BB_OK) {
        /* The file is unreferenced; on a full disk each attempt would leave one. */
        if (writer->file != NULL)
            (void)!fs->ops->remove(fs, path);
        return bb_wal_writer_close(writer); /* returns the sticky failure */
    }
    *ret_writer = writer;
    return BB_OK;
}

/* Pads a block whose end is too small for a fragment with zeros. */
static void pad_block(struct bb_wal_writer *writer)
{
    size_t left = bb_wal_block_left(writer->size);
    if (left >= BB_WAL_FRAGMENT_SIZE_MIN)
        return;
    memset(writer->frames.data + writer->frames.size, 0, left);
    writer->frames.size += left;
    writer->size += left;
}

/* The body of a record, in pieces. */
struct body {
    struct bb_bytes parts[3];
    size_t size; /* remaining bytes */
};

static void take(struct body *body, uint8_t *to, size_t size)
{
    body->size -= size;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(body->parts) && size > 0; i++) {
        struct bb_bytes *part = &body->parts[i];
        size_t taken = part->size < size ? part->size : size;
        if (taken == 0)
            continue;
        memcpy(to, part->data, taken);
        *part = bb_bytes_of(part->data + taken, part->size - taken);
        to += taken;
        size -= taken;
    }
}

/* Frames the next `size` bytes as one fragment. REQUIRES: frames and the block have space. */
static void frame(struct bb_wal_writer *writer, enum bb_wal_fragment_type type, struct body *body,
                  size_t size)
{
    BB_DEBUG_ASSERT(writer->frames.capacity - writer->frames.size >= BB_WAL_FRAGMENT_HEADER + size);
    BB_DEBUG_ASSERT(writer->size % BB_WAL_BLOCK_SIZE + BB_WAL_FRAGMENT_HEADER + size <=
                    BB_WAL_BLOCK_SIZE);
    uint8_t *fragment = writer->frames.data + writer->frames.size;
    uint8_t *bytes = fragment + BB_WAL_FRAGMENT_HEADER;
    take(body, bytes, size);
    uint64_t check =
        bb_wal_format_check(writer->seed, writer->size, type, bb_bytes_of(bytes, size));
    bb_store64(fragment, check);
    bb_store16(fragment + 8, (uint16_t)size);
    fragment[10] = (uint8_t)type;
    writer->running_check = bb_wal_running_check(writer->running_check, check);
    writer->frames.size += BB_WAL_FRAGMENT_HEADER + size;
    writer->size += BB_WAL_FRAGMENT_HEADER + size;
}

static enum bb_wal_fragment_type type_of(bool is_first, bool is_last)
{
    if (is_first)
        return is_last ? BB_WAL_FULL : BB_WAL_FIRST;
    return is_last ? BB_WAL_LAST : BB_WAL_MIDDLE;
}

static size_t gathered_max(const struct bb_wal_writer *writer)
{
    return writer->buffer_bytes + PIECE_BYTES;
}

static enum bb_status frame_record(struct bb_wal_writer *writer, struct bb_bytes head,
                                   struct bb_bytes tail)
{
    uint8_t durable[BB_WAL_DURABLE_SIZE];
    writer->told = bb_wal_writer_durable(writer);
    bb_store64(durable, writer->told);
    struct body body = {.parts = {bb_bytes_of(durable, sizeof(durable)), head, tail},
                        .size = sizeof(durable) + head.size + tail.size};
    enum bb_status status = BB_OK;
    for (bool is_first = true; body.size > 0 && status == BB_OK; is_first = false) {
        pad_block(writer);
        size_t size = bb_wal_block_left(writer->size) - BB_WAL_FRAGMENT_HEADER;
        if (size > body.size)
            size = body.size;
        frame(writer, type_of(is_first, size == body.size), &body, size);
        if (writer->frames.size > gathered_max(writer))
            status = write_frames(writer);
    }
    writer->record_end = writer->size;
    writer->record_check = writer->running_check;
    return status;
}

/* The maximum size of a record's frames: its bytes, and a header and padding for each block that it
 * touches. */
static size_t frames_size_max(size_t payload_size)
{
    size_t bytes = payload_size + BB_WAL_DURABLE_SIZE;
    size_t blocks = bytes / (BB_WAL_BLOCK_SIZE - 2 * BB_WAL_FRAGMENT_SIZE_MIN) + 2;
    return bytes + blocks * (BB_WAL_FRAGMENT_HEADER + BB_WAL_FRAGMENT_SIZE_MIN);
}

static enum bb_status check_size(struct bb_bytes head, struct bb_bytes tail)
{
    size_t size = head.size + tail.size;
    if (size <= BB_WAL_PAYLOAD_SIZE_MAX)
        return BB_OK;
    return bb_fail(BB_TOO_LARGE, "a log record of %zu bytes: the limit is %u", size,
                   BB_WAL_PAYLOAD_SIZE_MAX);
}

/* Makes space for this many more bytes, or for one buffer and one more fragment. */
static enum bb_status make_space(struct bb_wal_writer *writer, size_t size)
{
    size_t most = gathered_max(writer) + 2 * BB_WAL_BLOCK_SIZE;
    size_t needed = writer->frames.size + size;
    if (needed > most)
        needed = most;
    return bb_buf_reserve(&writer->frames, needed - writer->frames.size);
}

enum bb_status bb_wal_writer_append(struct bb_wal_writer *writer, const struct bb_bytes *payloads,
                                    size_t count)
{
    size_t size = 0;
    enum bb_status status = usable(writer);
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        status = check_size(payloads[i], (struct bb_bytes){0});
        size += frames_size_max(payloads[i].size);
    }
    if (status == BB_OK)
        status = make_space(writer, size);
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = frame_record(writer, payloads[i], (struct bb_bytes){0});
    if (status != BB_OK)
        return status;
    return publish(writer);
}

enum bb_status bb_wal_writer_append_parts(struct bb_wal_writer *writer, struct bb_bytes head,
                                          struct bb_bytes tail)
{
    enum bb_status status = usable(writer);
    if (status == BB_OK)
        status = check_size(head, tail);
    if (status == BB_OK)
        status = make_space(writer, frames_size_max(head.size + tail.size));
    if (status == BB_OK)
        status = frame_record(writer, head, tail);
    if (status != BB_OK)
        return status;
    return publish(writer);
}

enum bb_status bb_wal_writer_flush(struct bb_wal_writer *writer)
{
    enum bb_status status = usable(writer);
    if (status == BB_OK)
        status = write_frames(writer);
    if (status == BB_OK)
        remove_window(writer);
    return status;
}

enum bb_status bb_wal_writer_sync(struct bb_wal_writer *writer)
{
    enum bb_status status = usable(writer);
    if (status == BB_OK)
        status = write_frames(writer);
    if (status == BB_OK)
        status = stick(writer, bb_file_sync(writer->file));
    if (writer->appends_left > 0)
        writer->appends_left = WINDOW_APPENDS;
    if (status == BB_OK)
        atomic_store_explicit(&writer->durable, writer->size, memory_order_release);
    return status;
}

bool bb_wal_writer_has_window(const struct bb_wal_writer *writer)
{
    return writer->window != NULL;
}

uint64_t bb_wal_writer_size(const struct bb_wal_writer *writer)
{
    return writer->size;
}

struct bb_wal_end bb_wal_writer_end(const struct bb_wal_writer *writer)
{
    return (struct bb_wal_end){.log_number = writer->identity.log_number,
                               .offset = writer->record_end,
                               .check = writer->record_check};
}

uint64_t bb_wal_writer_durable(const struct bb_wal_writer *writer)
{
    return atomic_load_explicit(&writer->durable, memory_order_acquire);
}

/* Without the mark the last synced records would look like a tail that was never synced. */
static enum bb_status frame_mark(struct bb_wal_writer *writer)
{
    uint64_t synced = bb_wal_writer_durable(writer);
    if (synced == writer->told || writer->told >= writer->record_end)
        return BB_OK;
    enum bb_status status = bb_buf_reserve(&writer->frames, frames_size_max(0));
    if (status != BB_OK)
        return status;
    uint8_t durable[BB_WAL_DURABLE_SIZE];
    bb_store64(durable, synced);
    pad_block(writer);
    struct body body = {.parts = {bb_bytes_of(durable, sizeof(durable))}, .size = sizeof(durable)};
    frame(writer, BB_WAL_MARK, &body, sizeof(durable));
    writer->told = synced;
    return BB_OK;
}

enum bb_status bb_wal_writer_mark(struct bb_wal_writer *writer)
{
    enum bb_status status = usable(writer);
    if (status == BB_OK)
        status = frame_mark(writer);
    return status == BB_OK ? write_frames(writer) : status;
}

enum bb_status bb_wal_writer_close(struct bb_wal_writer *writer)
{
    if (writer == NULL)
        return BB_OK;
    enum bb_status status = usable(writer);
    if (status == BB_OK) {
        /* Even without memory for the mark, buffered records are still written. */
        status = frame_mark(writer);
        enum bb_status written = write_frames(writer);
        status = status == BB_OK ? written : status;
    }
    struct bb_error first = status == BB_OK ? (struct bb_error){.status = BB_OK} : *bb_error_last();
    if (status == BB_OK)
        remove_window(writer);
    bb_wal_window_destroy(writer->window); /* it has records that could not be written */
    enum bb_status closed = bb_file_close(writer->file);
    bb_buf_deinit(&writer->frames);
    bb_free(writer);
    return first.status == BB_OK ? closed : bb_error_restore(&first);
}
