/* Goal: a lack of memory is reported, leaks nothing, and never makes a wrong condition. */
#include "tests/unit/skip/condition_fixture.h"

#include "tests/support/alloc/alloc_fault.h"

static const char text[] =
    "i = 1 AND (text IN ('b', 'a') OR text LIKE 'a%b_' OR text = 'it''s' OR NOT u BETWEEN 1 AND 5) "
    "AND has_all_tokens(text, 'x y', 'z') AND text NOT ILIKE '%X%' AND f <> 1.5 AND t IS NOT NULL "
    "AND matches(text, '^(?:GET|POST|(?i)put) /[a-z]+$') AND starts_with(text, 'abc')";

static enum bb_status test_record(const struct bb_condition *condition)
{
    struct bb_attribute record[FIELD_COUNT] = {
        [FIELD_TEXT] = text_value("GET /x y z"),
        [FIELD_I64] = i64_value(1),
        [FIELD_U64] = u64_value(7),
        [FIELD_F64] = f64_value(2),
        [FIELD_TIME] = time_value(0),
        [FIELD_OTHER] = text_value(""),
    };
    struct bb_condition_run *run = NULL;
    enum bb_truth truth = BB_TRUTH_UNKNOWN;
    enum bb_status status = bb_condition_run_create(condition, &run);
    if (status == BB_OK)
        status = bb_condition_test(run, record, &truth);
    bb_condition_run_destroy(run);
    if (status == BB_OK)
        assert_int_equal(truth, BB_TRUTH_FALSE);
    return status;
}

static enum bb_status make_print_and_test(void *context)
{
    const struct bb_schema *schema = context;
    struct bb_condition *condition = NULL;
    struct bb_condition *again = NULL;
    struct bb_buf buf = {0};
    enum bb_status status = bb_condition_parse(schema, bb_bytes_of_text(text), &condition);
    if (status == BB_OK)
        status = bb_condition_print(condition, &buf);
    if (status == BB_OK)
        status = bb_condition_parse(schema, bb_buf_bytes(&buf), &again);
    if (status == BB_OK)
        status = test_record(again);
    bb_condition_destroy(condition);
    bb_condition_destroy(again);
    bb_buf_deinit(&buf);
    return status;
}

/* Without memory for its machine code a regular expression is interpreted: that may succeed. */
static void condition__each_allocation_may_fail(void **state)
{
    (void)state;
    struct bb_schema *schema = create_schema();
    assert_true(bb_alloc_fault_sweep(make_print_and_test, schema, true) > 50);
    bb_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(condition__each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("condition_alloc", tests, NULL, NULL);
}
