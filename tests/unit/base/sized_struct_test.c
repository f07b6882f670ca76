/* Goal: the known part of a struct of any version is copied, and an invalid size, or a struct with
 * unknown fields set, is refused with its name. Method: every size up to beyond the largest. */
#include "base/sized_struct.h"
#include "tests/support/assert_status.h"

#include <string.h>

struct known {
    size_t struct_size;
    uint64_t first;
    uint64_t second;
};

static const struct bb_sized_struct kind = {"struct known", 2 * sizeof(uint64_t),
                                            sizeof(struct known)};

static void sized_struct__every_size(void **state)
{
    (void)state;
    static uint64_t given[1024];
    struct known copy;
    given[1] = 11;
    given[2] = 22;
    for (size_t size = 0; size < sizeof(given); size++) {
        bool is_taken =
            size == 0 || (size >= kind.size_min && size <= 4096 && size % sizeof(size_t) == 0);
        size_t known = size == 0 ? kind.size_min : size;
        memcpy(given, &size, sizeof(size));
        memset(&copy, 0xee, sizeof(copy));
        assert_status(bb_sized_struct_copy(&kind, given, &copy), is_taken ? BB_OK : BB_INVALID);
        if (!is_taken) {
            assert_message("struct known");
            assert_true(copy.first == UINT64_C(0xeeeeeeeeeeeeeeee));
            continue;
        }
        assert_int_equal(copy.struct_size, sizeof(copy));
        assert_int_equal(copy.first, 11);
        assert_int_equal(copy.second, known < sizeof(copy) ? 0 : 22);
    }
}

/* Of a newer version: the last byte counts as the first one does. */
static void sized_struct__more_than_is_known(void **state)
{
    (void)state;
    uint8_t given[sizeof(struct known) + 16];
    struct known copy;
    size_t size = sizeof(given);
    for (size_t at = sizeof(struct known); at < sizeof(given); at++) {
        memset(given, 0, sizeof(given));
        memcpy(given, &size, sizeof(size));
        assert_ok(bb_sized_struct_copy(&kind, given, &copy));
        given[at] = 1;
        assert_status(bb_sized_struct_copy(&kind, given, &copy), BB_INVALID);
        assert_message("a newer header");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sized_struct__every_size),
        cmocka_unit_test(sized_struct__more_than_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
