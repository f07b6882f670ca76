/* See escape.h. UTF-8 as in RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#include "tools/output/escape.h"

#include "base/buf.h"
#include "base/status.h"

static const char digits_lower[] = "0123456789abcdef";

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The number of bytes of a character that begins with this byte; 0 if no character does. */
static size_t sequence_size_of(uint8_t lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead < 0xE0)
        return 2;
    if (lead >= 0xE0 && lead < 0xF0)
        return 3;
    if (lead >= 0xF0 && lead < 0xF5)
        return 4;
    return 0;
}

/* The second byte shows overlong forms, surrogates and too large numbers. */
static bool is_second_allowed(uint8_t lead, uint8_t second)
{
    switch (lead) {
    case 0xE0:
        return second >= 0xA0;
    case 0xED:
        return second < 0xA0;
    case 0xF0:
        return second >= 0x90;
    case 0xF4:
        return second < 0x90;
    default:
        return true;
    }
}

size_t utf8_sequence_size(struct bb_bytes bytes)
{
    size_t size = bytes.size == 0 ? 0 : sequence_size_of(bytes.data[0]);
    if (size == 0 || size > bytes.size)
        return 0;
    for (size_t i = 1; i < size; i++) {
        if (!is_continuation(bytes.data[i]))
            return 0;
    }
    if (size > 1 && !is_second_allowed(bytes.data[0], bytes.data[1]))
        return 0;
    return size;
}

bool utf8_valid(struct bb_bytes bytes)
{
    while (bytes.size > 0) {
        size_t size = utf8_sequence_size(bytes);
        if (size == 0)
            return false;
        bytes.data += size;
        bytes.size -= size;
    }
    return true;
}

/* Characters that change how a terminal or an editor shows the text around them. */
static bool is_obeyed(const uint8_t *sequence, size_t size)
{
    if (size == 1)
        return sequence[0] < 0x20 || sequence[0] == 0x7F;
    if (size == 2) /* C1: U+0080 ... U+009F */
        return sequence[0] == 0xC2 && sequence[1] < 0xA0;
    if (size == 3 && sequence[0] == 0xE2) {
        bool is_mark_or_override =
            sequence[1] == 0x80 && (sequence[2] == 0x8E || sequence[2] == 0x8F ||
                                    (sequence[2] >= 0xA8 && sequence[2] <= 0xAE));
        bool is_isolate = sequence[1] == 0x81 && sequence[2] >= 0xA6 && sequence[2] <= 0xA9;
        return is_mark_or_override || is_isolate;
    }
    return false;
}

static enum bb_status append_byte_escape(struct bb_buf *buf, uint8_t byte)
{
    switch (byte) {
    case '\t':
        return bb_buf_append(buf, "\\t", 2);
    case '\n':
        return bb_buf_append(buf, "\\n", 2);
    case '\r':
        return bb_buf_append(buf, "\\r", 2);
    default: {
        char escape[4] = {'\\', 'x', digits_lower[byte >> 4], digits_lower[byte & 15]};
        return bb_buf_append(buf, escape, sizeof(escape));
    }
    }
}

/* Appends the first character, or byte, and gives its size. */
static enum bb_status append_one(struct bb_buf *buf, struct bb_bytes bytes, enum escape_style style,
                                 size_t *ret_size)
{
    size_t size = utf8_sequence_size(bytes);
    *ret_size = size == 0 ? 1 : size;
    if (bytes.data[0] == '\\' && style == ESCAPE_ALL)
        return bb_buf_append(buf, "\\\\", 2);
    if (size > 0 && !is_obeyed(bytes.data, size))
        return bb_buf_append(buf, bytes.data, size);
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < *ret_size && status == BB_OK; i++)
        status = append_byte_escape(buf, bytes.data[i]);
    return status;
}

enum bb_status escape_append(struct bb_buf *buf, struct bb_bytes bytes, enum escape_style style)
{
    enum bb_status status = bb_buf_reserve(buf, bytes.size);
    while (bytes.size > 0 && status == BB_OK) {
        size_t size = 0;
        status = append_one(buf, bytes, style, &size);
        bytes.data += size;
        bytes.size -= size;
    }
    return status;
}

enum bb_status hex_append(struct bb_buf *buf, struct bb_bytes bytes)
{
    enum bb_status status = bb_buf_reserve(buf, 2 * bytes.size);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < bytes.size; i++) {
        buf->data[buf->size++] = (uint8_t)digits_lower[bytes.data[i] >> 4];
        buf->data[buf->size++] = (uint8_t)digits_lower[bytes.data[i] & 15];
    }
    return BB_OK;
}

static int digit_value(uint8_t digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

enum bb_status hex_decode(struct bb_bytes digits, struct bb_buf *buf)
{
    if (digits.size % 2 != 0)
        return bb_fail(BB_INVALID, "%zu hexadecimal digits: a byte has two", digits.size);
    enum bb_status status = bb_buf_reserve(buf, digits.size / 2);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < digits.size; i += 2) {
        int high = digit_value(digits.data[i]);
        int low = digit_value(digits.data[i + 1]);
        if (high < 0 || low < 0)
            return bb_fail(BB_INVALID, "not a hexadecimal digit at position %zu",
                           i + (high < 0 ? 1 : 2));
        buf->data[buf->size++] = (uint8_t)(high << 4 | low);
    }
    return BB_OK;
}
