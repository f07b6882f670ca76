/* Numbers as text: integers and doubles. See number.h. */
#include "skip/record/number.h"

#include <math.h>
#include <string.h>

#include "skip/record/decimal.h"

/* Numbers of up to this many digits fit into 64 bits. */
#define DIGITS_SAFE 19

/* The same as read_digits for up to DIGITS_SAFE bytes, without a branch for each byte. */
static bool read_few_digits(const uint8_t *at, const uint8_t *end, uint64_t *ret_value)
{
    uint64_t value = 0;
    bool are_digits = true;
    for (; at < end; at++) {
        uint64_t digit = (uint64_t)*at - '0';
        are_digits &= digit <= 9;
        value = value * 10 + digit;
    }
    if (are_digits)
        *ret_value = value;
    return are_digits;
}

/* Reads bytes that must all be digits, at least one. False also if the number exceeds 64 bits. */
static bool read_digits(const uint8_t *at, const uint8_t *end, uint64_t *ret_value)
{
    uint64_t value = 0;
    if (at == end)
        return false;
    if (end - at <= DIGITS_SAFE)
        return read_few_digits(at, end, ret_value);
    for (; at < end; at++) {
        if (!bb_number_is_digit(*at) || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    }
    *ret_value = value;
    return true;
}

bool bb_number_u64(struct bb_bytes text, uint64_t *ret_value)
{
    const uint8_t *end = text.data + text.size;
    bool has_sign = text.size > 0 && text.data[0] == '+';
    return text.size > 0 && read_digits(text.data + has_sign, end, ret_value);
}

bool bb_number_i64(struct bb_bytes text, int64_t *ret_value)
{
    uint64_t magnitude;
    if (text.size == 0)
        return false;
    bool is_negative = text.data[0] == '-';
    bool has_sign = is_negative || text.data[0] == '+';
    if (!read_digits(text.data + has_sign, text.data + text.size, &magnitude) ||
        magnitude > (uint64_t)INT64_MAX + is_negative)
        return false;
    *ret_value = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

static bool equals_ignoring_case(const uint8_t *at, size_t size, const char *lower)
{
    if (size != strlen(lower))
        return false;
    for (size_t i = 0; i < size; i++) {
        if ((at[i] | 0x20) != lower[i])
            return false;
    }
    return true;
}

/* Reads the doubles without digits: "nan", "inf", "infinity". */
static bool read_word(const uint8_t *at, size_t size, double *ret_value)
{
    if (equals_ignoring_case(at, size, "nan"))
        *ret_value = (double)NAN;
    else if (equals_ignoring_case(at, size, "inf") || equals_ignoring_case(at, size, "infinity"))
        *ret_value = (double)INFINITY;
    else
        return false;
    return true;
}

/* Adds the digits of one side of the point. Returns the address after them. */
static const uint8_t *take_digits(struct bb_decimal *decimal, const uint8_t *at, const uint8_t *end,
                                  bool is_fraction)
{
    for (; at < end && bb_number_is_digit(*at); at++)
        bb_decimal_add(decimal, (uint8_t)(*at - '0'), is_fraction);
    return at;
}

#define EXPONENT_MAX 1000000000

/* Reads an exponent such as "e-5", which must end at `end`; 0 if there are no bytes. A large
 * exponent is cut to about EXPONENT_MAX: a larger one would give the same double. */
static bool read_exponent(const uint8_t *at, const uint8_t *end, int64_t *ret_exponent)
{
    int64_t value = 0;
    *ret_exponent = 0;
    if (at == end)
        return true;
    if ((*at++ | 0x20) != 'e' || at == end)
        return false;
    bool is_negative = *at == '-';
    at += is_negative || *at == '+';
    if (at == end)
        return false;
    for (; at < end; at++) {
        if (!bb_number_is_digit(*at))
            return false;
        value = value < EXPONENT_MAX ? value * 10 + (*at - '0') : EXPONENT_MAX;
    }
    *ret_exponent = is_negative ? -value : value;
    return true;
}

static bool read_decimal(const uint8_t *at, const uint8_t *end, double *ret_value)
{
    struct bb_decimal decimal;
    int64_t exponent;
    bb_decimal_init(&decimal);
    const uint8_t *first = at;
    at = take_digits(&decimal, at, end, false);
    size_t digit_count = (size_t)(at - first);
    if (at < end && *at == '.') {
        first = ++at;
        at = take_digits(&decimal, at, end, true);
        digit_count += (size_t)(at - first);
    }
    if (digit_count == 0 || !read_exponent(at, end, &exponent))
        return false;
    double value = bb_decimal_to_double(&decimal, exponent);
    if (isinf(value))
        return false;
    *ret_value = value;
    return true;
}

bool bb_number_f64(struct bb_bytes text, double *ret_value)
{
    double value;
    if (text.size == 0)
        return false;
    bool is_negative = text.data[0] == '-';
    const uint8_t *at = text.data + (is_negative || text.data[0] == '+');
    const uint8_t *end = text.data + text.size;
    if (!read_decimal(at, end, &value) && !read_word(at, (size_t)(end - at), &value))
        return false;
    *ret_value = is_negative ? -value : value;
    return true;
}
