/* Names and values of logfmt. */
#include "tests/unit/skip/record_fixture.h"

static void logfmt__values(void **state)
{
    static const struct record_case cases[] = {
        {"a=1", "1"},
        {"b=2 a=1\n", "1"},
        {"  b=2   a=1  ", "1"},
        {"a= b=2", ""},
        {"a b=2", "<null>"},
        {"b=2 a", "<null>"},
        {"a=\"\"", ""},
        {"a=\"x y\" b=1", "x y"},
        {"b=\"a=2\" a=1", "1"},
        {"a=1 a=2", "1"},
        {"a a=2", "<null>"},
        {"a=x=y", "x=y"},
        {"a=x\"y", "x\"y"},
        {"aa=2 A=3", "<missing>"},
        {"", "<missing>"},
        {"\n", "<missing>"},
        {"=1", "<missing>"},
        {"a=\"q\\\"q\\\\\" b=1", "q\"q\\\\"},
        {"a=\"\\n\\r\\t\\b\\f\\q\\/\"", "\\x0a\\x0d\\x09\\x08\\x0cq/"},
        {"a=\"\\u00e9\\ud83d\\ude00\"", "\\xc3\\xa9\\xf0\\x9f\\x98\\x80"},
        {"a=\"\\ud83d\"", "<malformed>"},
        {"a=\"\\u12\"", "<malformed>"},
        {"a=\"x\"y b=1", "<malformed>"},
        {"b=\"x\"y a=1", "1"},
        {"a=\"x", "<malformed>"},
        {"a=\"x\\", "<malformed>"},
        {"a=\"x\\\"", "<malformed>"},
        {"b=\"x a=1", "<malformed>"},
        {"a=1 b=\"x", "1"},
        {"a=\xff\xfe", "\\xff\\xfe"},
    };
    (void)state;
    ASSERT_CASES("a bytes = logfmt(a)", cases);
    ASSERT_CASES("a bytes = logfmt('a')", cases);
}

static void logfmt__several_names_are_found_in_one_pass(void **state)
{
    static const char line[] = "level=warn msg=\"a \\\"b\\\"\" n=7 msg=again note=\"\\n\" flag";
    static const char *const expected[] = {"a \"b\"", "a \"b\"", "<malformed>", "7",
                                           "warn",    "\\x0a",   "<null>",      "<missing>"};
    struct bb_schema *schema;
    struct bb_record_reader *reader;
    struct bb_attribute attributes[8];
    char text[32];
    (void)state;
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add(schema, "a bytes = logfmt(msg)"));
    assert_ok(bb_schema_add(schema, "b bytes = logfmt(msg)"));
    assert_ok(bb_schema_add(schema, "c u64 = logfmt(msg)"));
    assert_ok(bb_schema_add(schema, "d u64 = logfmt(n)"));
    assert_ok(bb_schema_add(schema, "e bytes = logfmt(level)"));
    assert_ok(bb_schema_add(schema, "f bytes = logfmt(note)"));
    assert_ok(bb_schema_add(schema, "g bytes = logfmt(flag)"));
    assert_ok(bb_schema_add(schema, "h bytes = logfmt('no:such')"));
    assert_ok(bb_record_reader_create(schema, NULL, &reader));
    assert_ok(bb_record_read(reader, bb_bytes_of(NULL, 0), bb_bytes_of_text(line), attributes));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(expected); i++) {
        attribute_print(&attributes[i], text, sizeof(text));
        assert_string_equal(text, expected[i]);
    }
    bb_record_reader_destroy(reader);
    bb_schema_destroy(schema);
}

static void logfmt__definitions(void **state)
{
    static const char *const refused[] = {"a u64 = logfmt()", "a u64 = logfmt('')",
                                          "a u64 = logfmt('a b')", "a u64 = logfmt('a=b')",
                                          "a u64 = logfmt(a b)"};
    struct bb_schema *schema;
    (void)state;
    assert_ok(bb_schema_create(&schema));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(refused); i++)
        assert_status(bb_schema_add(schema, refused[i]), BB_INVALID);
    assert_ok(bb_schema_add(schema, "a u64 = logfmt( 'http.status-code' )"));
    assert_string_equal(bb_schema_definition(schema, 0), "a u64 = logfmt(http.status-code)");
    assert_ok(bb_schema_add(schema, "b u64 = logfmt('a:b')"));
    assert_string_equal(bb_schema_definition(schema, 1), "b u64 = logfmt('a:b')");
    bb_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logfmt__values),
        cmocka_unit_test(logfmt__several_names_are_found_in_one_pass),
        cmocka_unit_test(logfmt__definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
