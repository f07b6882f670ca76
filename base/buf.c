/* Owned, growable bytes. Growth doubles, so that n appended bytes cost O(n) copies.
 * Threads: a buffer belongs to one thread at a time. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

#define CAPACITY_MIN 64

void bb_buf_deinit(struct bb_buf *buf)
{
    if (buf == NULL)
        return;
    bb_free(buf->data);
    *buf = (struct bb_buf){0};
}

static enum bb_status grow(struct bb_buf *buf, size_t needed)
{
    size_t capacity = buf->capacity < CAPACITY_MIN ? CAPACITY_MIN : buf->capacity;
    while (capacity < needed && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    if (capacity < needed)
        capacity = needed;

    uint8_t *data = bb_realloc(buf->data, capacity);
    if (data == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a buffer of %zu bytes", capacity);
    buf->data = data;
    buf->capacity = capacity;
    return BB_OK;
}

enum bb_status bb_buf_reserve(struct bb_buf *buf, size_t extra)
{
    BB_DEBUG_ASSERT(buf->size <= buf->capacity);
    if (extra <= buf->capacity - buf->size)
        return BB_OK;
    if (extra > SIZE_MAX - buf->size)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu more bytes in a buffer of %zu", extra,
                       buf->size);
    return grow(buf, buf->size + extra);
}

enum bb_status bb_buf_append(struct bb_buf *buf, const void *data, size_t size)
{
    if (size == 0)
        return BB_OK;
    enum bb_status status = bb_buf_reserve(buf, size);
    if (status != BB_OK)
        return status;
    memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    return BB_OK;
}

enum bb_status bb_buf_assign(struct bb_buf *buf, struct bb_bytes bytes)
{
    if (bytes.size > buf->capacity) {
        enum bb_status status = grow(buf, bytes.size);
        if (status != BB_OK)
            return status;
    }
    /* bytes may be a part of the buffer; they then fit already, so the buffer was not moved
     * above. */
    if (bytes.size > 0)
        memmove(buf->data, bytes.data, bytes.size);
    buf->size = bytes.size;
    return BB_OK;
}

enum bb_status bb_buf_extend(struct bb_buf *buf, size_t size, uint8_t **ret_data)
{
    /* One byte at least, so that the address is never NULL. */
    enum bb_status status = bb_buf_reserve(buf, size == 0 ? 1 : size);
    if (status != BB_OK)
        return status;
    uint8_t *data = buf->data + buf->size;
    memset(data, 0, size);
    buf->size += size;
    *ret_data = data;
    return BB_OK;
}

static enum bb_status print(struct bb_buf *buf, const char *format, va_list measured,
                            va_list printed)
{
    int length = vsnprintf(NULL, 0, format, measured);
    if (length < 0)
        return bb_fail(BB_INVALID, "a text of more than 2 GiB cannot be printed");
    size_t space = (size_t)length + 1; /* vsnprintf adds a terminator */
    enum bb_status status = bb_buf_reserve(buf, space);
    if (status != BB_OK)
        return status;
    vsnprintf((char *)buf->data + buf->size, space, format, printed);
    buf->size += (size_t)length;
    return BB_OK;
}

enum bb_status bb_buf_print(struct bb_buf *buf, const char *format, ...)
{
    va_list measured;
    va_list printed;
    va_start(measured, format);
    va_copy(printed, measured);
    enum bb_status status = print(buf, format, measured, printed);
    va_end(printed);
    va_end(measured);
    return status;
}
