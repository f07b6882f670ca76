/* See decimal.h. Exact forms, the fastest first:
 *
 *     digits < 2^53, |exponent| <= 22    one multiplication or division of doubles, both exact
 *     digits < 10^19, |exponent| <= 19   128-bit integers
 *     others                             long integers: digits * 2^shift / 10^-exponent
 *
 * The last two end in 64 bits and a mark for the bits below them. These are rounded once.
 */
#include "skip/record/decimal.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

__extension__ typedef unsigned __int128 decimal_product;

#define POWER_DOUBLE_MAX 22     /* 10^22 is a double */
#define POWER_WORD_MAX   19     /* 10^19 < 2^64 */
#define LEADING_MIN      (-330) /* 10^-330 is less than half of the smallest double */
#define LEADING_MAX      310

static const double POWERS[POWER_DOUBLE_MAX + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static uint64_t word_power(unsigned exponent)
{
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* top * 2^exponent, top >= 2^63; is_inexact: the value is a little more than that. */
static double round_word(uint64_t top, bool is_inexact, int64_t exponent)
{
    /* Bits that a double has no place for: 11, more below the smallest normal one. */
    int64_t dropped = exponent < -1074 - 11 ? -1074 - exponent : 11;
    if (dropped > 64)
        return 0;
    uint64_t kept = dropped == 64 ? 0 : top >> dropped;
    uint64_t rest = dropped == 64 ? top : top << (64 - dropped);
    uint64_t half = (uint64_t)1 << 63;
    if (rest > half || (rest == half && (is_inexact || (kept & 1) != 0)))
        kept++;
    return exponent + dropped > 971 ? (double)INFINITY
                                    : ldexp((double)kept, (int)(exponent + dropped));
}

static double round_product(decimal_product value, bool is_inexact, int64_t exponent)
{
    uint64_t high = (uint64_t)(value >> 64);
    int zeros = high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)value);
    value <<= zeros;
    return round_word((uint64_t)(value >> 64), is_inexact || (uint64_t)value != 0,
                      exponent - zeros + 64);
}

static double word_to_double(uint64_t word, int64_t exponent)
{
    if (exponent >= 0)
        return round_product((decimal_product)word * word_power((unsigned)exponent), false, 0);
    uint64_t divisor = word_power((unsigned)-exponent);
    int zeros = __builtin_clzll(word);
    decimal_product dividend = (decimal_product)(word << zeros) << 64;
    return round_product(dividend / divisor, dividend % divisor != 0, -64 - zeros);
}

/* --- Long integers --- */

/* 771 digits with an exponent of -1100, and 64 bits more: 6,300 bits. */
#define LIMBS_MAX 112

struct long_integer {
    size_t count;              /* of limbs that may be other than 0 */
    uint64_t limbs[LIMBS_MAX]; /* the smallest first */
};

static void multiply_add(struct long_integer *number, uint64_t factor, uint64_t addend)
{
    uint64_t carry = addend;
    for (size_t i = 0; i < number->count; i++) {
        decimal_product product = (decimal_product)number->limbs[i] * factor + carry;
        number->limbs[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry == 0)
        return;
    BB_ASSERT(number->count < LIMBS_MAX);
    number->limbs[number->count++] = carry;
}

/* Gives the remainder. */
static uint64_t divide(struct long_integer *number, uint64_t divisor)
{
    uint64_t remainder = 0;
    for (size_t i = number->count; i-- > 0;) {
        decimal_product part = (decimal_product)remainder << 64 | number->limbs[i];
        number->limbs[i] = (uint64_t)(part / divisor);
        remainder = (uint64_t)(part % divisor);
    }
    while (number->count > 0 && number->limbs[number->count - 1] == 0)
        number->count--;
    return remainder;
}

static void shift_limbs(struct long_integer *number, size_t limbs)
{
    BB_ASSERT(number->count + limbs <= LIMBS_MAX);
    memmove(number->limbs + limbs, number->limbs, number->count * sizeof(number->limbs[0]));
    memset(number->limbs, 0, limbs * sizeof(number->limbs[0]));
    number->count += limbs;
}

static void set_digits(struct long_integer *number, const struct bb_decimal *decimal)
{
    number->count = 0;
    for (size_t i = 0; i < decimal->digit_count; i++)
        multiply_add(number, 10, decimal->digits[i]);
    if (decimal->has_more)
        multiply_add(number, 10, 1);
}

/* The highest 64 bits of the number, which has two limbs at least, times 2^exponent. */
static double round_long(const struct long_integer *number, bool is_inexact, int64_t exponent)
{
    size_t count = number->count;
    decimal_product top =
        (decimal_product)number->limbs[count - 1] << 64 | number->limbs[count - 2];
    for (size_t i = 0; i + 2 < count; i++)
        is_inexact = is_inexact || number->limbs[i] != 0;
    return round_product(top, is_inexact, exponent + 64 * (int64_t)(count - 2));
}

static double long_to_double(const struct bb_decimal *decimal, int64_t exponent)
{
    struct long_integer number;
    set_digits(&number, decimal);
    exponent -= decimal->has_more;
    for (; exponent > 0; exponent--)
        multiply_add(&number, 10, 0);
    /* 10^n has less than 3.33 n bits; two limbs more stay after the division. */
    size_t limbs = (size_t)(-exponent) * 333 / 6400 + 3;
    bool is_inexact = false;
    shift_limbs(&number, limbs);
    for (int64_t left = -exponent; left > 0; left -= POWER_WORD_MAX) {
        unsigned part = left < POWER_WORD_MAX ? (unsigned)left : POWER_WORD_MAX;
        is_inexact = divide(&number, word_power(part)) != 0 || is_inexact;
    }
    return round_long(&number, is_inexact, -64 * (int64_t)limbs);
}

double bb_decimal_to_double(const struct bb_decimal *decimal, int64_t exponent)
{
    exponent += decimal->exponent;
    /* 10^leading is at most the value. */
    int64_t leading = exponent + (int64_t)decimal->digit_count - 1;
    if (decimal->digit_count == 0 || leading < LEADING_MIN)
        return 0;
    if (leading > LEADING_MAX)
        return (double)INFINITY;
    if (decimal->digit_count > BB_DECIMAL_WORD_DIGITS)
        return long_to_double(decimal, exponent);
    if (decimal->word < (uint64_t)1 << 53 && exponent >= -POWER_DOUBLE_MAX &&
        exponent <= POWER_DOUBLE_MAX)
        return exponent < 0 ? (double)decimal->word / POWERS[-exponent]
                            : (double)decimal->word * POWERS[exponent];
    if (exponent >= -POWER_WORD_MAX && exponent <= POWER_WORD_MAX)
        return word_to_double(decimal->word, exponent);
    return long_to_double(decimal, exponent);
}
