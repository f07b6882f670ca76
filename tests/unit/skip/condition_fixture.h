/* A few attributes of every type, and conditions on them in few words. */
#ifndef BB_TESTS_UNIT_SKIP_CONDITION_FIXTURE_H
#define BB_TESTS_UNIT_SKIP_CONDITION_FIXTURE_H

#include "tests/support/assert_status.h"

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "bb/condition.h"

enum { FIELD_TEXT, FIELD_I64, FIELD_U64, FIELD_F64, FIELD_TIME, FIELD_OTHER, FIELD_COUNT };

static const char *const definitions[FIELD_COUNT] = {
    "text bytes = value", "i i64 = value",           "u u64 = value",
    "f f64 = value",      "t time(rfc3339) = value", "starts_with bytes = value",
};

/* Owned. */
static inline struct bb_schema *create_schema(void)
{
    struct bb_schema *schema = NULL;
    assert_status(bb_schema_create(&schema), BB_OK);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        assert_status(bb_schema_add(schema, definitions[i]), BB_OK);
    return schema;
}

static inline enum bb_status try_to_parse(struct bb_bytes text, struct bb_condition **ret_condition)
{
    struct bb_schema *schema = create_schema();
    enum bb_status status = bb_condition_parse(schema, text, ret_condition);
    bb_schema_destroy(schema);
    return status;
}

static inline struct bb_condition *parse(const char *text)
{
    struct bb_condition *condition = NULL;
    assert_status(try_to_parse(bb_bytes_of_text(text), &condition), BB_OK);
    return condition;
}

static inline void assert_refused(const char *text, const char *message)
{
    struct bb_condition *condition = NULL;
    assert_status(try_to_parse(bb_bytes_of_text(text), &condition), BB_INVALID);
    assert_null(condition);
    if (strstr(bb_error_last()->message, message) == NULL)
        fail_msg("%s: \"%s\" is not in \"%s\"", text, message, bb_error_last()->message);
}

static inline void assert_prints_condition(const struct bb_condition *condition,
                                           const char *canonical)
{
    struct bb_buf buf = {0};
    assert_status(bb_condition_print(condition, &buf), BB_OK);
    assert_status(bb_buf_append(&buf, "", 1), BB_OK);
    assert_string_equal((const char *)buf.data, canonical);
    bb_buf_deinit(&buf);
}

static inline void assert_prints(const char *text, const char *canonical)
{
    struct bb_condition *condition = parse(text);
    assert_prints_condition(condition, canonical);
    bb_condition_destroy(condition);
}

static inline struct bb_attribute text_value(const char *text)
{
    return (struct bb_attribute){.type = BB_ATTRIBUTE_BYTES, .as.bytes = bb_bytes_of_text(text)};
}

static inline struct bb_attribute bytes_value(const char *bytes, size_t size)
{
    return (struct bb_attribute){.type = BB_ATTRIBUTE_BYTES, .as.bytes = bb_bytes_of(bytes, size)};
}

static inline struct bb_attribute i64_value(int64_t value)
{
    return (struct bb_attribute){.type = BB_ATTRIBUTE_I64, .as.i64 = value};
}

static inline struct bb_attribute u64_value(uint64_t value)
{
    return (struct bb_attribute){.type = BB_ATTRIBUTE_U64, .as.u64 = value};
}

static inline struct bb_attribute f64_value(double value)
{
    return (struct bb_attribute){.type = BB_ATTRIBUTE_F64, .as.f64 = value};
}

static inline struct bb_attribute time_value(int64_t value)
{
    return (struct bb_attribute){.type = BB_ATTRIBUTE_TIME, .as.i64 = value};
}

static inline enum bb_status try_to_test(const struct bb_condition *condition,
                                         const struct bb_attribute *record,
                                         enum bb_truth *ret_truth)
{
    struct bb_condition_run *run = NULL;
    assert_status(bb_condition_run_create(condition, &run), BB_OK);
    enum bb_status status = bb_condition_test(run, record, ret_truth);
    bb_condition_run_destroy(run);
    return status;
}

/* Of a record that has this value in the field, and NULL in all others. */
static inline enum bb_truth truth_with(const char *text, size_t field, struct bb_attribute value)
{
    struct bb_attribute record[FIELD_COUNT];
    for (size_t i = 0; i < FIELD_COUNT; i++)
        record[i] = (struct bb_attribute){.state = BB_ATTRIBUTE_MISSING};
    record[field] = value;
    enum bb_truth truth = BB_TRUTH_UNKNOWN;
    struct bb_condition *condition = parse(text);
    assert_status(try_to_test(condition, record, &truth), BB_OK);
    bb_condition_destroy(condition);
    return truth;
}

#define assert_truth(text, field, value, truth)                                                    \
    assert_int_equal(truth_with(text, field, value), BB_TRUTH_##truth)

#endif
