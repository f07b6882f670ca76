/* See bit_writer.h. */
#include "skip/bits/bit_writer.h"

#include "base/coding.h"

void bb_bit_writer_init(struct bb_bit_writer *writer, struct bb_buf *buf)
{
    *writer = (struct bb_bit_writer){.buf = buf, .status = BB_OK};
}

void bb_bit_writer_flush(struct bb_bit_writer *writer)
{
    if (writer->status == BB_OK)
        writer->status = bb_buf_reserve(writer->buf, sizeof(writer->pending));
    if (writer->status == BB_OK) {
        bb_store64(writer->buf->data + writer->buf->size, writer->pending);
        writer->buf->size += writer->pending_count / 8;
    }
    writer->pending = writer->pending_count < 8 ? writer->pending
                                                : writer->pending >> (writer->pending_count & ~7u);
    writer->pending_count %= 8;
}

static void put_zeros(struct bb_bit_writer *writer, uint64_t count)
{
    for (; count > BB_BIT_WIDTH_MAX; count -= BB_BIT_WIDTH_MAX)
        bb_bit_writer_put(writer, 0, BB_BIT_WIDTH_MAX);
    bb_bit_writer_put(writer, 0, (uint32_t)count);
}

void bb_bit_writer_put_gamma(struct bb_bit_writer *writer, uint64_t value)
{
    BB_DEBUG_ASSERT(value >= 1 && value <= UINT64_C(1) << 40);
    uint32_t low_bits = 63 - (uint32_t)__builtin_clzll(value);
    put_zeros(writer, low_bits);
    bb_bit_writer_put(writer, 1, 1);
    bb_bit_writer_put(writer, value - (UINT64_C(1) << low_bits), low_bits);
}

void bb_bit_writer_put_rice(struct bb_bit_writer *writer, uint64_t value, uint32_t shift)
{
    put_zeros(writer, value >> shift);
    bb_bit_writer_put(writer, 1, 1);
    bb_bit_writer_put(writer, value & ((UINT64_C(1) << shift) - 1), shift);
}

enum bb_status bb_bit_writer_align(struct bb_bit_writer *writer)
{
    if (writer->pending_count % 8 != 0)
        bb_bit_writer_put(writer, 0, 8 - writer->pending_count % 8);
    bb_bit_writer_flush(writer);
    return writer->status;
}
