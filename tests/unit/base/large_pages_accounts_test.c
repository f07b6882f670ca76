/* Goal: without memory for the account of a region, or for its place in the list, the piece comes
 * from the allocator, without leaks. Method: the allocation seam with a failing n-th request, with
 * real regions, which tests/support/alloc lacks. */
#include "tests/support/assert_status.h"

#define BB_ALLOC_IMPLEMENTATION
#include "base/alloc.h"
#include "base/large_pages.h"
#include "base/region.h"
#include "base/status.h"

#define PIECES 9

static size_t requests;
static size_t first_failing; /* 0: none */
static size_t last_failing;
static size_t failures;
static size_t live;

static bool fails(void)
{
    requests++;
    bool is_failing = first_failing != 0 && requests >= first_failing && requests <= last_failing;
    failures += is_failing;
    return is_failing;
}

static void *counted(void *memory)
{
    live += memory != NULL;
    return memory;
}

void *bb_alloc(size_t size)
{
    return fails() ? NULL : counted(malloc(size));
}

void *bb_alloc_zeroed(size_t count, size_t size)
{
    return fails() ? NULL : counted(calloc(count, size));
}

void *bb_realloc(void *memory, size_t size)
{
    if (memory == NULL)
        return bb_alloc(size);
    return fails() ? NULL : realloc(memory, size);
}

void *bb_alloc_aligned(size_t alignment, size_t size)
{
    void *memory = NULL;
    if (fails() || posix_memalign(&memory, alignment, size) != 0)
        return NULL;
    return counted(memory);
}

void bb_free(void *memory)
{
    live -= memory != NULL;
    free(memory);
}

void bb_free_aligned(void *memory)
{
    bb_free(memory);
}

char *bb_strdup(const char *text)
{
    return fails() ? NULL : counted(strdup(text));
}

static void arm(size_t nth, size_t count)
{
    requests = 0;
    failures = 0;
    first_failing = nth;
    last_failing = nth + count - 1;
}

/* Each has a separate region or mapping: more places than the initial space. */
static size_t size_of(size_t i)
{
    return i % 3 == 2 ? BB_REGION_SIZE + 5000 : BB_REGION_SIZE / 2 + 5000;
}

/* Returns how many pieces there were. */
static size_t take_and_give(void)
{
    struct bb_large_pages pages;
    uint8_t *pieces[PIECES];
    size_t taken = 0;
    bb_large_pages_init(&pages);
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = bb_large_pages_alloc(&pages, size_of(i));
        if (pieces[i] == NULL)
            continue;
        pieces[i][0] = 1;
        pieces[i][size_of(i) - 1] = 1;
        taken++;
    }
    for (size_t i = 0; i < PIECES; i++)
        bb_large_pages_free(&pages, pieces[i], size_of(i));
    assert_int_equal(pages.count, 0);
    assert_int_equal(pages.region_count, 0);
    assert_int_equal(pages.used_bytes, 0);
    assert_int_equal(pages.held_bytes, 0);
    assert_int_equal(pages.idle_bytes, 0);
    bb_large_pages_deinit(&pages);
    assert_int_equal(live, 0);
    return taken;
}

static bool has_regions(void)
{
    void *memory = bb_region_map(BB_REGION_SIZE);
    if (memory != NULL)
        bb_region_unmap(memory, BB_REGION_SIZE);
    return memory != NULL;
}

/* A failure in one way is avoided by the other, and leaves the error of an earlier call. */
static void large_pages_accounts__one_that_fails(void **state)
{
    (void)state;
    size_t nth = 0;
    if (!has_regions())
        skip();
    do {
        arm(++nth, 1);
        (void)!bb_fail(BB_INVALID, "an earlier failure");
        assert_int_equal(take_and_give(), PIECES);
        assert_int_equal(bb_error_last()->status, BB_INVALID);
    } while (failures > 0);
    assert_true(nth > 12); /* accounts of six regions and their trees, and the list twice */
}

static void large_pages_accounts__all_fail_from_one_on(void **state)
{
    (void)state;
    size_t nth = 0;
    if (!has_regions())
        skip();
    do {
        nth++;
        arm(nth, SIZE_MAX - nth);
        size_t taken = take_and_give();
        assert_true(failures == 0 || taken < PIECES);
    } while (failures > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_pages_accounts__one_that_fails),
        cmocka_unit_test(large_pages_accounts__all_fail_from_one_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
