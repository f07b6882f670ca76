/* Appends bits to a buffer, lowest bit of the first byte first.
 *
 *     fixed     put(value, width)
 *     gamma     n >= 1: as many zeros as n has bits below its highest one, a one, then those bits
 *     Rice      n >= 0: n >> k zeros, a one, then the k low bits
 *     bounded   0 ... count - 1: the low values have one bit less when count is no power of two
 *
 * Sticky: the first failure is kept, and later calls do nothing. Threads: one.
 */
#ifndef BB_SKIP_BITS_BIT_WRITER_H
#define BB_SKIP_BITS_BIT_WRITER_H

#include "base/assert.h"
#include "base/buf.h"

#define BB_BIT_WIDTH_MAX 56 /* of one call: these fit a word after an odd start */

struct bb_bit_writer {
    struct bb_buf *buf; /* borrowed */
    uint64_t pending;   /* bits that are no whole byte yet */
    uint32_t pending_count;
    enum bb_status status;
};

void bb_bit_writer_init(struct bb_bit_writer *writer, struct bb_buf *buf);
/* Moves whole bytes to the buffer. */
void bb_bit_writer_flush(struct bb_bit_writer *writer);

/* width: 0 ... BB_BIT_WIDTH_MAX. REQUIRES: value < 2^width. */
static inline void bb_bit_writer_put(struct bb_bit_writer *writer, uint64_t value, uint32_t width)
{
    BB_DEBUG_ASSERT(width <= BB_BIT_WIDTH_MAX && value >> width == 0);
    if (writer->pending_count + width >= 64)
        bb_bit_writer_flush(writer);
    writer->pending |= value << writer->pending_count;
    writer->pending_count += width;
}

/* The bits of the largest value of 0 ... count - 1; 0 if count is 1. */
static inline uint32_t bb_bit_width(uint64_t count)
{
    return count <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(count - 1);
}

/* value: 1 ... 2^40. */
void bb_bit_writer_put_gamma(struct bb_bit_writer *writer, uint64_t value);
/* shift: 0 ... 40. */
void bb_bit_writer_put_rice(struct bb_bit_writer *writer, uint64_t value, uint32_t shift);
/* REQUIRES: value < count <= 2^55. With w = bb_bit_width(count), the first 2^w - count values have
 * w - 1 bits, and the others have w. The others are moved up by 2^w - count, and their lowest bit
 * is written last. So a reader knows after w - 1 bits whether there is another. WHY no branch: it
 * would be mispredicted half of the time. */
static inline void bb_bit_writer_put_bounded(struct bb_bit_writer *writer, uint64_t value,
                                             uint64_t count)
{
    uint32_t width = bb_bit_width(count);
    BB_DEBUG_ASSERT(value < count);
    if (width == 0)
        return;
    uint64_t short_count = (UINT64_C(1) << width) - count;
    uint64_t moved = value + short_count;
    bool is_short = value < short_count;
    uint64_t longer = moved >> 1 | (moved & 1) << (width - 1);
    bb_bit_writer_put(writer, is_short ? value : longer, width - is_short);
}

/* Fills the last byte with zeros. Returns the first failure. The writer remains usable. */
BB_MUST_CHECK enum bb_status bb_bit_writer_align(struct bb_bit_writer *writer);

#endif
