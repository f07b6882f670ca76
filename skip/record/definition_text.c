/* See definition_text.h. */
#include "skip/record/definition_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/record/number.h"

enum bb_status bb_definition_text_fail(const struct bb_definition_text *text, size_t offset,
                                       const char *format, ...)
{
    char escaped[256];
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return bb_fail(BB_INVALID, "definition \"%s\": at byte %zu: %s",
                   bb_bytes_escape(text->bytes, escaped, sizeof(escaped)), offset, message);
}

size_t bb_definition_text_next(struct bb_definition_text *text)
{
    while (text->at < text->bytes.size && text->bytes.data[text->at] == ' ')
        text->at++;
    return text->at;
}

uint8_t bb_definition_text_peek(struct bb_definition_text *text)
{
    size_t at = bb_definition_text_next(text);
    return at < text->bytes.size ? text->bytes.data[at] : 0;
}

bool bb_definition_text_accept(struct bb_definition_text *text, uint8_t mark)
{
    if (bb_definition_text_peek(text) != mark)
        return false;
    text->at++;
    return true;
}

enum bb_status bb_definition_text_expect(struct bb_definition_text *text, uint8_t mark)
{
    return bb_definition_text_accept(text, mark)
               ? BB_OK
               : bb_definition_text_fail(text, text->at, "expected '%c'", mark);
}

enum bb_status bb_definition_text_expect_end(struct bb_definition_text *text)
{
    size_t at = bb_definition_text_next(text);
    return at == text->bytes.size ? BB_OK : bb_definition_text_fail(text, at, "expected the end");
}

static bool is_word_byte(uint8_t byte, bool is_first)
{
    uint8_t lower = byte | 0x20;
    return (lower >= 'a' && lower <= 'z') || byte == '_' || (!is_first && bb_number_is_digit(byte));
}

bool bb_definition_text_is_word(struct bb_bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        if (!is_word_byte(bytes.data[i], i == 0))
            return false;
    }
    return bytes.size > 0;
}

enum bb_status bb_definition_text_word(struct bb_definition_text *text, const char *what,
                                       struct bb_bytes *ret_word)
{
    size_t first = bb_definition_text_next(text);
    size_t at = first;
    while (at < text->bytes.size && is_word_byte(text->bytes.data[at], at == first))
        at++;
    if (at == first)
        return bb_definition_text_fail(text, first, "expected %s", what);
    text->at = at;
    *ret_word = bb_bytes_of(text->bytes.data + first, at - first);
    return BB_OK;
}

enum bb_status bb_definition_text_number(struct bb_definition_text *text, const char *what,
                                         uint64_t low, uint64_t high, uint64_t *ret_number)
{
    size_t first = bb_definition_text_next(text);
    size_t at = first;
    uint64_t number = 0;
    bool is_too_large = false;
    for (; at < text->bytes.size && bb_number_is_digit(text->bytes.data[at]); at++)
        is_too_large =
            is_too_large || __builtin_mul_overflow(number, (uint64_t)10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text->bytes.data[at] - '0'), &number);
    if (at == first)
        return bb_definition_text_fail(text, first, "expected %s, a number", what);
    if (is_too_large || number < low || number > high)
        return bb_definition_text_fail(text, first, "%s is from %llu to %llu", what,
                                       (unsigned long long)low, (unsigned long long)high);
    text->at = at;
    *ret_number = number;
    return BB_OK;
}

/* --- Quoted text --- */

/* The escape at offset at, after its backslash. Gives its length, 0 when it is no escape. */
static size_t read_escape(struct bb_bytes bytes, size_t at, uint8_t *ret_byte)
{
    static const char names[] = "\\'tnr";
    static const char values[] = "\\'\t\n\r";
    uint8_t name = at < bytes.size ? bytes.data[at] : 0;
    const char *found = name == 0 ? NULL : strchr(names, name);
    if (found != NULL) {
        *ret_byte = (uint8_t)values[found - names];
        return 1;
    }
    if (name != 'x' || bytes.size - at < 3)
        return 0;
    int high = bb_number_hex_digit(bytes.data[at + 1]);
    int low = bb_number_hex_digit(bytes.data[at + 2]);
    if (high < 0 || low < 0)
        return 0;
    *ret_byte = (uint8_t)(high * 16 + low);
    return 3;
}

enum bb_status bb_definition_text_string(struct bb_definition_text *text, const char *what,
                                         struct bb_buf *buf)
{
    struct bb_bytes bytes = text->bytes;
    size_t first = bb_definition_text_next(text);
    if (!bb_definition_text_accept(text, '\''))
        return bb_definition_text_fail(text, first, "expected %s in single quotes", what);
    for (size_t at = first + 1; at < bytes.size; at++) {
        uint8_t byte = bytes.data[at];
        if (byte == '\'') {
            text->at = at + 1;
            return BB_OK;
        }
        if (byte == '\\') {
            size_t size = read_escape(bytes, at + 1, &byte);
            if (size == 0)
                return bb_definition_text_fail(
                    text, at, "unknown escape, expected \\\\ \\' \\t \\n \\r or \\xNN");
            at += size;
        }
        enum bb_status status = bb_buf_append(buf, &byte, 1);
        if (status != BB_OK)
            return status;
    }
    return bb_definition_text_fail(text, first, "the quote has no end");
}

static enum bb_status print_byte(struct bb_buf *buf, uint8_t byte)
{
    if (byte == '\'' || byte == '\\')
        return bb_buf_print(buf, "\\%c", byte);
    if (byte == '\t')
        return bb_buf_append(buf, "\\t", 2);
    if (byte < 0x20 || byte >= 0x7f)
        return bb_buf_print(buf, "\\x%02x", byte);
    return bb_buf_append(buf, &byte, 1);
}

enum bb_status bb_definition_text_print_string(struct bb_buf *buf, struct bb_bytes bytes)
{
    enum bb_status status = bb_buf_append(buf, "'", 1);
    for (size_t i = 0; i < bytes.size && status == BB_OK; i++)
        status = print_byte(buf, bytes.data[i]);
    return status == BB_OK ? bb_buf_append(buf, "'", 1) : status;
}
