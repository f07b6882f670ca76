/* Goal: lack of memory while sets are united and compared is reported, leaks nothing and does not
 * change the output. Method: linked with tests/support/alloc/alloc_fault.c; every allocation fails
 * one by one. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "tests/support/alloc/alloc_fault.h"

struct pair {
    struct bb_bytes first, second;
};

static enum bb_status unite(void *context)
{
    const struct pair *pair = context;
    struct bb_buf envelope = {0};
    enum bb_status status = bb_filter_union(pair->first, pair->second, &envelope);
    assert_true(status == BB_OK ? envelope.size == pair->first.size : envelope.size == 0);
    bb_buf_deinit(&envelope);
    return status;
}

static enum bb_status compare(void *context)
{
    const struct pair *pair = context;
    struct bb_filter_comparison found = {.jaccard = {.value = 77}};
    enum bb_status status = bb_filter_compare(pair->first, pair->second, &found);
    assert_true(status == BB_OK ? found.jaccard.value <= 1 : found.jaccard.value == 77);
    return status;
}

static void set_algebra__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct bb_buf first = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 3000);
    struct bb_buf second = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 3000);
    struct pair pair = {bb_buf_bytes(&first), bb_buf_bytes(&second)};
    assert_true(bb_alloc_fault_sweep(unite, &pair, false) >= 2);
    assert_true(bb_alloc_fault_sweep(compare, &pair, false) >= 1);
    bb_buf_deinit(&first);
    bb_buf_deinit(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_algebra__every_failed_allocation_is_reported),
    };
    keys_init("set_algebra_alloc");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
