/* A few attributes of every type, and conditions on them in few words. */
#ifndef BB_TESTS_UNIT_SKIP_CONDITION_FIXTURE_H
#define BB_TESTS_UNIT_SKIP_CONDITION_FIXTURE_H

#include "tests/support/assert_status.h"

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "skip/condition/evaluate.h"
#include "skip/condition/parser.h"
#include "skip/condition/print.h"

enum { FIELD_TEXT, FIELD_I64, FIELD_U64, FIELD_F64, FIELD_TIME, FIELD_ODD, FIELD_COUNT };

static const struct bb_leaf_attribute fields[FIELD_COUNT] = {
    {FIELD_TEXT, "text", BB_ATTRIBUTE_BYTES}, {FIELD_I64, "i", BB_ATTRIBUTE_I64},
    {FIELD_U64, "u", BB_ATTRIBUTE_U64},       {FIELD_F64, "f", BB_ATTRIBUTE_F64},
    {FIELD_TIME, "t", BB_ATTRIBUTE_TIME},     {FIELD_ODD, "odd`name in", BB_ATTRIBUTE_BYTES},
};

static inline struct bb_condition *parse(const char *text)
{
    struct bb_condition *condition = NULL;
    assert_status(bb_parse(bb_bytes_of_text(text), fields, FIELD_COUNT, &condition), BB_OK);
    return condition;
}

static inline void assert_refused(const char *text, const char *message)
{
    struct bb_condition *condition = NULL;
    assert_status(bb_parse(bb_bytes_of_text(text), fields, FIELD_COUNT, &condition), BB_INVALID);
    assert_null(condition);
    if (strstr(bb_error_last()->message, message) == NULL)
        fail_msg("%s: \"%s\" is not in \"%s\"", text, message, bb_error_last()->message);
}

static inline void assert_prints(const char *text, const char *canonical)
{
    struct bb_buf buf = {0};
    struct bb_condition *condition = parse(text);
    assert_status(bb_print(condition, &buf), BB_OK);
    bb_condition_destroy(condition);
    assert_status(bb_buf_append(&buf, "", 1), BB_OK);
    assert_string_equal((const char *)buf.data, canonical);
    bb_buf_deinit(&buf);
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

/* Of a record that has this value in the field, and NULL in all others. */
static inline enum bb_truth truth_with(const char *text, size_t field, struct bb_attribute value)
{
    struct bb_attribute record[FIELD_COUNT];
    for (size_t i = 0; i < FIELD_COUNT; i++)
        record[i] = (struct bb_attribute){.state = BB_ATTRIBUTE_MISSING};
    record[field] = value;
    enum bb_truth truth = BB_TRUTH_UNKNOWN;
    struct bb_condition *condition = parse(text);
    assert_status(bb_evaluate(condition, record, &truth), BB_OK);
    bb_condition_destroy(condition);
    return truth;
}

#define assert_truth(text, field, value, truth)                                                    \
    assert_int_equal(truth_with(text, field, value), BB_TRUTH_##truth)

#endif
