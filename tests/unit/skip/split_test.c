/* Separated fields: split, csv and tsv, with quotes and without. */
#include "tests/unit/skip/record_fixture.h"

static void split__fields_without_quotes(void **state)
{
    static const struct record_case second[] = {
        {"a,b,c", "b"},      {"a,b", "b"},
        {"a,b\n", "b"},      {"a,b\r\n", "b"},
        {"a,b\r", "b\\x0d"}, {"a,b\n\n", "b\\x0a"},
        {"a,,c", ""},        {"a,", ""},
        {"a,\n", ""},        {"a", "<missing>"},
        {"", "<missing>"},   {"\n", "<missing>"},
        {",", ""},           {"a,\"b,c\"", "\"b"},
        {"a, b ,c", " b "},  {"a,\xff\xfe,", "\\xff\\xfe"},
    };
    static const struct record_case far[] = {
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21", "20"},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20", "20"},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,", "<null>"},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19", "<missing>"},
        {",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", "<null>"},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,x", "<malformed>"},
    };
    (void)state;
    ASSERT_CASES("a bytes = split(',', 2)", second);
    ASSERT_CASES("a u64 = split(',', 20)", far);
}

static void split__quotes(void **state)
{
    static const struct record_case cases[] = {
        {"a,\"b\",c", "b"},
        {"a,\"b\"", "b"},
        {"a,\"b\"\r\n", "b"},
        {"a,\"b,c\",d", "b,c"},
        {"a,\"b\nc\",d", "b\\x0ac"},
        {"a,\"b\"\"c\",d", "b\"c"},
        {"a,\"\"\"\",d", "\""},
        {"a,\"\"\"\"\"\",d", "\"\""},
        {"a,\"\",d", ""},
        {"a,b\"c,d", "b\"c"},
        {"a,b\"\"c,d", "b\"\"c"},
        {"a, \"b\",d", " \"b\""},
        {"\"a,b\",c,d", "c"},
        {"\"a\"\",b\",c", "c"},
        {"\"a\"x,c", "c"},
        {"\"a\"x\",c", "c"},
        {"a,\"b\"x,c", "<malformed>"},
        {"a,\"b\" ,c", "<malformed>"},
        {"a,\"b", "<malformed>"},
        {"a,\"b\"\"", "<malformed>"},
        {"a,\"", "<malformed>"},
        {"\"a,b,c", "<missing>"},
        {"\"a\"", "<missing>"},
    };
    (void)state;
    ASSERT_CASES("a bytes = csv(2)", cases);
    ASSERT_CASES("a bytes = split(',', 2, quoted)", cases);
}

static void split__other_separators(void **state)
{
    static const struct record_case tabs[] = {
        {"a\tb\tc", "b"},
        {"a\t\"b\tc\"", "\"b"},
        {"a,b", "<missing>"},
        {"a\t\\N", "\\\\N"},
    };
    static const struct record_case blanks[] = {
        {"a \"b c\" d", "b c"},
        {"a  d", ""},
        {"a b\"c d", "b\"c"},
    };
    (void)state;
    ASSERT_CASES("a bytes = tsv(2)", tabs);
    ASSERT_CASES("a bytes = split('\\x09', 2)", tabs);
    ASSERT_CASES("a bytes = split(' ', 2, quoted)", blanks);
}

/* Three attributes of one record whose quotes are doubled stay apart in the reader's memory. */
static void split__several_fields_without_their_quotes(void **state)
{
    static const char line[] = "\"a\"\"\",\"\"\"b\",plain,\"c\"\"c\"";
    static const char *const expected[] = {"a\"", "\"b", "plain", "c\"c", "c\"c"};
    struct bb_schema *schema;
    struct bb_record_reader *reader;
    struct bb_attribute attributes[5];
    char text[32];
    (void)state;
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add(schema, "a bytes = csv(1)"));
    assert_ok(bb_schema_add(schema, "b bytes = csv(2)"));
    assert_ok(bb_schema_add(schema, "c bytes = csv(3)"));
    assert_ok(bb_schema_add(schema, "d bytes = csv(4)"));
    assert_ok(bb_schema_add(schema, "e bytes = csv(4)"));
    assert_ok(bb_record_reader_create(schema, NULL, &reader));
    for (int round = 0; round < 3; round++) {
        assert_ok(bb_record_read(reader, bb_bytes_of(NULL, 0), bb_bytes_of_text(line), attributes));
        for (size_t i = 0; i < BB_ARRAY_LENGTH(expected); i++) {
            attribute_print(&attributes[i], text, sizeof(text));
            assert_string_equal(text, expected[i]);
        }
    }
    bb_record_reader_destroy(reader);
    bb_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split__fields_without_quotes),
        cmocka_unit_test(split__quotes),
        cmocka_unit_test(split__other_separators),
        cmocka_unit_test(split__several_fields_without_their_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
