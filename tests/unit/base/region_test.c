/* Goal: a region begins at a multiple of its alignment, is zeroed, and takes no more address space
 * than asked. Method: the size of this process before, while and after it has regions. */
#include "base/region.h"

#include <stdint.h>
#include <stdio.h>

#include "tests/support/assert_status.h"

#define COUNT 24

/* Bytes of address space. */
static uint64_t space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return (uint64_t)pages * BB_REGION_PAGE_SIZE;
}

/* Sizes differ, so that the system's next place is aligned for few of them. */
static size_t size_of(size_t i)
{
    return BB_REGION_SIZE + (i * 37 + 1) * BB_REGION_PAGE_SIZE;
}

static void region__takes_no_more_space_than_its_size(void **state)
{
    (void)state;
    uint8_t *regions[COUNT];
    uint64_t asked = 0, before = space();
    for (size_t i = 0; i < COUNT; i++) {
        regions[i] = bb_region_map(size_of(i));
        if (regions[i] == NULL)
            skip(); /* the allocator of a sanitizer knows no regions */
        assert_int_equal((uintptr_t)regions[i] % BB_REGION_SIZE, 0);
        assert_int_equal(regions[i][0] + regions[i][size_of(i) - 1], 0);
        regions[i][0] = regions[i][size_of(i) - 1] = 1;
        asked += size_of(i);
    }
    assert_in_range(space() - before, asked, asked + BB_REGION_SIZE / 4);
    for (size_t i = 0; i < COUNT; i++)
        bb_region_unmap(regions[i], size_of(i));
    assert_in_range(space() - before, 0, BB_REGION_SIZE / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(region__takes_no_more_space_than_its_size),
    };
    return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
