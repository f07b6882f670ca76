/* See line_window.h. */
#include "skip/lines/line_window.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "bb/lines.h"

void bb_line_window_deinit(struct bb_line_window *window)
{
    bb_buf_deinit(&window->buf);
    *window = (struct bb_line_window){0};
}

/* Reads until the buffer has this number of bytes. */
static enum bb_status fill(struct bb_line_window *window, size_t size)
{
    struct bb_buf *buf = &window->buf;
    size_t more = size - buf->size;
    enum bb_status status = bb_buf_reserve(buf, more);
    if (status == BB_OK)
        status = bb_file_read_exactly(window->file, window->offset + buf->size,
                                      buf->data + buf->size, more);
    if (status != BB_OK)
        return status;
    buf->size = size;
    window->reads++;
    window->read_bytes += more;
    return BB_OK;
}

static size_t smaller(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

/* Keeps the bytes that were read after the last whole line, if the next window begins with them. */
static void keep_rest(struct bb_line_window *window, uint64_t begin, uint64_t left)
{
    struct bb_buf *buf = &window->buf;
    size_t used = window->bytes.size;
    bool follows = used > 0 && begin == window->offset + used;
    size_t rest = follows ? smaller(buf->size - used, left) : 0;
    if (rest > 0)
        memmove(buf->data, buf->data + used, rest);
    buf->size = rest;
    window->offset = begin;
    window->bytes = (struct bb_bytes){0};
}

static enum bb_status fail_long_line(const struct bb_line_window *window)
{
    return bb_fail(
        BB_TOO_LARGE,
        "%s: the line at offset %llu has more than %u bytes: lines without an end are not "
        "read",
        window->file->path, (unsigned long long)window->offset, BB_LINE_SIZE_MAX);
}

enum bb_status bb_line_window_load(struct bb_line_window *window, uint64_t begin, uint64_t end)
{
    BB_DEBUG_ASSERT(begin < end);
    uint64_t left = end - begin;
    size_t size = smaller(BB_LINE_WINDOW_BYTES, left);
    struct bb_buf *buf = &window->buf;
    keep_rest(window, begin, left);
    size = size > buf->size ? size : smaller((uint64_t)buf->size + size, left);
    for (;;) {
        size_t searched = buf->size; /* the kept bytes have no line end */
        enum bb_status status = fill(window, size);
        if (status != BB_OK)
            return status;
        const uint8_t *last = memrchr(buf->data + searched, '\n', size - searched);
        size_t whole = last == NULL ? 0 : (size_t)(last - buf->data) + 1;
        if (last == NULL && size > BB_LINE_SIZE_MAX)
            return fail_long_line(window);
        if (size == left)
            whole = size;
        window->bytes = bb_bytes_of(buf->data, whole);
        if (whole > 0)
            return BB_OK;
        size = smaller(smaller((uint64_t)size * 2, (uint64_t)BB_LINE_SIZE_MAX + 1), left);
    }
}
