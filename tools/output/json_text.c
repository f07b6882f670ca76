/* See json_text.h. Most texts are ASCII without escapes, hence the steps of eight bytes. */
#include "tools/output/json_text.h"

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "tools/output/escape.h"

#define STEP            8
#define ONES            UINT64_C(0x0101010101010101)
#define HIGHS           UINT64_C(0x8080808080808080)
#define ESCAPE_SIZE_MAX 6 /* \u001F */

static bool is_special(uint8_t byte)
{
    return byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\';
}

/* Zero if and only if none of eight bytes is special: without a special byte no subtraction
 * borrows. */
static uint64_t special_bits(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    uint64_t quotes = (word ^ (ONES * '"')) - ONES;
    uint64_t backslashes = (word ^ (ONES * '\\')) - ONES;
    return (word | (word - ONES * 0x20) | quotes | backslashes) & HIGHS;
}

/* The number of bytes before the first special one. */
static size_t plain_size(struct bb_bytes bytes)
{
    size_t size = 0;
    while (size + STEP <= bytes.size && special_bits(bytes.data + size) == 0)
        size += STEP;
    while (size < bytes.size && !is_special(bytes.data[size]))
        size++;
    return size;
}

static void advance(struct bb_bytes *bytes, size_t size)
{
    bytes->data += size;
    bytes->size -= size;
}

static uint8_t *copy(uint8_t *to, struct bb_bytes *from, size_t size)
{
    if (size > 0)
        memcpy(to, from->data, size);
    advance(from, size);
    return to + size;
}

/* ---- writing ---- */

static uint8_t *write_escape(uint8_t *to, uint8_t byte)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char letters[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    char letter = byte < 0x20 ? letters[byte] : (char)byte;
    *to++ = '\\';
    if (letter != '\0') {
        *to++ = (uint8_t)letter;
        return to;
    }
    memcpy(to, "u00", 3);
    to[3] = (uint8_t)digits[byte >> 4];
    to[4] = (uint8_t)digits[byte & 15];
    return to + 5;
}

/* Writes at most ESCAPE_SIZE_MAX bytes for each byte. NULL: not UTF-8. */
static uint8_t *write_text(uint8_t *to, struct bb_bytes bytes)
{
    for (;;) {
        to = copy(to, &bytes, plain_size(bytes));
        if (bytes.size == 0)
            return to;
        if (bytes.data[0] < 0x80) {
            to = write_escape(to, bytes.data[0]);
            advance(&bytes, 1);
            continue;
        }
        size_t size = utf8_sequence_size(bytes);
        if (size == 0)
            return NULL;
        to = copy(to, &bytes, size);
    }
}

enum bb_status json_text_append(struct bb_buf *buf, struct bb_bytes bytes, bool *ret_is_text)
{
    enum bb_status status = bb_buf_reserve(buf, ESCAPE_SIZE_MAX * bytes.size);
    if (status != BB_OK)
        return status;
    const uint8_t *end =
        bytes.size == 0 ? buf->data + buf->size : write_text(buf->data + buf->size, bytes);
    *ret_is_text = bytes.size == 0 || end != NULL;
    if (bytes.size > 0 && end != NULL)
        buf->size = (size_t)(end - buf->data);
    return BB_OK;
}

/* ---- reading ---- */

static int digit_of(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    uint8_t lower = byte | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The four digits after \u. */
static bool take_unit(struct bb_bytes *rest, uint32_t *ret_unit)
{
    uint32_t unit = 0;
    if (rest->size < 4)
        return false;
    for (size_t i = 0; i < 4; i++) {
        int digit = digit_of(rest->data[i]);
        if (digit < 0)
            return false;
        unit = unit << 4 | (uint32_t)digit;
    }
    advance(rest, 4);
    *ret_unit = unit;
    return true;
}

static bool take_second_unit(struct bb_bytes *rest, uint32_t *character)
{
    uint32_t low = 0;
    if (rest->size < 2 || rest->data[0] != '\\' || rest->data[1] != 'u')
        return false;
    advance(rest, 2);
    if (!take_unit(rest, &low) || low < 0xDC00 || low > 0xDFFF)
        return false;
    *character = 0x10000 + ((*character - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

static uint8_t *write_character(uint8_t *to, uint32_t character)
{
    int more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static const uint8_t leads[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (uint8_t)(leads[more] | character >> (6 * more));
    for (int i = more - 1; i >= 0; i--)
        *to++ = (uint8_t)(0x80 | (character >> (6 * i) & 0x3F));
    return to;
}

/* *rest is after the backslash. NULL: no escape. */
static uint8_t *read_escape(uint8_t *to, struct bb_bytes *rest)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    uint32_t character = 0;
    if (rest->size == 0)
        return NULL;
    uint8_t kind = rest->data[0];
    advance(rest, 1);
    const char *letter = kind == '\0' ? NULL : strchr(letters, kind);
    if (letter != NULL) {
        *to = (uint8_t)meanings[letter - letters];
        return to + 1;
    }
    if (kind != 'u' || !take_unit(rest, &character))
        return NULL;
    bool is_first = character >= 0xD800 && character <= 0xDBFF;
    bool is_second = character >= 0xDC00 && character <= 0xDFFF;
    if (is_second || (is_first && !take_second_unit(rest, &character)))
        return NULL;
    return write_character(to, character);
}

/* Decodes to the closing quote, and moves after it. No byte needs more space than its escape. */
static uint8_t *read_text(uint8_t *to, struct bb_bytes *rest)
{
    for (;;) {
        to = copy(to, rest, plain_size(*rest));
        if (rest->size == 0 || rest->data[0] < 0x20)
            return NULL;
        uint8_t byte = rest->data[0];
        if (byte == '"') {
            advance(rest, 1);
            return to;
        }
        if (byte == '\\') {
            advance(rest, 1);
            to = read_escape(to, rest);
        } else {
            size_t size = utf8_sequence_size(*rest);
            to = size == 0 ? NULL : copy(to, rest, size);
        }
        if (to == NULL)
            return NULL;
    }
}

enum bb_status json_text_read(struct bb_bytes *rest, struct bb_buf *decoded,
                              struct bb_bytes *ret_text, bool *ret_is_text)
{
    size_t plain = plain_size(*rest);
    *ret_is_text = true;
    if (plain < rest->size && rest->data[plain] == '"') {
        *ret_text = bb_bytes_of(rest->data, plain);
        advance(rest, plain + 1);
        return BB_OK;
    }
    bb_buf_reset(decoded);
    enum bb_status status = bb_buf_reserve(decoded, rest->size + 1);
    if (status != BB_OK)
        return status;
    const uint8_t *end = read_text(decoded->data, rest);
    *ret_is_text = end != NULL;
    if (end != NULL)
        *ret_text = bb_bytes_of(decoded->data, (size_t)(end - decoded->data));
    return BB_OK;
}
