/* Owned, growable bytes (struct bb_buf, declared in bb/base.h). A zeroed struct is a valid empty
 * buffer. */
#ifndef BB_BASE_BUF_H
#define BB_BASE_BUF_H

#include "bb/base.h"

/* Ensures capacity for at least extra more bytes beyond size; contents are kept. */
BB_MUST_CHECK enum bb_status bb_buf_reserve(struct bb_buf *buf, size_t extra);
/* Appends size zero bytes and returns their address, valid until the next growth. */
BB_MUST_CHECK enum bb_status bb_buf_extend(struct bb_buf *buf, size_t size, uint8_t **ret_data);
/* Appends formatted text, like printf, without the terminator. */
BB_MUST_CHECK enum bb_status bb_buf_print(struct bb_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Empties the buffer and keeps its memory. */
static inline void bb_buf_reset(struct bb_buf *buf)
{
    buf->size = 0;
}

static inline struct bb_bytes bb_buf_bytes(const struct bb_buf *buf)
{
    return (struct bb_bytes){.data = buf->data, .size = buf->size};
}

#endif
