/* Appends bits to a buffer, lowest bit of the first byte first.
 *
 *     fixed     put(value, width)
 *     gamma     n >= 1: as many zeros as n has bits below its highest one, a one, then those bits
 *     Rice      n >= 0: n >> k zeros, a one, then the k low bits
 *     bounded   0 ... count - 1: the low values have one bit less when count is no power of two
 *
 * Sticky: the first failure is kept, and what follows does nothing. Threads: one.
 */
#ifndef BB_SKIP_INDEX_BIT_WRITER_H
#define BB_SKIP_INDEX_BIT_WRITER_H

#include "base/buf.h"

#define BB_BIT_WIDTH_MAX 56 /* of one call: what a word holds after an odd start */

struct bb_bit_writer {
    struct bb_buf *buf; /* borrowed */
    uint64_t pending;   /* bits that are no whole byte yet */
    uint32_t pending_count;
    enum bb_status status;
};

void bb_bit_writer_init(struct bb_bit_writer *writer, struct bb_buf *buf);
/* width: 0 ... BB_BIT_WIDTH_MAX. REQUIRES: value < 2^width. */
void bb_bit_writer_put(struct bb_bit_writer *writer, uint64_t value, uint32_t width);
/* value: 1 ... 2^40. */
void bb_bit_writer_put_gamma(struct bb_bit_writer *writer, uint64_t value);
/* shift: 0 ... 40. */
void bb_bit_writer_put_rice(struct bb_bit_writer *writer, uint64_t value, uint32_t shift);
/* REQUIRES: value < count <= 2^32. */
void bb_bit_writer_put_bounded(struct bb_bit_writer *writer, uint64_t value, uint64_t count);
/* Fills the last byte with zeros and gives the first failure. The writer may be used further. */
BB_MUST_CHECK enum bb_status bb_bit_writer_align(struct bb_bit_writer *writer);

/* Bits of the largest of count values: 0 for one value. */
static inline uint32_t bb_bit_width(uint64_t count)
{
    return count <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(count - 1);
}

#endif
