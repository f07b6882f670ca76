/* Goal: without regions every piece is one request to the allocator, whose failure is the caller's
 * to see. Method: the allocation seam with failures, which has no regions. */
#include "tests/support/assert_status.h"

#include "base/alloc.h"
#include "base/large_pages.h"
#include "base/region.h"
#include "base/status.h"
#include "tests/support/alloc/alloc_fault.h"

static enum bb_status take_three(void *context)
{
    static const size_t sizes[] = {100, 100000, 2 * BB_REGION_SIZE};
    struct bb_large_pages *pages = context;
    void *pieces[3] = {0};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < 3 && status == BB_OK; i++) {
        pieces[i] = bb_large_pages_alloc(pages, sizes[i]);
        if (pieces[i] == NULL)
            status = bb_fail(BB_NO_MEMORY, "no memory for a piece");
    }
    for (size_t i = 0; i < 3; i++)
        bb_large_pages_free(pages, pieces[i], sizes[i]);
    return status;
}

static void large_pages__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct bb_large_pages pages;
    bb_large_pages_init(&pages);
    assert_int_equal(bb_alloc_fault_sweep(take_three, &pages, false), 3);
    assert_int_equal(pages.count, 0);
    assert_int_equal(bb_large_pages_overhead(&pages), 0);
    bb_large_pages_deinit(&pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_pages__every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
