/* See literal.h. */
#include "skip/condition/literal.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/status.h"
#include "bb/condition.h"
#include "skip/condition/time_text.h"
#include "skip/record/number.h"

#define TEXT_SIZE     (BB_CONDITION_NUMBER_SIZE_MAX + 1)
#define EXPONENT_MAX  100000
#define U64_DIGITS    20
#define DOUBLE_DIGITS 400 /* more than any double has before its point */

/* A number as 0.DIGITS * 10^point, without zeros at either end of the digits: 0.05 is "5" with
 * point -1, 500 is "5" with point 3. */
struct decimal {
    bool is_negative;
    bool is_integer_text; /* neither point nor exponent was written */
    char digits[TEXT_SIZE];
    size_t digit_count;
    long point;
};

static long read_exponent(struct bb_bytes text, size_t at)
{
    bool is_negative = at < text.size && text.data[at] == '-';
    if (at < text.size && !bb_number_is_digit(text.data[at]))
        at++;
    long exponent = 0;
    for (; at < text.size; at++)
        if (exponent < EXPONENT_MAX)
            exponent = exponent * 10 + (text.data[at] - '0');
    return is_negative ? -exponent : exponent;
}

static void read_decimal(struct bb_bytes text, struct decimal *decimal)
{
    *decimal = (struct decimal){.is_integer_text = true};
    size_t at = 0;
    bool is_after_point = false;
    if (text.size > 0 && !bb_number_is_digit(text.data[0]) && text.data[0] != '.') {
        decimal->is_negative = text.data[0] == '-';
        at = 1;
    }
    for (; at < text.size && (bb_number_is_digit(text.data[at]) || text.data[at] == '.'); at++) {
        if (text.data[at] == '.') {
            is_after_point = true;
            decimal->is_integer_text = false;
            continue;
        }
        bool is_leading_zero = text.data[at] == '0' && decimal->digit_count == 0;
        if (!is_leading_zero)
            decimal->digits[decimal->digit_count++] = (char)text.data[at];
        if (is_after_point ? is_leading_zero : !is_leading_zero)
            decimal->point += is_after_point ? -1 : 1;
    }
    if (at < text.size) {
        decimal->is_integer_text = false;
        decimal->point += read_exponent(text, at + 1);
    }
    while (decimal->digit_count > 0 && decimal->digits[decimal->digit_count - 1] == '0')
        decimal->digit_count--;
}

/* The digits before the point. False when they exceed 64 bits. */
static bool integer_part(const struct decimal *decimal, uint64_t *ret_integer)
{
    uint64_t integer = 0;
    if (decimal->digit_count == 0 || decimal->point <= 0) {
        *ret_integer = 0;
        return true;
    }
    if (decimal->point > U64_DIGITS)
        return false;
    for (long i = 0; i < decimal->point; i++) {
        unsigned digit =
            (size_t)i < decimal->digit_count ? (unsigned)(decimal->digits[i] - '0') : 0;
        if (__builtin_mul_overflow(integer, (uint64_t)10, &integer) ||
            __builtin_add_overflow(integer, (uint64_t)digit, &integer))
            return false;
    }
    *ret_integer = integer;
    return true;
}

static bool has_fraction(const struct decimal *decimal)
{
    return decimal->digit_count > 0 && decimal->point < (long)decimal->digit_count;
}

static struct bb_fit fit_u64(const struct decimal *decimal)
{
    struct bb_fit fit = {.has_floor = true, .floor = {.type = BB_ATTRIBUTE_U64}};
    if (decimal->is_negative && decimal->digit_count > 0) {
        fit.has_floor = false;
        return fit;
    }
    bool fits = integer_part(decimal, &fit.floor.as.u64);
    if (!fits)
        fit.floor.as.u64 = UINT64_MAX;
    fit.is_exact = fits && !has_fraction(decimal);
    return fit;
}

static struct bb_fit fit_i64(const struct decimal *decimal)
{
    struct bb_fit fit = {.has_floor = true, .floor = {.type = BB_ATTRIBUTE_I64}};
    uint64_t magnitude = 0;
    bool fits = integer_part(decimal, &magnitude);
    fit.is_exact = !has_fraction(decimal);
    if (!decimal->is_negative) {
        if (!fits || magnitude > INT64_MAX) {
            fit.is_exact = false;
            magnitude = INT64_MAX;
        }
        fit.floor.as.i64 = (int64_t)magnitude;
        return fit;
    }
    uint64_t lowest = (uint64_t)INT64_MAX + 1;
    if (!fits || magnitude > lowest || (magnitude == lowest && !fit.is_exact)) {
        fit.has_floor = false;
        return fit;
    }
    magnitude += fit.is_exact ? 0 : 1;
    fit.floor.as.i64 = magnitude == lowest ? INT64_MIN : -(int64_t)magnitude;
    return fit;
}

/* A number that is too large for a double is infinity. */
static double nearest_double(struct bb_bytes text, bool is_negative)
{
    double nearest = is_negative ? -INFINITY : INFINITY;
    (void)bb_number_f64(text, &nearest);
    return nearest;
}

/* Compares the magnitude of an integer with a finite double that is not negative. Returns < 0, 0 or
 * > 0. */
static int compare_with_double(const struct decimal *decimal, double magnitude)
{
    char digits[DOUBLE_DIGITS];
    int length = snprintf(digits, sizeof(digits), "%.0f", magnitude);
    if (magnitude == 0 || decimal->digit_count == 0)
        return (decimal->digit_count > 0) - (magnitude != 0);
    if (decimal->point != length)
        return decimal->point < length ? -1 : 1;
    while (length > 0 && digits[length - 1] == '0')
        length--;
    return bb_bytes_compare(bb_bytes_of(decimal->digits, decimal->digit_count),
                            bb_bytes_of(digits, (size_t)length));
}

static struct bb_fit fit_double(double value)
{
    return (struct bb_fit){.has_floor = true,
                           .is_exact = true,
                           .floor = {.type = BB_ATTRIBUTE_F64, .as.f64 = value == 0 ? 0.0 : value}};
}

static struct bb_fit fit_f64(struct bb_bytes text, const struct decimal *decimal)
{
    double nearest = nearest_double(text, decimal->is_negative);
    if (!decimal->is_integer_text)
        return fit_double(nearest);
    double largest = isinf(nearest) ? DBL_MAX : fabs(nearest);
    int order = isinf(nearest) ? 1 : compare_with_double(decimal, largest);
    double finite = nearest < 0 ? -largest : largest;
    if (order == 0)
        return fit_double(finite);
    /* The literal is between two doubles; the floor is the lower one. */
    bool is_above = decimal->is_negative ? order < 0 : order > 0;
    struct bb_fit fit = fit_double(is_above ? finite : nextafter(finite, -INFINITY));
    fit.is_exact = false;
    return fit;
}

static struct bb_fit fit_number(struct bb_bytes text, enum bb_attribute_type type)
{
    struct decimal decimal;
    read_decimal(text, &decimal);
    if (type == BB_ATTRIBUTE_U64)
        return fit_u64(&decimal);
    if (type == BB_ATTRIBUTE_I64)
        return fit_i64(&decimal);
    return fit_f64(text, &decimal);
}

static bool is_number_type(enum bb_attribute_type type)
{
    return type == BB_ATTRIBUTE_I64 || type == BB_ATTRIBUTE_U64 || type == BB_ATTRIBUTE_F64;
}

static enum bb_status fail_kind(enum bb_attribute_type type, const char *found)
{
    const char *expected = is_number_type(type)        ? "a number"
                           : type == BB_ATTRIBUTE_TIME ? "a time as a string"
                                                       : "a string";
    return bb_fail(BB_INVALID, "expected %s, as the attribute is of type %s; found %s", expected,
                   bb_attribute_type_name(type), found);
}

static enum bb_status fit_text(struct bb_bytes text, enum bb_attribute_type type,
                               struct bb_fit *ret_fit)
{
    if (is_number_type(type))
        return fail_kind(type, "a string");
    struct bb_fit fit = {.has_floor = true, .is_exact = true, .floor = {.type = type}};
    if (type == BB_ATTRIBUTE_BYTES)
        fit.floor.as.bytes = text;
    else {
        enum bb_status status = bb_time_text_parse(text, &fit.floor.as.i64);
        if (status != BB_OK)
            return status;
    }
    *ret_fit = fit;
    return BB_OK;
}

/* Fits the floor of the double, written as digits. The fit is exact only for a whole number. */
static struct bb_fit fit_double_to_integer(double value, enum bb_attribute_type type)
{
    char text[DOUBLE_DIGITS];
    double whole = isinf(value) ? copysign(DBL_MAX, value) : floor(value);
    int length = snprintf(text, sizeof(text), "%.0f", whole);
    struct bb_fit fit = fit_number(bb_bytes_of(text, (size_t)length), type);
    fit.is_exact = fit.is_exact && whole == value;
    return fit;
}

static enum bb_status fit_f64_value(double value, enum bb_attribute_type type,
                                    struct bb_fit *ret_fit)
{
    if (!is_number_type(type))
        return fail_kind(type, "a number");
    if (isnan(value))
        return bb_fail(BB_INVALID, "NaN compares with nothing: it cannot be a literal");
    *ret_fit = type == BB_ATTRIBUTE_F64 ? fit_double(value) : fit_double_to_integer(value, type);
    return BB_OK;
}

static enum bb_status fit_integer_value(const struct bb_attribute *value,
                                        enum bb_attribute_type type, struct bb_fit *ret_fit)
{
    char text[U64_DIGITS + 2];
    if (!is_number_type(type))
        return fail_kind(type, "a number");
    int length = value->type == BB_ATTRIBUTE_U64
                     ? snprintf(text, sizeof(text), "%" PRIu64, value->as.u64)
                     : snprintf(text, sizeof(text), "%" PRId64, value->as.i64);
    *ret_fit = fit_number(bb_bytes_of(text, (size_t)length), type);
    return BB_OK;
}

static enum bb_status fit_value(const struct bb_attribute *value, enum bb_attribute_type type,
                                struct bb_fit *ret_fit)
{
    if (value->state != BB_ATTRIBUTE_PRESENT)
        return bb_fail(BB_INVALID, "a literal must be PRESENT: NULL compares with nothing");
    switch (value->type) {
    case BB_ATTRIBUTE_BYTES:
        return fit_text(value->as.bytes, type, ret_fit);
    case BB_ATTRIBUTE_F64:
        return fit_f64_value(value->as.f64, type, ret_fit);
    case BB_ATTRIBUTE_I64:
    case BB_ATTRIBUTE_U64:
        return fit_integer_value(value, type, ret_fit);
    case BB_ATTRIBUTE_TIME:
        if (type != BB_ATTRIBUTE_TIME)
            return fail_kind(type, "a time");
        *ret_fit = (struct bb_fit){.has_floor = true, .is_exact = true, .floor = *value};
        return BB_OK;
    }
    return bb_fail(BB_INVALID, "a literal of the unknown type %d", (int)value->type);
}

enum bb_status bb_literal_fit(const struct bb_literal *literal, enum bb_attribute_type type,
                              struct bb_fit *ret_fit)
{
    switch (literal->kind) {
    case BB_LITERAL_TEXT:
        return fit_text(literal->text, type, ret_fit);
    case BB_LITERAL_VALUE:
        return fit_value(&literal->value, type, ret_fit);
    case BB_LITERAL_NUMBER:
        break;
    }
    if (!is_number_type(type))
        return fail_kind(type, "a number");
    if (literal->text.size > BB_CONDITION_NUMBER_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "a number of %zu characters; the limit is %d",
                       literal->text.size, BB_CONDITION_NUMBER_SIZE_MAX);
    *ret_fit = fit_number(literal->text, type);
    return BB_OK;
}
