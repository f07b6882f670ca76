/* Schemas: canonical definitions, refusals and their places, lists of definitions as text. */
#include <string.h>

#include "bb/record.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "tests/support/assert_status.h"

static struct bb_schema *new_schema(void)
{
    struct bb_schema *schema;
    assert_ok(bb_schema_create(&schema));
    return schema;
}

static void ignore_record(void *context, struct bb_bytes key, struct bb_bytes value,
                          struct bb_attribute *attribute)
{
    (void)context;
    (void)key;
    (void)value;
    attribute->state = BB_ATTRIBUTE_NULL;
}

/* A definition, and its canonical text. */
static const char *const CANONICAL[][2] = {
    {"a bytes = key", "a bytes = key"},
    {"  _b1   u64=value ", "_b1 u64 = value"},
    {"a i64 = split(' ',3)", "a i64 = split(' ', 3)"},
    {"a bytes = split('\\x2c', 007, quoted)", "a bytes = split(',', 7, quoted)"},
    {"a bytes = split('\\x00',1)", "a bytes = split('\\x00', 1)"},
    {"a bytes = split('\\'',1)", "a bytes = split('\\'', 1)"},
    {"a bytes = split('\xff',1)", "a bytes = split('\\xff', 1)"},
    {"a f64 = csv(65535)", "a f64 = csv(65535)"},
    {"a bytes = csv(size, 'host,size,status')", "a bytes = csv(2)"},
    {"a bytes = csv('a \"b\"', 'host,\"a \"\"b\"\"\"')", "a bytes = csv(2)"},
    {"a bytes = tsv(c, 'a b\\tc')", "a bytes = tsv(2)"},
    {"a u64 = fixed(0,u16be)", "a u64 = fixed(0, u16be)"},
    {"a bytes = fixed(4, bytes   16)", "a bytes = fixed(4, bytes 16)"},
    {"a time(unix_ms) = fixed(8,i64le)", "a time(unix_ms) = fixed(8, i64le)"},
    {"a time( clf ) = clf(time)", "a time(clf) = clf(time)"},
    {"a time('%Y-%m-%d') = key", "a time('%Y-%m-%d') = key"},
    {"a u64 = callback(f)", "a u64 = callback(f)"},
};

static void schema__definitions_have_one_canonical_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(CANONICAL); i++) {
        struct bb_schema *schema = new_schema();
        assert_ok(bb_schema_add_callback(schema, "f", ignore_record, NULL));
        assert_ok(bb_schema_add(schema, CANONICAL[i][0]));
        assert_string_equal(bb_schema_definition(schema, 0), CANONICAL[i][1]);
        bb_schema_destroy(schema);
        schema = new_schema();
        assert_ok(bb_schema_add_callback(schema, "f", ignore_record, NULL));
        assert_ok(bb_schema_add(schema, CANONICAL[i][1]));
        assert_string_equal(bb_schema_definition(schema, 0), CANONICAL[i][1]);
        bb_schema_destroy(schema);
    }
}

/* Invalid definitions, and a part of the message. */
static const char *const REFUSED[][2] = {
    {"", "at byte 0: expected a name"},
    {"1a u64 = key", "at byte 0: expected a name"},
    {"Between u64 = key", "at byte 0: this is a word of conditions"},
    {"a", "at byte 1: expected a type"},
    {"a int = key", "at byte 2: unknown type"},
    {"a time = key", "at byte 7: expected '('"},
    {"a time(rfc) = key", "at byte 7: unknown format of time"},
    {"a time('%Y') = key", "at byte 7: the pattern lacks"},
    {"a time('%Y%m%d%q') = key", "at byte 7: unknown directive"},
    {"a time('%Y%m%d%') = key", "at byte 7: unknown directive"},
    {"a time('%Y%m%d%y') = key", "at byte 7: two directives"},
    {"a time('%Y%m%d) = key", "at byte 7: the quote has no end"},
    {"a u64 key", "at byte 6: expected '='"},
    {"a u64 =", "at byte 7: expected an extractor"},
    {"a u64 = kea", "at byte 8: unknown extractor, expected one of key"},
    {"a u64 = key()", "at byte 11: expected the end"},
    {"a u64 = split('', 1)", "at byte 14: a separator is one byte"},
    {"a u64 = split('ab', 1)", "at byte 14: a separator is one byte"},
    {"a u64 = split('\\n', 1)", "at byte 14: a newline"},
    {"a u64 = split('\\q', 1)", "at byte 15: unknown escape"},
    {"a u64 = split(',', 0)", "at byte 19: the number of a field is from 1 to 65535"},
    {"a u64 = split(',', 65536)", "at byte 19: the number of a field is"},
    {"a u64 = split(',', 99999999999999999999999)", "at byte 19: the number of a field is"},
    {"a u64 = split(',', -1)", "at byte 19: expected the number of a field"},
    {"a u64 = split(',', 1, quotes)", "at byte 22: expected \"quoted\""},
    {"a u64 = split('\"', 1, quoted)", "at byte 22: expected \"quoted\""},
    {"a u64 = csv(0)", "at byte 12: the number"},
    {"a u64 = csv(b)", "at byte 13: expected ','"},
    {"a u64 = csv(b, 'a,c')", "at byte 12: the header has no column"},
    {"a u64 = csv(b, '')", "at byte 12: the header has no column"},
    {"a u64 = csv('', '')", "at byte 12: the header has no column"},
    {"a u64 = tsv(b, '')", "at byte 12: the header has no column"},
    {"a u64 = clf(code)", "at byte 12: unknown field"},
    {"a u64 = clf(status", "at byte 18: expected ')'"},
    {"a u64 = fixed(0, i32le)", "at byte 17: i32le does not give u64"},
    {"a time(clf) = fixed(0, i32le)", "at byte 23: i32le does not give time"},
    {"a f64 = fixed(0, u8)", "at byte 17: u8 does not give f64"},
    {"a bytes = fixed(0, u8)", "at byte 19: u8 does not give bytes"},
    {"a u64 = fixed(0, u32)", "at byte 17: unknown form"},
    {"a u64 = fixed(99999999999999, u8)", "at byte 14: an offset is from 0"},
    {"a bytes = fixed(0, bytes 0)", "at byte 25: a length is from 1"},
    {"a u64 = callback(g)", "at byte 17: no callback of this name"},
    {"a u64 = key\n", "at byte 11: expected the end"},
};

static void schema__what_is_wrong_is_said_with_its_offset(void **state)
{
    struct bb_schema *schema = new_schema();
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(REFUSED); i++) {
        assert_status(bb_schema_add(schema, REFUSED[i][0]), BB_INVALID);
        assert_message(REFUSED[i][1]);
    }
    assert_int_equal(bb_schema_count(schema), 0);
    bb_schema_destroy(schema);
}

static void schema__every_cut_of_a_definition_is_refused(void **state)
{
    static const char whole[] = "a time('%d/%m/%Y %f') = split('\\x09', 12, quoted)";
    char cut[sizeof(whole)];
    struct bb_schema *schema = new_schema();
    (void)state;
    for (size_t size = 0; size < strlen(whole); size++) {
        memcpy(cut, whole, size);
        cut[size] = '\0';
        assert_status(bb_schema_add(schema, cut), BB_INVALID);
    }
    assert_ok(bb_schema_add(schema, whole));
    bb_schema_destroy(schema);
}

static void schema__names_are_unique_and_found(void **state)
{
    struct bb_schema *schema = new_schema();
    size_t found = 99;
    (void)state;
    assert_ok(bb_schema_add(schema, "a u64 = key"));
    assert_ok(bb_schema_add(schema, "A bytes = value"));
    assert_status(bb_schema_add(schema, "a bytes = key"), BB_EXISTS);
    assert_int_equal(bb_schema_count(schema), 2);
    assert_ok(bb_schema_find(schema, bb_bytes_of_text("A"), &found));
    assert_int_equal(found, 1);
    assert_status(bb_schema_find(schema, bb_bytes_of_text("b"), &found), BB_NOT_FOUND);
    assert_int_equal(bb_schema_type(schema, 0), BB_ATTRIBUTE_U64);
    assert_string_equal(bb_schema_name(schema, 1), "A");
    bb_schema_destroy(schema);
}

static void schema__attributes_and_names_have_limits(void **state)
{
    struct bb_schema *schema = new_schema();
    char text[BB_DEFINITION_SIZE_MAX + 2];
    (void)state;
    memset(text, 'n', sizeof(text));
    strcpy(text + BB_ATTRIBUTE_NAME_MAX, " u64 = key");
    assert_ok(bb_schema_add(schema, text));
    memset(text, 'm', sizeof(text));
    strcpy(text + BB_ATTRIBUTE_NAME_MAX + 1, " u64 = key");
    assert_status(bb_schema_add(schema, text), BB_INVALID);
    memset(text, ' ', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_status(bb_schema_add(schema, text), BB_INVALID);
    for (int i = 1; i < BB_SCHEMA_ATTRIBUTES_MAX; i++) {
        snprintf(text, sizeof(text), "a%d u64 = key", i);
        assert_ok(bb_schema_add(schema, text));
    }
    assert_status(bb_schema_add(schema, "b u64 = key"), BB_INVALID);
    bb_schema_destroy(schema);
}

/* Escapes made a text longer than a schema would read back. */
static void schema__a_definition_that_is_too_long_with_its_escapes_is_refused(void **state)
{
    struct bb_schema *schema;
    char text[2048] = "a bytes = logfmt('";
    size_t size = strlen(text);
    (void)state;
    memset(text + size, 0xff, 1010);
    strcpy(text + size + 1010, "')");
    schema = new_schema();
    assert_ok(bb_schema_add(schema, text));
    bb_schema_destroy(schema);
    memset(text + size, 0xff, 1020);
    strcpy(text + size + 1020, "')");
    schema = new_schema();
    assert_status(bb_schema_add(schema, text), BB_INVALID);
    assert_message("with its escapes");
    bb_schema_destroy(schema);
}

static void schema__a_list_of_definitions_is_read_back(void **state)
{
    struct bb_schema *schema = new_schema();
    struct bb_schema *copy = new_schema();
    struct bb_buf text = {0}, again = {0};
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(CANONICAL); i++) {
        char definition[128];
        snprintf(definition, sizeof(definition), "x%zu%s", i, strchr(CANONICAL[i][1], ' '));
        if (i == 0)
            assert_ok(bb_schema_add_callback(schema, "f", ignore_record, NULL));
        assert_ok(bb_schema_add(schema, definition));
    }
    assert_ok(bb_schema_encode(schema, &text));
    struct bb_bytes bytes = {text.data, text.size};
    assert_status(bb_schema_decode(copy, bytes), BB_INVALID); /* the callback is not registered */
    assert_int_equal(bb_schema_count(copy), BB_ARRAY_LENGTH(CANONICAL) - 1);
    bb_schema_destroy(copy);
    copy = new_schema();
    assert_ok(bb_schema_add_callback(copy, "f", ignore_record, NULL));
    assert_ok(bb_schema_decode(copy, bytes));
    assert_ok(bb_schema_encode(copy, &again));
    assert_int_equal(again.size, text.size);
    assert_memory_equal(again.data, text.data, text.size);
    bytes.size--;
    assert_status(bb_schema_decode(copy, bytes), BB_EXISTS);
    bb_buf_deinit(&text);
    bb_buf_deinit(&again);
    bb_schema_destroy(schema);
    bb_schema_destroy(copy);
}

static void schema__callbacks_have_names_of_their_own(void **state)
{
    struct bb_schema *schema = new_schema();
    (void)state;
    assert_ok(bb_schema_add_callback(schema, "f", ignore_record, NULL));
    assert_status(bb_schema_add_callback(schema, "f", ignore_record, NULL), BB_EXISTS);
    assert_status(bb_schema_add_callback(schema, "", ignore_record, NULL), BB_INVALID);
    assert_status(bb_schema_add_callback(schema, "f)", ignore_record, NULL), BB_INVALID);
    bb_schema_destroy(schema);
}

static void schema__knows_whose_bytes_are_in_the_value_as_they_are(void **state)
{
    static const struct {
        const char *definition;
        enum bb_verbatim verbatim;
        uint8_t escape;
    } cases[] = {
        {"a bytes = key", BB_VERBATIM_NEVER, 0},
        {"b bytes = value", BB_VERBATIM_ALWAYS, 0},
        {"c bytes = split(' ', 1)", BB_VERBATIM_ALWAYS, 0},
        {"d bytes = split(' ', 1, quoted)", BB_VERBATIM_UNESCAPED, '"'},
        {"e bytes = csv(1)", BB_VERBATIM_UNESCAPED, '"'},
        {"f bytes = tsv(1)", BB_VERBATIM_ALWAYS, 0},
        {"g bytes = clf(agent)", BB_VERBATIM_ALWAYS, 0},
        {"h u64 = clf(status)", BB_VERBATIM_NEVER, 0},
        {"i bytes = fixed(0, bytes 4)", BB_VERBATIM_ALWAYS, 0},
    };
    struct bb_schema *schema = new_schema();
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(cases); i++) {
        uint8_t escape = 0;
        assert_ok(bb_schema_add(schema, cases[i].definition));
        assert_int_equal(bb_schema_verbatim(schema, i, &escape), cases[i].verbatim);
        assert_int_equal(escape, cases[i].escape);
        assert_int_equal(bb_schema_is_verbatim(schema, i), cases[i].verbatim == BB_VERBATIM_ALWAYS);
    }
    bb_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema__definitions_have_one_canonical_text),
        cmocka_unit_test(schema__what_is_wrong_is_said_with_its_offset),
        cmocka_unit_test(schema__every_cut_of_a_definition_is_refused),
        cmocka_unit_test(schema__names_are_unique_and_found),
        cmocka_unit_test(schema__attributes_and_names_have_limits),
        cmocka_unit_test(schema__a_definition_that_is_too_long_with_its_escapes_is_refused),
        cmocka_unit_test(schema__a_list_of_definitions_is_read_back),
        cmocka_unit_test(schema__callbacks_have_names_of_their_own),
        cmocka_unit_test(schema__knows_whose_bytes_are_in_the_value_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
