/* The library's memory from a server: the seam base/alloc.h over RedisModule_TryAlloc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BB_ALLOC_IMPLEMENTATION
#include "base/alloc.h"
#include "base/region.h"
#include "tests/redis/module_memory.h"

static void memory__every_piece_is_the_servers(void **state)
{
    (void)state;
    void *pieces[] = {bb_alloc(0), bb_alloc(100), bb_alloc_zeroed(10, 10), bb_strdup("text"),
                      bb_realloc(NULL, 5)};
    void *aligned = bb_alloc_aligned(64, 1000);
    assert_int_equal(module_memory_live(), 6);
    assert_string_equal(pieces[3], "text");
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        assert_non_null(pieces[i]);
        bb_free(pieces[i]);
    }
    bb_free_aligned(aligned);
    bb_free(NULL);
    bb_free_aligned(NULL);
    assert_int_equal(module_memory_live(), 0);
    assert_null(bb_region_map(BB_REGION_SIZE));
}

static void memory__absurd_sizes_are_refused(void **state)
{
    (void)state;
    assert_null(bb_alloc(SIZE_MAX));
    assert_null(bb_alloc((size_t)PTRDIFF_MAX + 1));
    assert_null(bb_alloc_zeroed(SIZE_MAX / 2, 3));
    assert_null(bb_alloc_aligned(64, SIZE_MAX));
    assert_null(bb_alloc_aligned(64, PTRDIFF_MAX));
    void *piece = bb_alloc(10);
    assert_null(bb_realloc(piece, SIZE_MAX));
    bb_free(piece);
    assert_int_equal(module_memory_live(), 0);
}

static void memory__zeroed_is_zero(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 1 << 16; size *= 2) {
        uint8_t *dirty = bb_alloc(size);
        memset(dirty, 0xff, size);
        bb_free(dirty);
        uint8_t *bytes = bb_alloc_zeroed(size, 1);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(bytes[i], 0);
        bb_free(bytes);
    }
}

static void memory__aligned_is_aligned(void **state)
{
    (void)state;
    for (size_t alignment = sizeof(void *); alignment <= 65536; alignment *= 2) {
        for (size_t size = 0; size < 300; size += 37) {
            uint8_t *bytes = bb_alloc_aligned(alignment, size);
            assert_non_null(bytes);
            assert_int_equal((uintptr_t)bytes % alignment, 0);
            memset(bytes, 1, size);
            bb_free_aligned(bytes);
        }
    }
    assert_int_equal(module_memory_live(), 0);
}

static void check_bytes(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal(bytes[i], (uint8_t)(i * 7));
}

/* From every size to every other one: the common bytes stay, and all bytes can be written. */
static void memory__realloc_keeps_the_bytes(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 8, 24, 100, 4000, 5000, 70000};
    const size_t count = sizeof(sizes) / sizeof(sizes[0]);
    for (size_t i = 0; i < count * count; i++) {
        size_t from = sizes[i / count];
        size_t to = sizes[i % count];
        uint8_t *bytes = bb_alloc(from);
        for (size_t k = 0; k < from; k++)
            bytes[k] = (uint8_t)(k * 7);
        bytes = bb_realloc(bytes, to);
        assert_non_null(bytes);
        check_bytes(bytes, from < to ? from : to);
        memset(bytes, 1, to);
        bb_free(bytes);
    }
    assert_int_equal(module_memory_live(), 0);
}

static void memory__failed_realloc_keeps_the_piece(void **state)
{
    (void)state;
    uint8_t *bytes = bb_alloc(3);
    memcpy(bytes, "abc", 3);
    module_memory_fail(1);
    assert_null(bb_realloc(bytes, 100000));
    assert_null(bb_alloc(1));
    assert_null(bb_alloc_zeroed(1, 1));
    assert_null(bb_alloc_aligned(64, 1));
    module_memory_fail(0);
    assert_memory_equal(bytes, "abc", 3);
    bb_free(bytes);
    assert_int_equal(module_memory_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory__every_piece_is_the_servers),
        cmocka_unit_test(memory__absurd_sizes_are_refused),
        cmocka_unit_test(memory__zeroed_is_zero),
        cmocka_unit_test(memory__aligned_is_aligned),
        cmocka_unit_test(memory__realloc_keeps_the_bytes),
        cmocka_unit_test(memory__failed_realloc_keeps_the_piece),
    };
    module_memory_use();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
