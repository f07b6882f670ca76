/* Goal: absurd sizes are refused without effect, and allocated memory has the requested size and
 * alignment. Method: the limits of the size type; every block is written to its last byte, which
 * the sanitizer checks. */
#include "tests/support/assert_status.h"

#include "base/alloc.h"

static void alloc__refuses_absurd_sizes(void **state)
{
    (void)state;
    assert_null(bb_alloc((size_t)PTRDIFF_MAX + 1));
    assert_null(bb_alloc(SIZE_MAX));
    assert_null(bb_alloc_aligned(64, SIZE_MAX));
    assert_null(bb_alloc_zeroed(1, SIZE_MAX));
    assert_null(bb_realloc(NULL, SIZE_MAX - 5));
}

static void alloc__refuses_a_product_that_overflows(void **state)
{
    (void)state;
    assert_null(bb_alloc_zeroed(SIZE_MAX / 2, 3)); /* wraps to something small */
    assert_null(bb_alloc_zeroed((size_t)1 << 33, (size_t)1 << 31));
    assert_null(bb_alloc_zeroed((size_t)1 << 32, (size_t)1 << 32)); /* wraps to 0 */
}

static void alloc__size_0_gives_unique_pointers(void **state)
{
    (void)state;
    void *a = bb_alloc(0);
    void *b = bb_alloc(0);
    void *c = bb_alloc_zeroed(0, 8);
    void *d = bb_alloc_aligned(8, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    assert_non_null(d);
    assert_ptr_not_equal(a, b);
    a = bb_realloc(a, 0);
    assert_non_null(a);
    bb_free(a);
    bb_free(b);
    bb_free(c);
    bb_free_aligned(d);
    bb_free(NULL);
    bb_free_aligned(NULL);
}

static void alloc__failed_realloc_keeps_the_block(void **state)
{
    (void)state;
    char *text = bb_strdup("contents");
    assert_non_null(text);
    assert_null(bb_realloc(text, SIZE_MAX));
    assert_string_equal(text, "contents");
    text = bb_realloc(text, 4096);
    assert_non_null(text);
    assert_string_equal(text, "contents");
    bb_free(text);
}

static void alloc__zeroed_is_zero(void **state)
{
    (void)state;
    uint8_t *bytes = bb_alloc_zeroed(1000, 3);
    assert_non_null(bytes);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(bytes[i], 0);
    bb_free(bytes);
}

static void alloc__aligned_is_aligned(void **state)
{
    (void)state;
    for (size_t alignment = sizeof(void *); alignment <= 65536; alignment *= 2) {
        uint8_t *bytes = bb_alloc_aligned(alignment, 100);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % alignment, 0);
        memset(bytes, 1, 100);
        bb_free_aligned(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc__refuses_absurd_sizes),
        cmocka_unit_test(alloc__refuses_a_product_that_overflows),
        cmocka_unit_test(alloc__size_0_gives_unique_pointers),
        cmocka_unit_test(alloc__failed_realloc_keeps_the_block),
        cmocka_unit_test(alloc__zeroed_is_zero),
        cmocka_unit_test(alloc__aligned_is_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
