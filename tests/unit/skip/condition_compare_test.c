/* Goal: comparisons have SQL's meaning at every type's limits; their text is parsed, refused with
 * its position, and printed so that it parses to the same. */
#include "tests/unit/skip/condition_fixture.h"

#include <math.h>
#include <stdlib.h>

static void compare__each_operator(void **state)
{
    (void)state;
    assert_truth("i = 5", FIELD_I64, i64_value(5), TRUE);
    assert_truth("i = 5", FIELD_I64, i64_value(4), FALSE);
    assert_truth("i != 5", FIELD_I64, i64_value(5), FALSE);
    assert_truth("i <> 5", FIELD_I64, i64_value(-5), TRUE);
    assert_truth("i < 5", FIELD_I64, i64_value(4), TRUE);
    assert_truth("i < 5", FIELD_I64, i64_value(5), FALSE);
    assert_truth("i <= 5", FIELD_I64, i64_value(5), TRUE);
    assert_truth("i > -5", FIELD_I64, i64_value(-4), TRUE);
    assert_truth("i > -5", FIELD_I64, i64_value(-5), FALSE);
    assert_truth("i >= -5", FIELD_I64, i64_value(-5), TRUE);
    assert_truth("i BETWEEN 1 AND 3", FIELD_I64, i64_value(3), TRUE);
    assert_truth("i BETWEEN 1 AND 3", FIELD_I64, i64_value(0), FALSE);
    assert_truth("i BETWEEN 3 AND 1", FIELD_I64, i64_value(2), FALSE);
    assert_truth("i NOT BETWEEN 1 AND 3", FIELD_I64, i64_value(4), TRUE);
    assert_truth("i IN (1, 3, 2, 3)", FIELD_I64, i64_value(3), TRUE);
    assert_truth("i NOT IN (1, 3)", FIELD_I64, i64_value(2), TRUE);
    assert_truth("i IN ()", FIELD_I64, i64_value(2), FALSE);
}

static void compare__bytes_order_bytewise(void **state)
{
    (void)state;
    assert_truth("text = ''", FIELD_TEXT, text_value(""), TRUE);
    assert_truth("text < ''", FIELD_TEXT, text_value(""), FALSE);
    assert_truth("text >= ''", FIELD_TEXT, text_value(""), TRUE);
    assert_truth("text > ''", FIELD_TEXT, bytes_value("\0", 1), TRUE);
    assert_truth("text > 'a'", FIELD_TEXT, bytes_value("a\0", 2), TRUE);
    assert_truth("text < 'b'", FIELD_TEXT, bytes_value("a\xff", 2), TRUE);
    assert_truth("text = 'it''s'", FIELD_TEXT, text_value("it's"), TRUE);
    assert_truth("text = \"say \"\"x\"\"\"", FIELD_TEXT, text_value("say \"x\""), TRUE);
    assert_truth("`text` = 'x'", FIELD_TEXT, text_value("x"), TRUE);
    assert_truth("starts_with = 'x'", FIELD_OTHER, text_value("x"), TRUE);
}

static void compare__null_is_unknown_and_is_null_never(void **state)
{
    (void)state;
    static const enum bb_attribute_state nulls[] = {BB_ATTRIBUTE_NULL, BB_ATTRIBUTE_MISSING,
                                                    BB_ATTRIBUTE_MALFORMED};
    for (size_t i = 0; i < 3; i++) {
        struct bb_attribute null = {.state = nulls[i]};
        assert_truth("i = 5", FIELD_I64, null, UNKNOWN);
        assert_truth("i <> 5", FIELD_I64, null, UNKNOWN);
        assert_truth("i IN ()", FIELD_I64, null, UNKNOWN);
        assert_truth("i = 1.5", FIELD_I64, null, UNKNOWN);
        assert_truth("u >= 0", FIELD_U64, null, UNKNOWN);
        assert_truth("i IS NULL", FIELD_I64, null, TRUE);
        assert_truth("i IS NOT NULL", FIELD_I64, null, FALSE);
    }
    assert_truth("i IS NULL", FIELD_I64, i64_value(0), FALSE);
    assert_truth("f IS NULL", FIELD_F64, f64_value(NAN), FALSE);
}

static void compare__three_values_of_and_or_not(void **state)
{
    (void)state;
    struct bb_attribute one = i64_value(1);
    assert_truth("i = 1 AND u = 1", FIELD_I64, one, UNKNOWN);
    assert_truth("i = 2 AND u = 1", FIELD_I64, one, FALSE);
    assert_truth("u = 1 AND i = 2", FIELD_I64, one, FALSE);
    assert_truth("u = 1 OR i = 1", FIELD_I64, one, TRUE);
    assert_truth("u = 1 OR i = 2", FIELD_I64, one, UNKNOWN);
    assert_truth("NOT u = 1", FIELD_I64, one, UNKNOWN);
    assert_truth("NOT (i = 1 AND NOT i = 2)", FIELD_I64, one, FALSE);
    assert_truth("TRUE AND NOT FALSE", FIELD_I64, one, TRUE);
    assert_truth("NOT NULL OR i = 2", FIELD_I64, one, UNKNOWN);
    assert_truth("i = 2 OR i = 1 AND FALSE", FIELD_I64, one, FALSE);
    assert_truth("(i = 1 OR i = 2) AND TRUE", FIELD_I64, one, TRUE);
}

static void compare__nan_satisfies_no_comparison(void **state)
{
    (void)state;
    struct bb_attribute nan = f64_value(NAN);
    assert_truth("f = 1", FIELD_F64, nan, FALSE);
    assert_truth("f <> 1", FIELD_F64, nan, TRUE);
    assert_truth("f < 1", FIELD_F64, nan, FALSE);
    assert_truth("f >= -1e999", FIELD_F64, nan, FALSE);
    assert_truth("NOT f < 1", FIELD_F64, nan, TRUE);
    assert_truth("f NOT IN (1, 2)", FIELD_F64, nan, TRUE);
    assert_truth("f BETWEEN 0 AND 1", FIELD_F64, nan, FALSE);
}

static void compare__doubles_at_their_limits(void **state)
{
    (void)state;
    assert_truth("f = 0", FIELD_F64, f64_value(-0.0), TRUE);
    assert_truth("f = -0.0", FIELD_F64, f64_value(0.0), TRUE);
    assert_truth("f < 0", FIELD_F64, f64_value(-0.0), FALSE);
    assert_truth("f = 0.1", FIELD_F64, f64_value(0.1), TRUE);
    assert_truth("f = 1e999", FIELD_F64, f64_value(INFINITY), TRUE);
    assert_truth("f < 1e999", FIELD_F64, f64_value(1.7976931348623157e308), TRUE);
    assert_truth("f > 1e999", FIELD_F64, f64_value(INFINITY), FALSE);
    assert_truth("f >= 5e-324", FIELD_F64, f64_value(5e-324), TRUE);
}

/* 2^53 + 1 is between two doubles, a number of 400 digits between the largest one and infinity. */
static void compare__integers_with_doubles_exactly(void **state)
{
    (void)state;
    struct bb_attribute below = f64_value(9007199254740992.0);
    struct bb_attribute above = f64_value(9007199254740994.0);
    assert_truth("f = 9007199254740993", FIELD_F64, below, FALSE);
    assert_truth("f = 9007199254740993", FIELD_F64, above, FALSE);
    assert_truth("f = 9007199254740994", FIELD_F64, above, TRUE);
    assert_truth("f < 9007199254740993", FIELD_F64, below, TRUE);
    assert_truth("f >= 9007199254740993", FIELD_F64, below, FALSE);
    assert_truth("f > 9007199254740993", FIELD_F64, above, TRUE);
    assert_truth("f > -9007199254740993", FIELD_F64, f64_value(-9007199254740992.0), TRUE);
    assert_truth("f <= -9007199254740993", FIELD_F64, f64_value(-9007199254740994.0), TRUE);
    assert_truth("f <= -9007199254740993", FIELD_F64, f64_value(-9007199254740992.0), FALSE);
    char text[500] = "f < 1";
    memset(text + 5, '0', 400);
    assert_truth(text, FIELD_F64, f64_value(1.7976931348623157e308), TRUE);
    assert_truth(text, FIELD_F64, f64_value(INFINITY), FALSE);
    memcpy(text, "f >-1", 5);
    assert_truth(text, FIELD_F64, f64_value(-1.7976931348623157e308), TRUE);
    assert_truth(text, FIELD_F64, f64_value(-INFINITY), FALSE);
}

static void compare__decimals_with_integers_exactly(void **state)
{
    (void)state;
    assert_truth("i < 1.5", FIELD_I64, i64_value(1), TRUE);
    assert_truth("i < 1.5", FIELD_I64, i64_value(2), FALSE);
    assert_truth("i > -1.5", FIELD_I64, i64_value(-1), TRUE);
    assert_truth("i > -1.5", FIELD_I64, i64_value(-2), FALSE);
    assert_truth("i <= -1.5", FIELD_I64, i64_value(-2), TRUE);
    assert_truth("i = 1.5", FIELD_I64, i64_value(1), FALSE);
    assert_truth("i <> 1.5", FIELD_I64, i64_value(1), TRUE);
    assert_truth("i = 1.50e1", FIELD_I64, i64_value(15), TRUE);
    assert_truth("i = 2500e-2", FIELD_I64, i64_value(25), TRUE);
    assert_truth("i = .0e5", FIELD_I64, i64_value(0), TRUE);
    assert_truth("i > 0.0000001", FIELD_I64, i64_value(0), FALSE);
    assert_truth("i < 9007199254740992.5", FIELD_I64, i64_value(9007199254740992), TRUE);
    assert_truth("u > 1e30", FIELD_U64, u64_value(UINT64_MAX), FALSE);
    assert_truth("u < 1e30", FIELD_U64, u64_value(UINT64_MAX), TRUE);
    assert_truth("u > -1e-30", FIELD_U64, u64_value(0), TRUE);
    assert_truth("u = -0", FIELD_U64, u64_value(0), TRUE);
}

static void compare__integers_beyond_64_bits(void **state)
{
    (void)state;
    assert_truth("u = 18446744073709551615", FIELD_U64, u64_value(UINT64_MAX), TRUE);
    assert_truth("u = 18446744073709551616", FIELD_U64, u64_value(0), FALSE);
    assert_truth("u < 18446744073709551616", FIELD_U64, u64_value(UINT64_MAX), TRUE);
    assert_truth("u >= 18446744073709551616", FIELD_U64, u64_value(UINT64_MAX), FALSE);
    assert_truth("u > 18446744073709551615", FIELD_U64, u64_value(UINT64_MAX), FALSE);
    assert_truth("u > -1", FIELD_U64, u64_value(0), TRUE);
    assert_truth("u <= -1", FIELD_U64, u64_value(0), FALSE);
    assert_truth("u < 0", FIELD_U64, u64_value(0), FALSE);
    assert_truth("i = -9223372036854775808", FIELD_I64, i64_value(INT64_MIN), TRUE);
    assert_truth("i >= -9223372036854775809", FIELD_I64, i64_value(INT64_MIN), TRUE);
    assert_truth("i < -9223372036854775808", FIELD_I64, i64_value(INT64_MIN), FALSE);
    assert_truth("i < -9223372036854775807.5", FIELD_I64, i64_value(INT64_MIN), TRUE);
    assert_truth("i < 9223372036854775808", FIELD_I64, i64_value(INT64_MAX), TRUE);
    assert_truth("i = 9223372036854775808", FIELD_I64, i64_value(INT64_MIN), FALSE);
    assert_truth("i BETWEEN -99999999999999999999 AND 99999999999999999999", FIELD_I64,
                 i64_value(INT64_MIN), TRUE);
}

static void compare__times(void **state)
{
    (void)state;
    int64_t time = 1431857103; /* 2015-05-17T10:05:03Z */
    struct bb_attribute value = time_value(time * 1000000000);
    assert_truth("t = '2015-05-17T10:05:03Z'", FIELD_TIME, value, TRUE);
    assert_truth("t = '2015-05-17 10:05:03'", FIELD_TIME, value, TRUE);
    assert_truth("t = '2015-05-17T12:05:03+02:00'", FIELD_TIME, value, TRUE);
    assert_truth("t = '2015-05-17T06:35:03-0330'", FIELD_TIME, value, TRUE);
    assert_truth("t < '2015-05-17T10:05:03.000000001Z'", FIELD_TIME, value, TRUE);
    assert_truth("t >= '2015-05-17' AND t < '2015-05-18'", FIELD_TIME, value, TRUE);
    assert_truth("t > '2015-05-17T10:05'", FIELD_TIME, value, TRUE);
    assert_truth("t = '1969-12-31T23:59:59.9Z'", FIELD_TIME, time_value(-100000000), TRUE);
    assert_truth("t = '1677-09-21T00:12:43.145224192Z'", FIELD_TIME, time_value(INT64_MIN), TRUE);
    assert_truth("t = '2262-04-11T23:47:16.854775807Z'", FIELD_TIME, time_value(INT64_MAX), TRUE);
    assert_truth("t = '2000-02-29'", FIELD_TIME, time_value(951782400000000000), TRUE);
}

static void compare__wrong_text_is_refused_with_its_position(void **state)
{
    (void)state;
    assert_refused("", "at byte 0: expected a condition on an attribute, found the end");
    assert_refused("i = 'x'", "at byte 4: expected a number, as the attribute is of type i64");
    assert_refused("text = 5", "at byte 7: expected a string, as the attribute is of type bytes");
    assert_refused("t > 5", "at byte 4: expected a time as a string");
    assert_refused("t > '2015-02-29'", "at byte 4: expected a time from");
    assert_refused("t > '2300-01-01'", "at byte 4: expected a time from 1677");
    assert_refused("i BETWEEN 1 AND 'x'", "at byte 16: expected a number");
    assert_refused("i BETWEEN 'x' AND 1", "at byte 10: expected a number");
    assert_refused("i BETWEEN 1 OR 2", "at byte 12: expected AND of BETWEEN, found OR");
    assert_refused("i IN (1, 'x')", "at byte 9: expected a number");
    assert_refused("i IN (1 2)", "at byte 8: expected , or ) of IN, found 2");
    assert_refused("i IN (1,)", "at byte 8: expected a string or a number, found )");
    assert_refused("i = NULL", "IS NULL");
    assert_refused("nothing = 5", "at byte 0: expected the name of an attribute, found nothing");
    assert_refused("I = 5", "at byte 0: expected the name of an attribute, found I");
    assert_refused("i = 5 AND", "at byte 9: expected a condition on an attribute, found the end");
    assert_refused("i = 5 i = 6", "at byte 6: expected AND, OR or the end, found i");
    assert_refused("(i = 5", "at byte 6: expected AND, OR or ), found the end");
    assert_refused("i = 5)", "at byte 5: expected AND, OR or the end, found )");
    assert_refused("i IS 5", "at byte 5: expected NULL or NOT NULL, found 5");
    assert_refused("i NOT 5", "at byte 6: expected");
    assert_refused("i = 5x", "at byte 4: expected a string or a number, found a malformed number");
    assert_refused("i = 'x", "found a quote that is not closed");
    assert_refused("i = 5 ; i", "found a character that no condition has: ;");
    assert_refused("i", "at byte 1: expected a comparison");
    assert_refused("AND = 5", "at byte 0: expected a condition on an attribute, found AND");
    assert_refused("5 = i", "at byte 0: expected a condition on an attribute, found 5");
}

static void compare__limits(void **state)
{
    (void)state;
    char text[3 * BB_CONDITION_DEPTH_MAX + 20] = "";
    struct bb_condition *condition = NULL;
    memset(text, '(', BB_CONDITION_DEPTH_MAX);
    strcat(text, "i = 1");
    memset(text + strlen(text), ')', BB_CONDITION_DEPTH_MAX);
    assert_prints(text, "i = 1");
    memmove(text + 1, text, strlen(text));
    text[0] = '(';
    strcat(text, ")");
    assert_status(try_to_parse(bb_bytes_of_text(text), &condition), BB_TOO_LARGE);
    assert_message("at byte 100");

    struct bb_buf nots = {0};
    for (size_t i = 0; i < BB_CONDITION_DEPTH_MAX; i++)
        assert_status(bb_buf_append(&nots, "NOT ", 4), BB_OK);
    assert_status(bb_buf_append(&nots, "TRUE", 4), BB_OK);
    assert_status(try_to_parse(bb_buf_bytes(&nots), &condition), BB_TOO_LARGE);
    struct bb_bytes less = bb_bytes_of(nots.data + 4, nots.size - 4);
    assert_status(try_to_parse(less, &condition), BB_OK);
    bb_condition_destroy(condition);
    bb_buf_deinit(&nots);

    static char number[BB_CONDITION_NUMBER_SIZE_MAX + 10] = "i < ";
    memset(number + 4, '9', BB_CONDITION_NUMBER_SIZE_MAX);
    assert_truth(number, FIELD_I64, i64_value(INT64_MAX), TRUE);
    strcat(number, "9");
    assert_status(try_to_parse(bb_bytes_of_text(number), &condition), BB_TOO_LARGE);
    struct bb_bytes huge = {.data = (const uint8_t *)"", .size = BB_CONDITION_SIZE_MAX + 1};
    assert_status(try_to_parse(huge, &condition), BB_TOO_LARGE);
}

static void compare__one_text_for_one_tree(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"i=5", "i = 5"},
        {"i != 5", "i <> 5"},
        {"NOT i = 5", "i <> 5"},
        {"not not i = 5", "NOT i <> 5"},
        {"i < 1.5", "i <= 1"},
        {"NOT i < 5", "NOT i <= 4"},
        {"i = 1.5", "i IN ()"},
        {"i >= -9223372036854775808", "i >= -9223372036854775808"},
        {"i < 9223372036854775808", "i >= -9223372036854775808"},
        {"u < 0", "u IN ()"},
        {"i in (3, 1, 2, 3)", "i IN (1, 2, 3)"},
        {"i NOT IN (7)", "i <> 7"},
        {"i NOT BETWEEN 1 AND 3", "i NOT BETWEEN 1 AND 3"},
        {"i BETWEEN 2 AND 2", "i = 2"},
        {"i BETWEEN -99999999999999999999 AND 7", "i <= 7"},
        {"f < .5", "f < 0.5"},
        {"f BETWEEN 0.1 AND 1e300", "f BETWEEN 0.1 AND 1e+300"},
        {"f BETWEEN 9007199254740993 AND 1e16", "f BETWEEN 9007199254740994 AND 1e+16"},
        {"f >= -1e999", "f >= -1e999"},
        {"f > -1e999", "f > -1e999"},
        {"f < 1e999", "f < 1e999"},
        {"f = -0.0", "f = 0"},
        {"t < '2015-05-18'", "t < '2015-05-18T00:00:00Z'"},
        {"t <= '2015-05-18 00:00:00.5'", "t <= '2015-05-18T00:00:00.5Z'"},
        {"t >= '1677-09-21T00:12:43.145224192Z'", "t >= '1677-09-21T00:12:43.145224192Z'"},
        {"text = \"it's\"", "text = 'it''s'"},
        {"text > ''", "text > ''"},
        {"text < ''", "text IN ()"},
        {"text BETWEEN '' AND 'b'", "text <= 'b'"},
        {"`text` = 'a'", "text = 'a'"},
        {"NOT i IS NULL", "i IS NOT NULL"},
        {"NOT TRUE or false", "NOT TRUE OR FALSE"},
        {"null and not (Null)", "NULL AND NOT NULL"},
        {"i=1 or i=2 and u=3 or (f=4)", "i = 1 OR i = 2 AND u = 3 OR f = 4"},
        {"(i=1 or i=2) and (u=3 and f=4)", "(i = 1 OR i = 2) AND (u = 3 AND f = 4)"},
        {"i=1 or (i=2 or u=3)", "i = 1 OR (i = 2 OR u = 3)"},
        {"NOT (i=1 AND u=2)", "NOT (i = 1 AND u = 2)"},
        {"NOT NOT (i=1 AND u=2)", "NOT NOT (i = 1 AND u = 2)"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_prints(texts[i][0], texts[i][1]);
        assert_prints(texts[i][1], texts[i][1]);
    }
}

static void compare__another_type_than_the_conditions_is_refused(void **state)
{
    (void)state;
    struct bb_attribute record[FIELD_COUNT] = {[FIELD_I64] = f64_value(1)};
    enum bb_truth truth = BB_TRUTH_FALSE;
    struct bb_condition *condition = parse("i = 1");
    assert_status(try_to_test(condition, record, &truth), BB_INVALID);
    assert_message("expects i64");
    bb_condition_destroy(condition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compare__each_operator),
        cmocka_unit_test(compare__bytes_order_bytewise),
        cmocka_unit_test(compare__null_is_unknown_and_is_null_never),
        cmocka_unit_test(compare__three_values_of_and_or_not),
        cmocka_unit_test(compare__nan_satisfies_no_comparison),
        cmocka_unit_test(compare__doubles_at_their_limits),
        cmocka_unit_test(compare__integers_with_doubles_exactly),
        cmocka_unit_test(compare__decimals_with_integers_exactly),
        cmocka_unit_test(compare__integers_beyond_64_bits),
        cmocka_unit_test(compare__times),
        cmocka_unit_test(compare__wrong_text_is_refused_with_its_position),
        cmocka_unit_test(compare__limits),
        cmocka_unit_test(compare__one_text_for_one_tree),
        cmocka_unit_test(compare__another_type_than_the_conditions_is_refused),
    };
    return cmocka_run_group_tests_name("condition_compare", tests, NULL, NULL);
}
