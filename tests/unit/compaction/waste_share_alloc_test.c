/* Goal: a share without memory for its hull counts for all keys, and leaks nothing. Method: each of
 * its allocations fails. */
#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "compaction/rates/waste_share.h"
#include "tests/support/alloc/alloc_fault.h"

static void waste_share__without_memory(void **state)
{
    (void)state;
    struct bb_hull hull = {.comparator = NULL};
    bb_hull_widen(&hull, bb_bytes_of_text("low"), bb_bytes_of_text("lower"));
    for (uint64_t n = 1; n <= 2; n++) {
        struct bb_waste_share *list = NULL;
        struct bb_waste_share share = {0};
        uint64_t live = bb_alloc_fault_live();
        bb_alloc_fault_arm(n, false);
        bb_waste_share_set(&list, &share, &hull, 0.5);
        assert_int_equal(bb_alloc_fault_failures(), 1);
        bb_alloc_fault_disarm();
        assert_ptr_equal(list, &share);
        assert_true(share.waste == 0.5 && !share.hull.has_any);
        bb_waste_share_set(&list, &share, &hull, 0.25);
        assert_true(share.hull.has_any);
        bb_waste_share_end(&list, &share);
        assert_null(list);
        assert_int_equal(bb_alloc_fault_live(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waste_share__without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
