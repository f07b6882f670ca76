/* Goal: questions come over from callers that were built against another header, or are refused.
 * Method: struct_size at every length, and a field that the plan repeats. */
#include "bb/filter.h"
#include "tests/support/sizes.h"

static enum bb_status take(const void *question, void *context)
{
    struct bb_filter_plan plan = {0};
    enum bb_status status = bb_filter_plan(question, &plan);
    (void)context;
    assert_true(plan.slack == (status == BB_OK ? 0.05 : 0));
    return status;
}

static void filter_question__of_other_versions(void **state)
{
    (void)state;
    struct bb_filter_question good = {.key_count = 100, .target_rate = 0.01, .slack = 0.05};
    assert_sizes(&good, sizeof(good), take, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_question__of_other_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
