/* See json_text.h. */
#include "skip/record/json_text.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "skip/record/number.h"

static bool read_hex4(const uint8_t *at, const uint8_t *end, uint32_t *ret_value)
{
    uint32_t value = 0;
    if (end - at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int digit = bb_number_hex_digit(at[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t)digit;
    }
    *ret_value = value;
    return true;
}

size_t bb_json_text_encode_utf8(uint32_t code, uint8_t *target)
{
    BB_DEBUG_ASSERT(code <= 0x10ffff);
    if (code < 0x80) {
        target[0] = (uint8_t)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size; i-- > 1; code >>= 6)
        target[i] = (uint8_t)(0x80 | (code & 0x3f));
    target[0] = (uint8_t)(lead[size] | code);
    return size;
}

bool bb_json_text_read_code(const uint8_t **at, const uint8_t *end, uint32_t *ret_code)
{
    uint32_t code, low;
    if (!read_hex4(*at, end, &code))
        return false;
    *at += 4;
    if (code < 0xd800 || code > 0xdfff) {
        *ret_code = code;
        return true;
    }
    if (code > 0xdbff || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u' ||
        !read_hex4(*at + 2, end, &low) || low < 0xdc00 || low > 0xdfff)
        return false;
    *at += 6;
    *ret_code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

/* The escape after its backslash. Moves *at past it, and writes its meaning. */
static bool read_escape(const uint8_t **at, const uint8_t *end, uint8_t **target)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    uint8_t name = *at < end ? *(*at)++ : 0;
    if (name == 'u') {
        uint32_t code;
        if (!bb_json_text_read_code(at, end, &code))
            return false;
        *target += bb_json_text_encode_utf8(code, *target);
        return true;
    }
    const char *found = name == 0 ? NULL : strchr(names, name);
    if (found == NULL)
        return false;
    *(*target)++ = (uint8_t)values[found - names];
    return true;
}

bool bb_json_text_unescape(struct bb_bytes text, uint8_t *target, size_t *ret_size)
{
    const uint8_t *at = text.data;
    const uint8_t *end = text.data + text.size;
    uint8_t *first = target;
    while (at < end) {
        const uint8_t *backslash = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((backslash == NULL ? end : backslash) - at);
        memcpy(target, at, plain);
        target += plain;
        at += plain;
        if (backslash == NULL)
            break;
        at++;
        if (!read_escape(&at, end, &target))
            return false;
    }
    *ret_size = (size_t)(target - first);
    return true;
}

/* --- Numbers and words --- */

static const uint8_t *skip_digits(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* After the digits of a part that must have one at least; NULL when there are no digits. */
static const uint8_t *require_digits(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *after = skip_digits(at, end);
    return after == at ? NULL : after;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool is_number(struct bb_bytes text)
{
    const uint8_t *at = text.data;
    const uint8_t *end = text.data + text.size;
    at += at < end && *at == '-';
    at = at < end && *at == '0' ? at + 1 : require_digits(at, end);
    if (at != NULL && at < end && *at == '.')
        at = require_digits(at + 1, end);
    if (at != NULL && at < end && (*at | 0x20) == 'e') {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        at = require_digits(at, end);
    }
    return at == end;
}

enum bb_attribute_state bb_json_text_scalar_state(struct bb_bytes text)
{
    if (bb_bytes_equal(text, bb_bytes_of("null", 4)))
        return BB_ATTRIBUTE_NULL;
    bool is_valid = is_number(text) || bb_bytes_equal(text, bb_bytes_of("true", 4)) ||
                    bb_bytes_equal(text, bb_bytes_of("false", 5));
    return is_valid ? BB_ATTRIBUTE_PRESENT : BB_ATTRIBUTE_MALFORMED;
}
