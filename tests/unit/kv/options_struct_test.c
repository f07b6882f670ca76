/* Goal: options come over whole from callers that were built against an older or a newer header, and
 * what is no struct of options is refused before it is read. Method: struct_size at every length. */
#include "tests/support/assert_status.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "kv/options.h"

static void assert_refused(const struct bb_db_options *options, const char *name)
{
    struct bb_db_options resolved;
    assert_status(bb_options_resolve(options, &resolved), BB_INVALID);
    assert_message(name);
}

/* A caller that was compiled when the struct ended earlier: what lies behind its end is not read.
 */
static void options_struct__older(void **state)
{
    (void)state;
    struct bb_db_options resolved;
    const size_t first = offsetof(struct bb_db_options, absent_share);
    struct bb_db_options options = {.struct_size = first,
                                    .level_size_ratio = 7,
                                    .absent_share = -1,
                                    .read_only = true,
                                    .create_if_missing = true};
    assert_ok(bb_options_resolve(&options, &resolved));
    assert_int_equal(resolved.level_size_ratio, 7);
    assert_true(resolved.absent_share == 1);
    assert_false(resolved.read_only);
    assert_int_equal(resolved.struct_size, sizeof(resolved));

    /* Only as much memory as it says. */
    size_t *alone = calloc(1, first);
    assert_non_null(alone);
    *alone = first;
    assert_ok(bb_options_resolve((const struct bb_db_options *)(const void *)alone, &resolved));
    assert_true(resolved.write_buffer_bytes == UINT64_C(64) << 20);
    free(alone);
}

/* What somebody wrote who took the field for something else, or nobody. */
static void options_struct__size_of_no_struct(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 4, 8, offsetof(struct bb_db_options, event_context)};
    struct bb_db_options options = {0};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        options.struct_size = sizes[i];
        assert_refused(&options, "which no version of it has");
    }
    for (size_t size = offsetof(struct bb_db_options, absent_share); size < sizeof(options);
         size++) {
        struct bb_db_options resolved;
        options.struct_size = size;
        if (size % sizeof(size_t) == 0)
            assert_ok(bb_options_resolve(&options, &resolved));
        else
            assert_refused(&options, "struct_size");
    }
}

static void options_struct__newer(void **state)
{
    (void)state;
    struct bb_db_options options = {.struct_size = sizeof(options) + 1};
    assert_refused(&options, "struct_size");
    options.struct_size = SIZE_MAX;
    assert_refused(&options, "struct_size");
    struct {
        struct bb_db_options known;
        uint64_t unknown;
    } newer = {.known = {.struct_size = sizeof(newer), .level_size_ratio = 7}};
    struct bb_db_options resolved;
    assert_ok(bb_options_resolve(&newer.known, &resolved));
    assert_int_equal(resolved.level_size_ratio, 7);
    assert_int_equal(resolved.struct_size, sizeof(resolved));
    newer.unknown = 1;
    assert_refused(&newer.known, "a newer header");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_struct__older),
        cmocka_unit_test(options_struct__newer),
        cmocka_unit_test(options_struct__size_of_no_struct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
