/* Goal: schemas and readers without memory report it, leak nothing, and continue afterwards.
 * Method: every allocation fails one by one. */
#include <string.h>

#include "bb/record.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/assert_status.h"

static const char *const DEFINITIONS[] = {
    "a bytes = csv('b', 'a,b')",
    "b bytes = json($.a[3].\"b c\")",
    "c time('%Y%m%d') = split('\\t', 2, quoted)",
    "d bytes = callback(f)",
    "e bytes = logfmt('a:b')",
    "f bytes = zeek(id, 'ts id')",
    "g bytes = json($.a)",
    "h u64 = fixed(0, u8)",
    "i bytes = clf(agent)",
};

/* Has escapes for csv, json and zeek. */
static const char RECORD[] = "{\"a\":\"x\\n\\u0041\"}\t\\x09,\"b \"\"c\"\"\"";

static void find_constant(void *context, struct bb_bytes key, struct bb_bytes value,
                          struct bb_attribute *attribute)
{
    (void)context;
    (void)key;
    (void)value;
    attribute->state = BB_ATTRIBUTE_PRESENT;
    attribute->as.bytes = bb_bytes_of_text("constant");
}

static enum bb_status fill(struct bb_schema *schema)
{
    enum bb_status status = bb_schema_add_callback(schema, "f", find_constant, NULL);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(DEFINITIONS) && status == BB_OK; i++) {
        size_t before = bb_schema_count(schema);
        status = bb_schema_add(schema, DEFINITIONS[i]);
        assert_int_equal(bb_schema_count(schema), before + (status == BB_OK));
    }
    return status;
}

static enum bb_status read_twice(const struct bb_schema *schema)
{
    struct bb_attribute attributes[BB_ARRAY_LENGTH(DEFINITIONS)];
    struct bb_record_reader *reader = NULL;
    enum bb_status status = bb_record_reader_create(schema, NULL, &reader);
    for (int i = 0; i < 2 && status == BB_OK; i++) {
        status =
            bb_record_read(reader, bb_bytes_of_text("k"), bb_bytes_of_text(RECORD), attributes);
        if (status == BB_OK) {
            assert_int_equal(attributes[3].as.bytes.size, strlen("constant"));
            assert_int_equal(attributes[6].as.bytes.size, 3);
            assert_memory_equal(attributes[6].as.bytes.data, "x\nA", 3);
        }
    }
    bb_record_reader_destroy(reader);
    return status;
}

static enum bb_status scenario(void *context)
{
    struct bb_schema *schema = NULL;
    struct bb_buf text = {0};
    (void)context;
    enum bb_status status = bb_schema_create(&schema);
    if (status == BB_OK)
        status = fill(schema);
    if (status == BB_OK)
        status = read_twice(schema);
    if (status == BB_OK)
        status = bb_schema_encode(schema, &text);
    bb_buf_deinit(&text);
    bb_schema_destroy(schema);
    return status;
}

static void record__without_memory(void **state)
{
    (void)state;
    assert_true(bb_alloc_fault_sweep(scenario, NULL, false) > 30);
}

/* A reader whose record found no memory reads the next one. */
static void record__reads_on_after_a_failure(void **state)
{
    struct bb_schema *schema;
    struct bb_record_reader *reader;
    struct bb_attribute attribute;
    struct bb_bytes escaped = bb_bytes_of_text("\"a\"\"b\"");
    (void)state;
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add(schema, "a bytes = csv(1)"));
    assert_ok(bb_record_reader_create(schema, NULL, &reader));
    bb_alloc_fault_arm(1, true);
    assert_status(bb_record_read(reader, bb_bytes_of_text(""), escaped, &attribute), BB_NO_MEMORY);
    assert_ok(bb_record_read(reader, bb_bytes_of_text(""), bb_bytes_of_text("plain"), &attribute));
    bb_alloc_fault_disarm();
    assert_ok(bb_record_read(reader, bb_bytes_of_text(""), escaped, &attribute));
    assert_int_equal(attribute.as.bytes.size, 3);
    assert_memory_equal(attribute.as.bytes.data, "a\"b", 3);
    bb_record_reader_destroy(reader);
    bb_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record__without_memory),
        cmocka_unit_test(record__reads_on_after_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
