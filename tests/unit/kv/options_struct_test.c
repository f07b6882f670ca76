/* Goal: options from callers that were built against another header are read correctly or refused:
 * filter_bits_per_key precedes other fields, so options of a header without it would be misread.
 * Method: struct_size at every length. */
#include "tests/support/sizes.h"

#include "kv/options.h"

/* Of the first version, which had no recovery_report. */
#define FIRST_SIZE offsetof(struct bb_db_options, recovery_report)

static enum bb_status take(const void *options, void *context)
{
    struct bb_db_options resolved = {0};
    enum bb_status status = bb_options_resolve(options, &resolved);
    (void)context;
    assert_int_equal(resolved.struct_size, status == BB_OK ? sizeof(resolved) : 0);
    assert_int_equal(resolved.level_size_ratio, status == BB_OK ? 7 : 0);
    assert_int_equal(resolved.level0_run_count_busy, status == BB_OK ? 9 : 0);
    return status;
}

static void options_struct__of_other_versions(void **state)
{
    (void)state;
    struct bb_db_options good = {.level_size_ratio = 7, .level0_run_count_busy = 9};
    assert_sizes_since(&good, FIRST_SIZE, sizeof(good), take, NULL);
}

/* Sizes written by a misunderstanding, or by accident; and sizes of older headers. */
static void options_struct__size_of_no_struct(void **state)
{
    (void)state;
    struct bb_db_options options = {0};
    struct bb_db_options resolved;
    for (size_t size = 1; size < FIRST_SIZE; size++) {
        options.struct_size = size;
        assert_status(bb_options_resolve(&options, &resolved), BB_INVALID);
        assert_message("which no version of it has");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_struct__of_other_versions),
        cmocka_unit_test(options_struct__size_of_no_struct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
