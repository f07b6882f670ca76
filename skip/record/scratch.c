/* See scratch.h. */
#include "skip/record/scratch.h"

#include "base/assert.h"
#include "base/buf.h"

void bb_scratch_reset(struct bb_scratch *scratch, size_t capacity)
{
    bb_buf_reset(&scratch->buf);
    scratch->capacity = capacity;
    scratch->has_failed = false;
}

uint8_t *bb_scratch_take(struct bb_scratch *scratch, size_t size)
{
    struct bb_buf *buf = &scratch->buf;
    if (scratch->has_failed)
        return NULL;
    BB_ASSERT(size <= scratch->capacity - buf->size);
    if (buf->size == 0 && bb_buf_reserve(buf, scratch->capacity) != BB_OK) {
        scratch->has_failed = true;
        return NULL;
    }
    uint8_t *taken = buf->data + buf->size;
    buf->size += size;
    return taken;
}

void bb_scratch_shrink(struct bb_scratch *scratch, size_t unused)
{
    scratch->buf.size -= unused;
}
