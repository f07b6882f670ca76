/* Rows into both layouts' bytes. */
#include "bloomblock/ribbon/ribbon_rows.h"

#include "base/coding.h"

/* Stores size bytes of a word, at most 8. If there is space, all 8 are stored in one instruction;
 * the next store overwrites the rest. */
static uint8_t *store_columns(uint8_t *at, const uint8_t *end, uint64_t word, uint32_t size)
{
    if (end - at >= 8) {
        bb_store64(at, word);
        return at + size;
    }
    for (uint32_t j = 0; j < size; j++)
        *at++ = (uint8_t)(word >> (8 * j));
    return at;
}

void bb_ribbon_rows_encode(const struct bb_ribbon_rows *rows, uint32_t group_count,
                           uint32_t fingerprint_bits, uint8_t *payload)
{
    const uint8_t *end = payload + (size_t)group_count * fingerprint_bits;
    for (uint32_t group = 0; group < group_count; group++)
        for (uint32_t column = 0; column < fingerprint_bits; column += BB_RIBBON_SLAB_WIDTH) {
            uint32_t left = fingerprint_bits - column;
            payload = store_columns(payload, end, rows->slabs[column / BB_RIBBON_SLAB_WIDTH][group],
                                    left < BB_RIBBON_SLAB_WIDTH ? left : BB_RIBBON_SLAB_WIDTH);
        }
}

/* Bits that are being written, lowest first. */
struct bit_writer {
    uint8_t *at;
    uint32_t pending; /* the incomplete last byte */
    uint32_t fill;    /* its bits, 0 ... 7 */
};

/* 1 to 8 bits. */
static inline void write_bits(struct bit_writer *writer, uint32_t bits, uint32_t count)
{
    writer->pending |= bits << writer->fill;
    writer->fill += count;
    *writer->at = (uint8_t)writer->pending;
    uint32_t whole = writer->fill / 8;
    writer->at += whole;
    writer->pending >>= 8 * whole;
    writer->fill %= 8;
}

void bb_ribbon_rows_encode_bits(const struct bb_ribbon_rows *rows, uint32_t slot_count,
                                uint32_t fingerprint_bits, uint8_t *payload)
{
    struct bit_writer writer = {.at = payload};
    for (uint32_t column = 0; column < fingerprint_bits; column++) {
        const uint64_t *words = rows->slabs[column / BB_RIBBON_SLAB_WIDTH];
        uint32_t shift = column % BB_RIBBON_SLAB_WIDTH * 8;
        uint32_t row = 0;
        for (; row + BB_RIBBON_SLAB_WIDTH <= slot_count; row += BB_RIBBON_SLAB_WIDTH)
            write_bits(&writer, words[row / BB_RIBBON_SLAB_WIDTH] >> shift & 0xff, 8);
        if (row < slot_count)
            write_bits(&writer, words[row / BB_RIBBON_SLAB_WIDTH] >> shift & 0xff,
                       slot_count - row);
    }
    if (writer.fill > 0)
        *writer.at = (uint8_t)writer.pending;
}
