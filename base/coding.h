/* Integers in files: little-endian fixed width, and canonical LEB128 varints.
 *
 * Encoders append to a bb_buf, or store to memory that the caller has reserved. Decoders read
 * through a cursor that never passes its end. A failed read does not move the cursor and returns
 * false; the caller then reports the damage with bb_corrupt. A varint that is longer than needed,
 * or too large, is rejected. */
#ifndef BB_BASE_CODING_H
#define BB_BASE_CODING_H

#include <string.h>

#include "base/buf.h"

#define BB_VARINT32_SIZE_MAX 5
#define BB_VARINT64_SIZE_MAX 10

static inline uint16_t bb_load16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t bb_load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* A single load where possible: clang splits it into bytes where only parts of the word are
 * used. */
static inline uint64_t bb_load64(const uint8_t *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t value;
    memcpy(&value, p, sizeof(value));
    return value;
#else
    return (uint64_t)bb_load32(p) | (uint64_t)bb_load32(p + 4) << 32;
#endif
}

/* The bits of an IEEE 754 double, which is how doubles are stored. Those of numbers that are not
 * negative have the order of the numbers. */
static inline uint64_t bb_bits_of_double(double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline double bb_double_of_bits(uint64_t bits)
{
    double value = 0;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline void bb_store16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

static inline void bb_store32(uint8_t *p, uint32_t value)
{
    bb_store16(p, (uint16_t)value);
    bb_store16(p + 2, (uint16_t)(value >> 16));
}

static inline void bb_store64(uint8_t *p, uint64_t value)
{
    bb_store32(p, (uint32_t)value);
    bb_store32(p + 4, (uint32_t)(value >> 32));
}

/* Writes value at p, which has space for BB_VARINT64_SIZE_MAX bytes; returns the address after
 * it. */
uint8_t *bb_store_varint(uint8_t *p, uint64_t value);
/* 1 ... BB_VARINT64_SIZE_MAX. */
size_t bb_varint_size(uint64_t value);

BB_MUST_CHECK enum bb_status bb_append_u8(struct bb_buf *buf, uint8_t value);
BB_MUST_CHECK enum bb_status bb_append_u16(struct bb_buf *buf, uint16_t value);
BB_MUST_CHECK enum bb_status bb_append_u32(struct bb_buf *buf, uint32_t value);
BB_MUST_CHECK enum bb_status bb_append_u64(struct bb_buf *buf, uint64_t value);
BB_MUST_CHECK enum bb_status bb_append_double(struct bb_buf *buf, double value);
BB_MUST_CHECK enum bb_status bb_append_varint(struct bb_buf *buf, uint64_t value);
/* varint length, then the bytes. */
BB_MUST_CHECK enum bb_status bb_append_bytes(struct bb_buf *buf, struct bb_bytes bytes);

/* Reads from the front of borrowed bytes. */
struct bb_cursor {
    const uint8_t *position;
    const uint8_t *end;
};

static inline struct bb_cursor bb_cursor_of(struct bb_bytes bytes)
{
    /* NULL + 0 is undefined in C, and empty bytes may have no address. */
    const uint8_t *end = bytes.size == 0 ? bytes.data : bytes.data + bytes.size;
    return (struct bb_cursor){.position = bytes.data, .end = end};
}

static inline size_t bb_cursor_left(const struct bb_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->position);
}

BB_MUST_CHECK bool bb_decode_u8(struct bb_cursor *cursor, uint8_t *ret_value);
BB_MUST_CHECK bool bb_decode_u16(struct bb_cursor *cursor, uint16_t *ret_value);
BB_MUST_CHECK bool bb_decode_u32(struct bb_cursor *cursor, uint32_t *ret_value);
BB_MUST_CHECK bool bb_decode_u64(struct bb_cursor *cursor, uint64_t *ret_value);
/* Any bits: NaN, infinities and both zeros too. */
BB_MUST_CHECK bool bb_decode_double(struct bb_cursor *cursor, double *ret_value);
BB_MUST_CHECK bool bb_decode_varint32(struct bb_cursor *cursor, uint32_t *ret_value);
BB_MUST_CHECK bool bb_decode_varint64(struct bb_cursor *cursor, uint64_t *ret_value);
/* The same. WHY: numbers below 128 need no call. */
BB_MUST_CHECK static inline bool bb_decode_varint64_short(struct bb_cursor *cursor,
                                                          uint64_t *ret_value)
{
    const uint8_t *p = cursor->position;
    if (p == cursor->end || *p >= 0x80)
        return bb_decode_varint64(cursor, ret_value);
    cursor->position = p + 1;
    *ret_value = *p;
    return true;
}
/* size raw bytes, borrowed from the cursor's bytes. */
BB_MUST_CHECK bool bb_decode_raw(struct bb_cursor *cursor, size_t size, struct bb_bytes *ret_bytes);
/* varint length, then the bytes, borrowed. */
BB_MUST_CHECK bool bb_decode_bytes(struct bb_cursor *cursor, struct bb_bytes *ret_bytes);

#endif
