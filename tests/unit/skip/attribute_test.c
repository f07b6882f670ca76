/* Attributes: names of types, and their order. */
#include "skip/record/attribute.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct bb_attribute bytes_of(const char *text)
{
    return (struct bb_attribute){.type = BB_ATTRIBUTE_BYTES,
                                 .as.bytes = {(const uint8_t *)text, strlen(text)}};
}

static struct bb_attribute double_of(double value)
{
    return (struct bb_attribute){.type = BB_ATTRIBUTE_F64, .as.f64 = value};
}

static void assert_ascends(struct bb_attribute low, struct bb_attribute high)
{
    assert_true(bb_attribute_compare(&low, &high) < 0);
    assert_true(bb_attribute_compare(&high, &low) > 0);
    assert_int_equal(bb_attribute_compare(&low, &low), 0);
}

static void attribute__compare_orders_each_type(void **state)
{
    (void)state;
    assert_ascends(bytes_of(""), bytes_of("a"));
    assert_ascends(bytes_of("a"), bytes_of("a\x01"));
    assert_ascends(bytes_of("a\x7f"), bytes_of("a\x80"));
    assert_ascends((struct bb_attribute){.type = BB_ATTRIBUTE_I64, .as.i64 = INT64_MIN},
                   (struct bb_attribute){.type = BB_ATTRIBUTE_I64, .as.i64 = INT64_MAX});
    assert_ascends((struct bb_attribute){.type = BB_ATTRIBUTE_TIME, .as.i64 = -1},
                   (struct bb_attribute){.type = BB_ATTRIBUTE_TIME, .as.i64 = 0});
    assert_ascends((struct bb_attribute){.type = BB_ATTRIBUTE_U64, .as.u64 = 1},
                   (struct bb_attribute){.type = BB_ATTRIBUTE_U64, .as.u64 = UINT64_MAX});
    assert_ascends(double_of(-INFINITY), double_of(-1e300));
    assert_ascends(double_of(-0.0), double_of(5e-324));
}

static void attribute__negative_zero_equals_zero(void **state)
{
    (void)state;
    struct bb_attribute minus = double_of(-0.0);
    struct bb_attribute plus = double_of(0.0);
    assert_int_equal(bb_attribute_compare(&minus, &plus), 0);
}

static void attribute__nan_is_recognised_where_there_is_a_value(void **state)
{
    (void)state;
    struct bb_attribute nan = double_of(NAN);
    struct bb_attribute missing = double_of(NAN);
    struct bb_attribute infinite = double_of(INFINITY);
    missing.state = BB_ATTRIBUTE_MISSING;
    assert_true(bb_attribute_is_nan(&nan));
    assert_false(bb_attribute_is_nan(&missing));
    assert_false(bb_attribute_is_nan(&infinite));
}

static void attribute__types_have_names(void **state)
{
    (void)state;
    assert_string_equal(bb_attribute_type_name(BB_ATTRIBUTE_BYTES), "bytes");
    assert_string_equal(bb_attribute_type_name(BB_ATTRIBUTE_TIME), "time");
    assert_null(bb_attribute_type_name((enum bb_attribute_type)0));
    assert_null(bb_attribute_type_name((enum bb_attribute_type)6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attribute__compare_orders_each_type),
        cmocka_unit_test(attribute__negative_zero_equals_zero),
        cmocka_unit_test(attribute__nan_is_recognised_where_there_is_a_value),
        cmocka_unit_test(attribute__types_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
