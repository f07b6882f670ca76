/* Reads the bits that bit_writer.h wrote. A read past the end returns 0 and sets is_past_end, which
 * the caller checks once, after its last read.
 *
 * BB_BIT_READER_PAD bytes after the bits must be readable, with any contents.
 */
#ifndef BB_SKIP_BITS_BIT_READER_H
#define BB_SKIP_BITS_BIT_READER_H

#include "base/coding.h"
#include "skip/bits/bit_writer.h"

#define BB_BIT_READER_PAD 8

struct bb_bit_reader {
    const uint8_t *data;
    uint64_t position; /* in bits */
    uint64_t end;
    bool is_past_end;
};

static inline struct bb_bit_reader bb_bit_reader_of(struct bb_bytes bytes)
{
    return (struct bb_bit_reader){.data = bytes.data, .end = (uint64_t)bytes.size * 8};
}

/* At least BB_BIT_WIDTH_MAX bits from the position on. */
static inline uint64_t bb_bit_reader_word(const struct bb_bit_reader *reader)
{
    return bb_load64(reader->data + (reader->position >> 3)) >> (reader->position & 7);
}

static inline uint64_t bb_bit_reader_fail(struct bb_bit_reader *reader)
{
    reader->position = reader->end;
    reader->is_past_end = true;
    return 0;
}

/* width: 0 ... BB_BIT_WIDTH_MAX. */
static inline uint64_t bb_bit_reader_take(struct bb_bit_reader *reader, uint32_t width)
{
    if (width > reader->end - reader->position)
        return bb_bit_reader_fail(reader);
    uint64_t word = bb_bit_reader_word(reader);
    reader->position += width;
    return word & ((UINT64_C(1) << width) - 1);
}

/* Reads zeros up to the next 1 bit, and this bit. Returns the number of zeros. */
static inline uint64_t bb_bit_reader_take_zeros(struct bb_bit_reader *reader)
{
    uint64_t count = 0;
    for (;;) {
        uint64_t left = reader->end - reader->position;
        uint64_t word = bb_bit_reader_word(reader);
        uint64_t zeros = word == 0 ? 64 : (uint64_t)__builtin_ctzll(word);
        if (zeros < BB_BIT_WIDTH_MAX && zeros < left) {
            reader->position += zeros + 1;
            return count + zeros;
        }
        if (left <= BB_BIT_WIDTH_MAX)
            return bb_bit_reader_fail(reader);
        reader->position += BB_BIT_WIDTH_MAX;
        count += BB_BIT_WIDTH_MAX;
    }
}

/* 1 ... 2^41 - 1; 0 past the end or for a larger number. */
static inline uint64_t bb_bit_reader_take_gamma(struct bb_bit_reader *reader)
{
    uint64_t low_bits = bb_bit_reader_take_zeros(reader);
    if (low_bits > 40 || reader->is_past_end)
        return bb_bit_reader_fail(reader);
    return UINT64_C(1) << low_bits | bb_bit_reader_take(reader, (uint32_t)low_bits);
}

/* shift: 0 ... 40. */
static inline uint64_t bb_bit_reader_take_rice(struct bb_bit_reader *reader, uint32_t shift)
{
    uint64_t high = bb_bit_reader_take_zeros(reader);
    return high << shift | bb_bit_reader_take(reader, shift);
}

/* 0 ... count - 1, for any bits. count: 1 ... 2^55. */
static inline uint64_t bb_bit_reader_take_bounded(struct bb_bit_reader *reader, uint64_t count)
{
    uint32_t width = bb_bit_width(count);
    if (width == 0)
        return 0;
    if (width - 1 > reader->end - reader->position)
        return bb_bit_reader_fail(reader);
    uint64_t short_count = (UINT64_C(1) << width) - count;
    uint64_t word = bb_bit_reader_word(reader);
    uint64_t value = word & ((UINT64_C(1) << (width - 1)) - 1);
    if (value < short_count) {
        reader->position += width - 1;
        return value;
    }
    if (width > reader->end - reader->position)
        return bb_bit_reader_fail(reader);
    reader->position += width;
    return (value << 1 | (word >> (width - 1) & 1)) - short_count;
}

#endif
