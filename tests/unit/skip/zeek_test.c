/* Fields of Zeek's logs. */
#include "tests/unit/skip/record_fixture.h"

static void zeek__fields(void **state)
{
    static const struct record_case cases[] = {
        {"1.5\tC1\t10.0.0.1", "C1"},
        {"1.5\t-\tx", "<null>"},
        {"1.5\t(empty)\tx", ""},
        {"1.5\t\tx", ""},
        {"1.5\t--\tx", "--"},
        {"1.5\ta\\x09b\\xFF\tx", "a\\x09b\\xff"},
        {"1.5\ta\\\\x09\tx", "a\\\\x09"},
        {"1.5\t\\x2d\tx", "-"},
        {"1.5\t\\x2g\\x2\tx", "\\\\x2g\\\\x2"},
        {"1.5\t\\\tx", "\\\\"},
        {"1.5\t\\", "\\\\"},
        {"1.5\t\"a b\"\n", "\"a b\""},
        {"1.5", "<missing>"},
        {"", "<missing>"},
    };
    (void)state;
    ASSERT_CASES("a bytes = zeek(2)", cases);
    ASSERT_CASES("a bytes = zeek(uid, 'ts uid id.orig_h')", cases);
    ASSERT_CASES("a bytes = zeek('uid', 'ts\\tuid\\tid.orig_h')", cases);
}

static void zeek__types(void **state)
{
    static const struct record_case times[] = {
        {"1521911720.865716\tx", "1521911720865716000"},
        {"-\tx", "<null>"},
        {"(empty)\tx", "<null>"},
    };
    static const struct record_case numbers[] = {{"a\t0.125", "0.125"}, {"a\t-", "<null>"}};
    (void)state;
    ASSERT_CASES("a time(unix_float) = zeek(ts, 'ts uid')", times);
    ASSERT_CASES("a f64 = zeek(rtt, 'ts rtt')", numbers);
}

static void zeek__definitions(void **state)
{
    struct bb_schema *schema;
    (void)state;
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add(schema, "a u64 = zeek('id.orig_h', 'ts uid id.orig_h')"));
    assert_string_equal(bb_schema_definition(schema, 0), "a u64 = zeek(3)");
    assert_status(bb_schema_add(schema, "b u64 = zeek(0)"), BB_INVALID);
    assert_status(bb_schema_add(schema, "b u64 = zeek(uid, 'ts')"), BB_INVALID);
    assert_message("at byte 13: the header has no column");
    bb_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeek__fields),
        cmocka_unit_test(zeek__types),
        cmocka_unit_test(zeek__definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
