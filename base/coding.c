/* Integers in files.
 *
 *   fixed    little-endian, 1, 2, 4 or 8 bytes
 *   varint   groups of 7 bits, lowest first; bit 7 means that another byte follows
 *            1 byte up to 127, 2 bytes up to 16383, ..., 10 bytes from 2^63 on
 *
 * Every number has exactly one varint: a final byte of 0 after another byte is rejected, and so are
 * numbers above 64 bits. Two files with equal contents are then equal byte for byte, and a damaged
 * length is detected where it is decoded. */
#include "base/coding.h"

uint8_t *bb_store_varint(uint8_t *p, uint64_t value)
{
    while (value >= 0x80) {
        *p++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *p++ = (uint8_t)value;
    return p;
}

size_t bb_varint_size(uint64_t value)
{
    /* ceil(bits / 7) without a division: 9/64 is close enough to 1/7 up to 64 bits. */
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    return (bits * 9 + 64) / 64;
}

enum bb_status bb_append_u8(struct bb_buf *buf, uint8_t value)
{
    return bb_buf_append(buf, &value, 1);
}

enum bb_status bb_append_u16(struct bb_buf *buf, uint16_t value)
{
    uint8_t bytes[2];
    bb_store16(bytes, value);
    return bb_buf_append(buf, bytes, sizeof(bytes));
}

enum bb_status bb_append_u32(struct bb_buf *buf, uint32_t value)
{
    uint8_t bytes[4];
    bb_store32(bytes, value);
    return bb_buf_append(buf, bytes, sizeof(bytes));
}

enum bb_status bb_append_u64(struct bb_buf *buf, uint64_t value)
{
    uint8_t bytes[8];
    bb_store64(bytes, value);
    return bb_buf_append(buf, bytes, sizeof(bytes));
}

enum bb_status bb_append_double(struct bb_buf *buf, double value)
{
    return bb_append_u64(buf, bb_bits_of_double(value));
}

enum bb_status bb_append_varint(struct bb_buf *buf, uint64_t value)
{
    uint8_t bytes[BB_VARINT64_SIZE_MAX];
    return bb_buf_append(buf, bytes, (size_t)(bb_store_varint(bytes, value) - bytes));
}

enum bb_status bb_append_bytes(struct bb_buf *buf, struct bb_bytes bytes)
{
    /* Reserves memory for the length and the bytes first. So a failure appends no part of them. */
    enum bb_status status = bb_buf_reserve(buf, bytes.size + BB_VARINT64_SIZE_MAX);
    if (status != BB_OK)
        return status;
    buf->size = (size_t)(bb_store_varint(buf->data + buf->size, bytes.size) - buf->data);
    return bb_buf_append(buf, bytes.data, bytes.size);
}

bool bb_decode_u8(struct bb_cursor *cursor, uint8_t *ret_value)
{
    if (bb_cursor_left(cursor) < 1)
        return false;
    *ret_value = *cursor->position++;
    return true;
}

bool bb_decode_u16(struct bb_cursor *cursor, uint16_t *ret_value)
{
    if (bb_cursor_left(cursor) < 2)
        return false;
    *ret_value = bb_load16(cursor->position);
    cursor->position += 2;
    return true;
}

bool bb_decode_u32(struct bb_cursor *cursor, uint32_t *ret_value)
{
    if (bb_cursor_left(cursor) < 4)
        return false;
    *ret_value = bb_load32(cursor->position);
    cursor->position += 4;
    return true;
}

bool bb_decode_u64(struct bb_cursor *cursor, uint64_t *ret_value)
{
    if (bb_cursor_left(cursor) < 8)
        return false;
    *ret_value = bb_load64(cursor->position);
    cursor->position += 8;
    return true;
}

bool bb_decode_double(struct bb_cursor *cursor, double *ret_value)
{
    uint64_t bits = 0;
    if (!bb_decode_u64(cursor, &bits))
        return false;
    *ret_value = bb_double_of_bits(bits);
    return true;
}

bool bb_decode_varint64(struct bb_cursor *cursor, uint64_t *ret_value)
{
    const uint8_t *p = cursor->position;
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && p != cursor->end; shift += 7) {
        uint64_t byte = *p++;
        if (byte >= 0x80) {
            value |= (byte & 0x7f) << shift;
            continue;
        }
        bool longer_than_needed = byte == 0 && shift > 0;
        bool past_64_bits = shift == 63 && byte > 1;
        if (longer_than_needed || past_64_bits)
            return false;
        cursor->position = p;
        *ret_value = value | byte << shift;
        return true;
    }
    return false;
}

bool bb_decode_varint32(struct bb_cursor *cursor, uint32_t *ret_value)
{
    struct bb_cursor ahead = *cursor;
    uint64_t value = 0;
    if (!bb_decode_varint64(&ahead, &value) || value > UINT32_MAX)
        return false;
    *cursor = ahead;
    *ret_value = (uint32_t)value;
    return true;
}

bool bb_decode_raw(struct bb_cursor *cursor, size_t size, struct bb_bytes *ret_bytes)
{
    if (size > bb_cursor_left(cursor))
        return false;
    *ret_bytes = (struct bb_bytes){.data = cursor->position, .size = size};
    if (size > 0) /* the position of an empty cursor may be NULL */
        cursor->position += size;
    return true;
}

bool bb_decode_bytes(struct bb_cursor *cursor, struct bb_bytes *ret_bytes)
{
    struct bb_cursor ahead = *cursor;
    uint64_t size = 0;
    if (!bb_decode_varint64(&ahead, &size) || size > bb_cursor_left(&ahead))
        return false;
    *cursor = ahead;
    return bb_decode_raw(cursor, (size_t)size, ret_bytes);
}
