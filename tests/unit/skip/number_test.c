/* Numbers and decimals, against the C library's strtod and 64-bit limits. */
#include "skip/record/number.h"

#include <math.h>

#include "tests/support/rng.h"
#include "tests/unit/skip/record_fixture.h"

static void number__integers(void **state)
{
    static const struct record_case u64[] = {
        {"0", "0"},
        {"+5", "5"},
        {"007", "7"},
        {"0000000000000000000000000000000000001", "1"},
        {"9999999999999999999", "9999999999999999999"},
        {"999999999999999999:", "<malformed>"},
        {"/999999999999999999", "<malformed>"},
        {"18446744073709551615", "18446744073709551615"},
        {"18446744073709551616", "<malformed>"},
        {"99999999999999999999", "<malformed>"},
        {"-0", "<malformed>"},
        {"-1", "<malformed>"},
        {"", "<null>"},
        {"+", "<malformed>"},
        {" 1", "<malformed>"},
        {"1 ", "<malformed>"},
        {"1.0", "<malformed>"},
        {"1e3", "<malformed>"},
        {"0x10", "<malformed>"},
        {"++1", "<malformed>"},
        {"1,000", "<malformed>"},
    };
    static const struct record_case i64[] = {
        {"-0", "0"},
        {"-7", "-7"},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "<malformed>"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"-9223372036854775809", "<malformed>"},
        {"-", "<malformed>"},
        {"+-1", "<malformed>"},
        {"", "<null>"},
    };
    (void)state;
    ASSERT_CASES("a u64 = value", u64);
    ASSERT_CASES("a i64 = value", i64);
}

static void number__doubles(void **state)
{
    static const struct record_case cases[] = {
        {"0", "0"},
        {"-0", "-0"},
        {"1.5", "1.5"},
        {".5", "0.5"},
        {"5.", "5"},
        {"+1e3", "1000"},
        {"1E-2", "0.01"},
        {"1e+02", "100"},
        {"nan", "nan"},
        {"-NaN", "-nan"},
        {"Inf", "inf"},
        {"-infinity", "-inf"},
        {"1.7976931348623157e308", "1.7976931348623157e+308"},
        {"1.7976931348623159e308", "<malformed>"},
        {"1e309", "<malformed>"},
        {"1e999999999999999999999", "<malformed>"},
        {"4.9406564584124654e-324", "4.9406564584124654e-324"},
        {"2.4703282292062327e-324", "0"},
        {"2.4703282292062328e-324", "4.9406564584124654e-324"},
        {"1e-999999999999999999999", "0"},
        {"0e999999999999999999999", "0"},
        {"9007199254740993", "9007199254740992"},
        {"9007199254740993.0000000000000000000000000000001", "9007199254740994"},
        {"2.2250738585072011e-308", "2.2250738585072009e-308"},
        {"", "<null>"},
        {".", "<malformed>"},
        {"-", "<malformed>"},
        {"e5", "<malformed>"},
        {"1e", "<malformed>"},
        {"1e+", "<malformed>"},
        {"1e5.", "<malformed>"},
        {"1.5.", "<malformed>"},
        {"0x1p3", "<malformed>"},
        {" 1", "<malformed>"},
        {"1 ", "<malformed>"},
        {"1,5", "<malformed>"},
        {"infinit", "<malformed>"},
        {"nan(1)", "<malformed>"},
    };
    (void)state;
    ASSERT_CASES("a f64 = value", cases);
}

static void assert_as_strtod(const char *text)
{
    double expected = strtod(text, NULL);
    double found;
    bool is_read = bb_number_f64(bb_bytes_of_text(text), &found);
    if (is_read == isinf(expected) || (is_read && memcmp(&found, &expected, sizeof(found)) != 0))
        fail_msg("%s: %.17g, expected %.17g", text, is_read ? found : (double)NAN, expected);
}

/* A random bit pattern, as printed with 1 to 40 digits; and the middle of it and the next one. */
static void assert_near_double(struct bb_rng *rng)
{
    char text[1200];
    double value;
    uint64_t bits = bb_rng_next(rng);
    memcpy(&value, &bits, sizeof(value));
    if (!isfinite(value))
        return;
    snprintf(text, sizeof(text), "%.*e", (int)bb_rng_below(rng, 40), value);
    assert_as_strtod(text);
    /* 767 digits are exactly the double. One more digit makes it slightly different. */
    snprintf(text, sizeof(text), "%.780e", nextafter(value, 0) / 2 + value / 2);
    assert_as_strtod(text);
}

static void assert_random_text(struct bb_rng *rng)
{
    char text[900];
    size_t size = 0;
    size_t digits = 1 + bb_rng_skewed(rng, 800);
    size_t point = bb_rng_below(rng, digits + 1);
    for (size_t i = 0; i < digits; i++) {
        if (i == point)
            text[size++] = '.';
        text[size++] = (char)('0' + (bb_rng_one_in(rng, 3) ? 0 : bb_rng_below(rng, 10)));
    }
    snprintf(text + size, sizeof(text) - size, "e%d", (int)bb_rng_below(rng, 700) - 350);
    assert_as_strtod(text);
}

/* (2 m + 1) * 2^(e - 1) is the middle between two doubles. Its digits are exact in long double. */
static void assert_ties(struct bb_rng *rng)
{
    char text[1200];
    uint64_t odd = bb_rng_between(rng, (uint64_t)1 << 53, ((uint64_t)1 << 54) - 1) | 1;
    long double middle = ldexpl((long double)odd, (int)bb_rng_below(rng, 2000) - 1060);
    int size = snprintf(text, sizeof(text), "%.1100Lg", middle);
    if (strchr(text, 'i') != NULL)
        return;
    assert_as_strtod(text);
    char *exponent = strchr(text, 'e');
    if (exponent == NULL && strchr(text, '.') != NULL) {
        text[size] = '1';
        text[size + 1] = '\0';
        assert_as_strtod(text);
    }
}

static void number__doubles_are_rounded_as_by_strtod(void **state)
{
    struct bb_rng rng;
    (void)state;
    bb_rng_init(&rng, bb_rng_seed("number__doubles_are_rounded_as_by_strtod", 20261122));
    for (int i = 0; i < 20000; i++) {
        assert_near_double(&rng);
        assert_random_text(&rng);
        assert_ties(&rng);
    }
}

static void number__many_digits_are_one_number(void **state)
{
    size_t size = (size_t)1 << 20;
    char *text = malloc(size + 16);
    double found;
    (void)state;
    assert_non_null(text);
    memset(text, '0', size);
    memcpy(text, "1.", 2);
    assert_true(bb_number_f64(bb_bytes_of(text, size), &found));
    assert_true(found == 1);
    /* 1 + 2^-53 is a tie; a digit a megabyte later decides. */
    memcpy(text, "1.00000000000000011102230246251565404236316680908203125", 55);
    assert_true(bb_number_f64(bb_bytes_of(text, size), &found));
    assert_true(found == 1);
    text[size - 1] = '1';
    assert_true(bb_number_f64(bb_bytes_of(text, size), &found));
    assert_true(found > 1);
    memset(text, '0', size);
    snprintf(text + size, 16, "1e-1048576");
    assert_true(bb_number_f64(bb_bytes_of(text, size + 10), &found));
    assert_true(found == 0);
    memset(text, '9', size);
    assert_false(bb_number_f64(bb_bytes_of(text, size), &found));
    snprintf(text + size, 16, "e-1048576");
    assert_true(bb_number_f64(bb_bytes_of(text, size + 9), &found));
    assert_true(found == 1);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number__integers),
        cmocka_unit_test(number__doubles),
        cmocka_unit_test(number__doubles_are_rounded_as_by_strtod),
        cmocka_unit_test(number__many_digits_are_one_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
