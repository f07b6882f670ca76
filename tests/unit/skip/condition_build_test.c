/* Goal: conditions made by calls equal conditions made from text; ownership; used attributes; the
 * needles of a raw search. */
#include "tests/unit/skip/condition_fixture.h"

#include <math.h>

#include "skip/condition/needle.h"

static struct bb_condition *compare(const struct bb_schema *schema, size_t attribute,
                                    enum bb_comparison comparison, struct bb_attribute literal)
{
    struct bb_condition *condition = NULL;
    assert_status(bb_condition_compare(schema, attribute, comparison, &literal, &condition), BB_OK);
    return condition;
}

static void assert_built(struct bb_condition *condition, const char *canonical)
{
    assert_prints_condition(condition, canonical);
    bb_condition_destroy(condition);
}

static void build__comparisons(void **state)
{
    (void)state;
    struct bb_schema *s = create_schema();
    assert_built(compare(s, FIELD_I64, BB_COMPARISON_EQUAL, i64_value(-5)), "i = -5");
    assert_built(compare(s, FIELD_I64, BB_COMPARISON_NOT_EQUAL, u64_value(5)), "i <> 5");
    assert_built(compare(s, FIELD_I64, BB_COMPARISON_LESS, f64_value(1.5)), "i <= 1");
    assert_built(compare(s, FIELD_I64, BB_COMPARISON_GREATER, f64_value(-1.5)), "i >= -1");
    assert_built(compare(s, FIELD_I64, BB_COMPARISON_EQUAL, f64_value(1.5)), "i IN ()");
    assert_built(compare(s, FIELD_U64, BB_COMPARISON_LESS, f64_value(INFINITY)), "u >= 0");
    assert_built(compare(s, FIELD_U64, BB_COMPARISON_GREATER, f64_value(-INFINITY)), "u >= 0");
    assert_built(compare(s, FIELD_U64, BB_COMPARISON_GREATER, f64_value(1e300)), "u IN ()");
    assert_built(compare(s, FIELD_U64, BB_COMPARISON_GREATER_OR_EQUAL, i64_value(INT64_MIN)),
                 "u >= 0");
    assert_built(compare(s, FIELD_F64, BB_COMPARISON_EQUAL, u64_value((1ull << 53) + 1)),
                 "f IN ()");
    assert_built(compare(s, FIELD_F64, BB_COMPARISON_LESS_OR_EQUAL, f64_value(-0.0)), "f <= 0");
    assert_built(compare(s, FIELD_TIME, BB_COMPARISON_LESS, time_value(0)),
                 "t < '1970-01-01T00:00:00Z'");
    assert_built(compare(s, FIELD_TIME, BB_COMPARISON_GREATER_OR_EQUAL, text_value("2015-05-17")),
                 "t >= '2015-05-17T00:00:00Z'");
    assert_built(compare(s, FIELD_TEXT, BB_COMPARISON_EQUAL, bytes_value(NULL, 0)), "text = ''");
    bb_schema_destroy(s);
}

static void build__lists_and_texts(void **state)
{
    (void)state;
    struct bb_schema *s = create_schema();
    struct bb_condition *condition = NULL;
    struct bb_attribute values[] = {i64_value(3), f64_value(1.0), f64_value(1.5), u64_value(3)};
    struct bb_bytes texts[] = {bb_bytes_of_text("a b"), bb_bytes_of_text("c")};
    assert_status(bb_condition_in(s, FIELD_I64, values, 4, &condition), BB_OK);
    assert_built(condition, "i IN (1, 3)");
    assert_status(bb_condition_in(s, FIELD_I64, NULL, 0, &condition), BB_OK);
    assert_built(condition, "i IN ()");
    assert_status(bb_condition_between(s, FIELD_I64, &values[2], &values[0], &condition), BB_OK);
    assert_built(condition, "i BETWEEN 2 AND 3");
    assert_status(bb_condition_is_null(s, FIELD_I64, &condition), BB_OK);
    assert_built(condition, "i IS NULL");
    assert_status(bb_condition_constant(BB_TRUTH_TRUE, &condition), BB_OK);
    assert_built(condition, "TRUE");
    assert_status(bb_condition_constant(BB_TRUTH_UNKNOWN, &condition), BB_OK);
    assert_built(condition, "NULL");
    assert_status(
        bb_condition_text(s, FIELD_TEXT, BB_PREDICATE_HAS_ANY_TOKEN, texts, 2, &condition), BB_OK);
    assert_built(condition, "has_any_token(text, 'a', 'b', 'c')");
    assert_status(bb_condition_text(s, FIELD_TEXT, BB_PREDICATE_CONTAINS, texts, 1, &condition),
                  BB_OK);
    assert_built(condition, "text LIKE '%a b%'");
    bb_schema_destroy(s);
}

static void build__joining_takes_what_it_joins(void **state)
{
    (void)state;
    struct bb_schema *s = create_schema();
    struct bb_condition *parts[2] = {compare(s, FIELD_I64, BB_COMPARISON_EQUAL, i64_value(1)),
                                     compare(s, FIELD_U64, BB_COMPARISON_EQUAL, i64_value(2))};
    struct bb_condition *condition = NULL;
    bb_schema_destroy(s);
    assert_status(bb_condition_or(parts, 2, &condition), BB_OK);
    assert_status(bb_condition_not(condition, &condition), BB_OK);
    assert_status(bb_condition_and(&condition, 1, &condition), BB_OK);
    assert_true(bb_condition_uses(condition, FIELD_I64));
    assert_true(bb_condition_uses(condition, FIELD_U64));
    assert_false(bb_condition_uses(condition, FIELD_TEXT));
    assert_built(condition, "NOT (i = 1 OR u = 2)");
}

static void build__a_failure_leaves_the_parts_to_the_caller(void **state)
{
    (void)state;
    struct bb_condition *condition = NULL;
    struct bb_condition *untouched = NULL;
    assert_status(bb_condition_and(NULL, 0, &untouched), BB_INVALID);
    assert_status(bb_condition_constant(BB_TRUTH_TRUE, &condition), BB_OK);
    for (size_t depth = 1; depth < BB_CONDITION_DEPTH_MAX; depth++)
        assert_status(bb_condition_not(condition, &condition), BB_OK);
    assert_status(bb_condition_not(condition, &untouched), BB_TOO_LARGE);
    assert_null(untouched);
    bb_condition_destroy(condition);
    bb_condition_destroy(NULL);
    bb_condition_run_destroy(NULL);
}

static void build__wrong_arguments_are_refused(void **state)
{
    (void)state;
    struct bb_schema *s = create_schema();
    struct bb_condition *none = NULL;
    struct bb_attribute one = i64_value(1);
    struct bb_attribute nan = f64_value(NAN);
    struct bb_attribute null = {.state = BB_ATTRIBUTE_NULL, .type = BB_ATTRIBUTE_I64};
    struct bb_attribute text = text_value("x");
    struct bb_bytes texts[2] = {bb_bytes_of_text("x"), bb_bytes_of_text("y")};
    assert_status(bb_condition_compare(s, FIELD_COUNT, BB_COMPARISON_EQUAL, &one, &none),
                  BB_INVALID);
    assert_status(bb_condition_compare(s, FIELD_I64, 0, &one, &none), BB_INVALID);
    assert_status(bb_condition_compare(s, FIELD_I64, 7, &one, &none), BB_INVALID);
    assert_status(bb_condition_compare(s, FIELD_F64, BB_COMPARISON_EQUAL, &nan, &none), BB_INVALID);
    assert_status(bb_condition_compare(s, FIELD_I64, BB_COMPARISON_EQUAL, &null, &none),
                  BB_INVALID);
    assert_status(bb_condition_compare(s, FIELD_I64, BB_COMPARISON_EQUAL, &text, &none),
                  BB_INVALID);
    assert_status(bb_condition_compare(s, FIELD_TIME, BB_COMPARISON_EQUAL, &one, &none),
                  BB_INVALID);
    assert_status(bb_condition_between(s, FIELD_I64, &one, &text, &none), BB_INVALID);
    assert_status(bb_condition_in(s, FIELD_TEXT, &one, 1, &none), BB_INVALID);
    assert_status(bb_condition_text(s, FIELD_TEXT, 0, texts, 1, &none), BB_INVALID);
    assert_status(bb_condition_text(s, FIELD_TEXT, BB_PREDICATE_LIKE, texts, 2, &none), BB_INVALID);
    assert_status(bb_condition_text(s, FIELD_TEXT, BB_PREDICATE_HAS_ALL_TOKENS, texts, 0, &none),
                  BB_INVALID);
    assert_status(bb_condition_text(s, FIELD_I64, BB_PREDICATE_LIKE, texts, 1, &none), BB_INVALID);
    assert_status(bb_condition_constant(7, &none), BB_INVALID);
    assert_null(none);
    bb_schema_destroy(s);
}

/* The needles of a condition on verbatim attributes (text, j up to escapes) and on others:
 * separated by '|', "" if there is no needle. */
static void assert_needles(const char *text, const char *expected)
{
    struct bb_schema *schema = create_schema();
    struct bb_condition *condition = NULL;
    struct bb_needles needles;
    struct bb_buf found = {0};
    assert_status(bb_schema_add(schema, "j bytes = csv(1)"), BB_OK);
    assert_status(bb_schema_add(schema, "k bytes = key"), BB_OK);
    assert_status(bb_schema_add(schema, "n bytes = json($.n)"), BB_OK);
    assert_status(bb_schema_add(schema, "sp u64 = split(' ', 2)"), BB_OK);
    assert_status(bb_schema_add(schema, "b u64 = fixed(4, u32le)"), BB_OK);
    assert_status(bb_schema_add(schema, "d i64 = fixed(4, bytes 8)"), BB_OK);
    assert_status(bb_condition_parse(schema, bb_bytes_of_text(text), &condition), BB_OK);
    bb_needles_of_condition(condition, schema, &needles);
    for (size_t i = 0; i < needles.count; i++) {
        const struct bb_needle *needle = &needles.items[i];
        assert_status(bb_buf_print(&found, "%s", i == 0 ? "" : "|"), BB_OK);
        if (needle->run_size > 0)
            assert_status(bb_buf_print(&found, "%d digits", needle->run_size), BB_OK);
        else
            assert_status(
                bb_buf_append(&found, bb_needle_bytes(needle).data, bb_needle_bytes(needle).size),
                BB_OK);
    }
    if (!bb_bytes_equal(bb_buf_bytes(&found), bb_bytes_of_text(expected)))
        fail_msg("%s: needles are %.*s, not %s", text, (int)found.size, (const char *)found.data,
                 expected);
    bb_buf_deinit(&found);
    bb_condition_destroy(condition);
    bb_schema_destroy(schema);
}

static void build__needles(void **state)
{
    (void)state;
    assert_needles("text = 'abc'", "abc");
    assert_needles("text = ''", "");
    assert_needles("text <> 'abc'", "");
    assert_needles("NOT text <> 'abc'", "abc");
    assert_needles("text IN ('abc', 'd')", "abc|d");
    assert_needles("text IN ('abc', '')", "");
    assert_needles("text IN ('1', '2', '3', '4', '5', '6', '7', '8')", "1|2|3|4|5|6|7|8");
    assert_needles("text IN ('1', '2', '3', '4', '5', '6', '7', '8', '9')", "");
    assert_needles("text < 'abc'", "");
    assert_needles("text LIKE '%ab%cde%'", "cde");
    assert_needles("text ILIKE '%aB%'", "ab");
    assert_needles("text ILIKE '%ab%' AND text LIKE '%a%'", "ab");
    assert_needles("matches(text, '(?i)Ab+c')", "ab");
    assert_needles("text ILIKE '%ab%' OR text LIKE '%ab%'", "ab|ab");
    assert_needles("has_token(text, 'ab') AND i > 12345", "ab");
    assert_needles("has_any_token(text, 'ab cd')", "ab|cd");
    assert_needles("has_token(text, 'ab') AND matches(text, 'a+bcd')", "bcd");
    assert_needles("text = 'ab' OR text = 'cd'", "ab|cd");
    assert_needles("text = 'ab' OR text < 'cd'", "");
    assert_needles("text = 'ab' OR text = 'cd' AND text = 'efg'", "ab|efg");
    assert_needles("(text = 'a' OR text = 'bcde') AND text = 'fg'", "fg");
    assert_needles("NOT (text <> 'ab' OR text <> 'bcd')", "bcd");
    assert_needles("NOT (text <> 'ab' AND text <> 'bcd')", "ab|bcd");
    assert_needles("j = 'abc'", "abc|\"");
    assert_needles("j = 'abc' AND text = 'ab'", "abc|\"");
    assert_needles("j = 'abc' OR j = 'ab'", "abc|\"|ab");
    assert_needles("n = 'abc'", "abc|\\");
    assert_needles("k = 'abc'", "");
    assert_needles("k = 'abc' OR text = 'ab'", "");
    assert_needles("TRUE", "");
}

/* Of a number the digits are in its text, without a sign and zeros before them. */
static void build__needles_of_numbers(void **state)
{
    (void)state;
    assert_needles("sp = 418", "418");
    assert_needles("sp = 0", "0");
    assert_needles("sp IN (404, 18446744073709551615)", "404|18446744073709551615");
    assert_needles("d = -9223372036854775808", "9223372036854775808");
    assert_needles("sp <> 418", "");
    assert_needles("sp > 418", "");
    assert_needles("b = 418", "");
    assert_needles("sp = 418 AND text = 'ab'", "418");
}

/* Of a range of large numbers it is known how many digits its numbers have at least. */
static void build__needles_of_ranges(void **state)
{
    (void)state;
    assert_needles("sp > 99998", "");
    assert_needles("sp > 99999", "6 digits");
    assert_needles("sp >= 100000000 AND sp < 5000000000", "9 digits");
    assert_needles("sp BETWEEN 1234567 AND 18446744073709551615", "7 digits");
    assert_needles("sp < 100000000", "");
    assert_needles("NOT sp > 100000000", "");
    assert_needles("NOT sp <= 100000000", "");
    assert_needles("b > 100000000", "");
    assert_needles("d > 100000000", "9 digits");
    assert_needles("d < -100000000", "9 digits");
    assert_needles("d > -100000000", "");
    assert_needles("d BETWEEN -200000000 AND -9999999", "7 digits");
    assert_needles("sp > 100000000 OR text = 'ab'", "9 digits|ab");
    assert_needles("sp > 100000000 OR d > 1000000", "9 digits|7 digits");
    assert_needles("sp > 100000000 AND text = 'abcde'", "abcde");
    assert_needles("sp > 100000000 AND text = 'abc'", "9 digits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(build__comparisons),
        cmocka_unit_test(build__lists_and_texts),
        cmocka_unit_test(build__joining_takes_what_it_joins),
        cmocka_unit_test(build__a_failure_leaves_the_parts_to_the_caller),
        cmocka_unit_test(build__wrong_arguments_are_refused),
        cmocka_unit_test(build__needles),
        cmocka_unit_test(build__needles_of_numbers),
        cmocka_unit_test(build__needles_of_ranges),
    };
    return cmocka_run_group_tests_name("condition_build", tests, NULL, NULL);
}
