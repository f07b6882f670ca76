/* Goal: the options of filters are understood from callers of other versions of the header, or
 * refused. Method: every struct of options, at every size. */
#include "tests/support/sizes.h"

#include "bb/filter.h"
#include "bb/filter_sets.h"

static enum bb_status take_filter(const void *options, void *context)
{
    struct bb_filter_builder *builder = NULL;
    enum bb_status status = bb_filter_builder_create(options, &builder);
    (void)context;
    bb_filter_builder_destroy(builder);
    return status;
}

static enum bb_status take_counting(const void *options, void *context)
{
    struct bb_counting_filter *filter = NULL;
    enum bb_status status = bb_counting_filter_create(options, &filter);
    (void)context;
    bb_counting_filter_destroy(filter);
    return status;
}

static enum bb_status take_scalable(const void *options, void *context)
{
    struct bb_scalable_filter *filter = NULL;
    enum bb_status status = bb_scalable_filter_create(options, &filter);
    (void)context;
    bb_scalable_filter_destroy(filter);
    return status;
}

static enum bb_status take_sketch(const void *options, void *context)
{
    struct bb_count_sketch *sketch = NULL;
    enum bb_status status = bb_count_sketch_create(options, &sketch);
    (void)context;
    bb_count_sketch_destroy(sketch);
    return status;
}

static void filter_options__of_other_versions(void **state)
{
    (void)state;
    struct bb_filter_options filter = {.target_rate = 0.02, .parameters = {0}};
    struct bb_counting_filter_options counting = {.key_count = 1, .salt = 7};
    struct bb_scalable_filter_options scalable = {.first_key_count = 1000, .salt = 7};
    struct bb_count_sketch_options sketch = {.error = 0.01, .salt = 7};
    assert_sizes(&filter, sizeof(filter), take_filter, NULL);
    assert_sizes(&counting, sizeof(counting), take_counting, NULL);
    assert_sizes(&scalable, sizeof(scalable), take_scalable, NULL);
    assert_sizes(&sketch, sizeof(sketch), take_sketch, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_options__of_other_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
