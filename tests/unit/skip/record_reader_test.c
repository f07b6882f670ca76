/* The reader: several attributes and formats together, callbacks, requested attributes, fixed
 * offsets. */
#include "tests/unit/skip/record_fixture.h"

static void record_reader__reads_wanted_attributes_alone(void **state)
{
    static const char *const definitions[] = {
        "host bytes = clf(host)",     "status u64 = clf(status)", "same u64 = clf(status)",
        "word bytes = split(' ', 2)", "name bytes = key",         "all bytes = value",
        "late bytes = split(' ', 9)", "tab bytes = tsv(1)",
    };
    static const char *const expected[] = {
        "h", "7", "7", "-", "k", "h - u [t] \"-\" 7 8\n", "<missing>", "h - u [t] \"-\" 7 8"};
    enum { COUNT = BB_ARRAY_LENGTH(definitions) };
    struct bb_schema *schema;
    (void)state;
    assert_ok(bb_schema_create(&schema));
    for (size_t i = 0; i < COUNT; i++)
        assert_ok(bb_schema_add(schema, definitions[i]));
    for (unsigned mask = 0; mask < 1u << COUNT; mask++) {
        struct bb_attribute attributes[COUNT];
        struct bb_record_reader *reader;
        bool wanted[COUNT];
        char text[64];
        for (size_t i = 0; i < COUNT; i++) {
            wanted[i] = (mask >> i & 1) != 0;
            attributes[i].state = (enum bb_attribute_state)77;
        }
        assert_ok(bb_record_reader_create(schema, wanted, &reader));
        assert_ok(bb_record_read(reader, bb_bytes_of("k", 1),
                                 bb_bytes_of_text("h - u [t] \"-\" 7 8\n"), attributes));
        for (size_t i = 0; i < COUNT; i++) {
            if (!wanted[i]) {
                assert_int_equal(attributes[i].state, 77);
                continue;
            }
            attribute_print(&attributes[i], text, sizeof(text));
            if (i == 5)
                assert_int_equal(attributes[i].as.bytes.size, strlen(expected[i]));
            else
                assert_string_equal(text, expected[i]);
        }
        bb_record_reader_destroy(reader);
    }
    bb_schema_destroy(schema);
}

static const uint8_t FIXED[] = {0x80, 0x01, 0xff, 0xfe, 0x00, 0x00, 0x00, 0x01, 0x40, 0x09,
                                0x21, 0xfb, 0x54, 0x44, 0x2d, 0x18, 0x31, 0x32, 0x00, 0x00,
                                0xc0, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void record_reader__fixed_offsets(void **state)
{
    static const char *const expected[][2] = {
        {"a u64 = fixed(0, u8)", "128"},
        {"a i64 = fixed(0, i8)", "-128"},
        {"a i64 = fixed(0, u8)", "128"},
        {"a u64 = fixed(0, u16be)", "32769"},
        {"a u64 = fixed(0, u16le)", "384"},
        {"a i64 = fixed(2, i16be)", "-2"},
        {"a i64 = fixed(2, i16le)", "-257"},
        {"a u64 = fixed(4, u32be)", "1"},
        {"a u64 = fixed(4, u32le)", "16777216"},
        {"a i64 = fixed(0, i32be)", "-2147352578"},
        {"a f64 = fixed(8, f64be)", "3.1415926535897931"},
        {"a f64 = fixed(18, f32le)", "1.5"},
        {"a u64 = fixed(22, u64le)", "18446744073709551615"},
        {"a i64 = fixed(22, i64le)", "-1"},
        {"a i64 = fixed(22, u64le)", "<malformed>"},
        {"a u64 = fixed(23, u64le)", "<missing>"},
        {"a u64 = fixed(30, u8)", "<missing>"},
        {"a u64 = fixed(1099511627776, u8)", "<missing>"},
        {"a u64 = fixed(16, bytes 2)", "12"},
        {"a bytes = fixed(16, bytes 3)", "12\\x00"},
        {"a bytes = fixed(16, bytes 14)",
         "12\\x00\\x00\\xc0?\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff"},
        {"a bytes = fixed(16, bytes 15)", "<missing>"},
        {"a time(unix) = fixed(4, u32be)", "1000000000"},
        {"a time(unix_ms) = fixed(2, i16be)", "-2000000"},
        {"a time(unix) = fixed(22, u64le)", "<malformed>"},
        {"a time(unix) = fixed(8, u64be)", "<malformed>"},
    };
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(expected); i++) {
        struct record_fixture fixture;
        fixture_open(&fixture, expected[i][0]);
        const char *found = fixture_read(&fixture, bb_bytes_of(FIXED, sizeof(FIXED)));
        if (strcmp(found, expected[i][1]) != 0)
            fail_msg("%s: \"%s\", expected \"%s\"", expected[i][0], found, expected[i][1]);
        assert_string_equal(fixture_read(&fixture, bb_bytes_of(NULL, 0)), "<missing>");
        fixture_close(&fixture);
    }
}

/* Gives the value in reverse, and the number of its bytes. */
static void reverse(void *context, struct bb_bytes key, struct bb_bytes value,
                    struct bb_attribute *attribute)
{
    static uint8_t reversed[64];
    (void)key;
    *(int *)context += 1;
    assert_int_equal(attribute->state, BB_ATTRIBUTE_MISSING);
    if (value.size > sizeof(reversed))
        return;
    attribute->state = BB_ATTRIBUTE_PRESENT;
    if (attribute->type == BB_ATTRIBUTE_U64) {
        attribute->as.u64 = value.size;
        return;
    }
    for (size_t i = 0; i < value.size; i++)
        reversed[i] = value.data[value.size - 1 - i];
    attribute->as.bytes = bb_bytes_of(reversed, value.size);
}

static void record_reader__callbacks(void **state)
{
    struct bb_schema *schema;
    struct bb_record_reader *first, *second;
    struct bb_attribute one[2], other[2];
    uint8_t large[65] = {0};
    int calls = 0;
    (void)state;
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add_callback(schema, "reverse", reverse, &calls));
    assert_ok(bb_schema_add(schema, "a bytes = callback(reverse)"));
    assert_ok(bb_schema_add(schema, "b u64 = callback(reverse)"));
    assert_ok(bb_record_reader_create(schema, NULL, &first));
    assert_ok(bb_record_reader_create(schema, NULL, &second));
    assert_ok(bb_record_read(first, bb_bytes_of(NULL, 0), bb_bytes_of_text("abc"), one));
    assert_ok(bb_record_read(second, bb_bytes_of(NULL, 0), bb_bytes_of_text("0123456"), other));
    assert_int_equal(calls, 4);
    assert_memory_equal(one[0].as.bytes.data, "cba", 3); /* its own copy */
    assert_int_equal(one[1].as.u64, 3);
    assert_memory_equal(other[0].as.bytes.data, "6543210", 7);
    assert_ok(bb_record_read(first, bb_bytes_of(NULL, 0), bb_bytes_of(large, 65), one));
    assert_int_equal(one[0].state, BB_ATTRIBUTE_MISSING);
    bb_record_reader_destroy(first);
    bb_record_reader_destroy(second);
    bb_schema_destroy(schema);
}

static void record_reader__reads_nothing_from_an_empty_schema(void **state)
{
    struct bb_schema *schema;
    struct bb_record_reader *reader;
    (void)state;
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_record_reader_create(schema, NULL, &reader));
    assert_ok(bb_record_read(reader, bb_bytes_of(NULL, 0), bb_bytes_of_text("abc"), NULL));
    bb_record_reader_destroy(reader);
    bb_schema_destroy(schema);
    bb_record_reader_destroy(NULL);
    bb_schema_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_reader__reads_wanted_attributes_alone),
        cmocka_unit_test(record_reader__fixed_offsets),
        cmocka_unit_test(record_reader__callbacks),
        cmocka_unit_test(record_reader__reads_nothing_from_an_empty_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
