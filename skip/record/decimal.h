/* Decimal digits and the double nearest to them.
 *
 *     value = digits * 10^exponent
 *
 * The first 19 significant digits are a 64-bit number. Most texts have no more, and 64-bit or
 * 128-bit arithmetic is exact for them. Others are a long integer of all digits that can matter.
 * Threads: a decimal belongs to one.
 */
#ifndef BB_SKIP_RECORD_DECIMAL_H
#define BB_SKIP_RECORD_DECIMAL_H

#include "bb/base.h"

/* A double, and the middle between two, has no more than 768 significant digits. Later digits only
 * decide whether there is more. One digit at the end records that. */
#define BB_DECIMAL_DIGITS_MAX  770
#define BB_DECIMAL_WORD_DIGITS 19

struct bb_decimal {
    uint64_t word;                         /* of the first BB_DECIMAL_WORD_DIGITS */
    size_t digit_count;                    /* significant ones: of digits[] */
    int64_t exponent;                      /* of the last of digits[] */
    bool has_more;                         /* digits other than 0 follow the digits of digits[] */
    uint8_t digits[BB_DECIMAL_DIGITS_MAX]; /* 0 ... 9, the first is not 0 */
};

static inline void bb_decimal_init(struct bb_decimal *decimal)
{
    decimal->word = 0;
    decimal->digit_count = 0;
    decimal->exponent = 0;
    decimal->has_more = false;
}

/* The next digit, 0 ... 9, before the point or after it. */
static inline void bb_decimal_add(struct bb_decimal *decimal, uint8_t digit, bool is_fraction)
{
    if (decimal->digit_count == BB_DECIMAL_DIGITS_MAX) {
        decimal->has_more = decimal->has_more || digit != 0;
        decimal->exponent += !is_fraction;
        return;
    }
    decimal->exponent -= is_fraction;
    if (digit == 0 && decimal->digit_count == 0)
        return;
    if (decimal->digit_count < BB_DECIMAL_WORD_DIGITS)
        decimal->word = decimal->word * 10 + digit;
    decimal->digits[decimal->digit_count++] = digit;
}

/* The nearest double to decimal * 10^exponent, ties to even; infinity when that is too large. */
double bb_decimal_to_double(const struct bb_decimal *decimal, int64_t exponent);

#endif
