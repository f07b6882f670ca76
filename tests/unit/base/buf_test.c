/* Goal: a buffer keeps its contents through growth, and a failed call does not change it. Method:
 * random appends compared with a plain array; the limits of the size type; buf_alloc_test.c has
 * failing allocations. */
#include "tests/support/assert_status.h"

#include <wchar.h>

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "tests/support/rng.h"

#define MODEL_SIZE 200000

static void buf__holds_what_was_appended(void **state)
{
    struct bb_rng *rng = *state;
    static uint8_t model[MODEL_SIZE];
    struct bb_buf buf = {0};
    size_t size = 0;
    for (;;) {
        uint8_t part[5000];
        size_t part_size = bb_rng_skewed(rng, sizeof(part));
        if (part_size > MODEL_SIZE - size)
            break;
        bb_rng_bytes(rng, part, part_size);
        assert_ok(bb_buf_append(&buf, part, part_size));
        memcpy(model + size, part, part_size);
        size += part_size;
        assert_int_equal(buf.size, size);
        assert_true(buf.capacity >= size);
    }
    assert_memory_equal(buf.data, model, size);
    bb_buf_deinit(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.size + buf.capacity, 0);
    bb_buf_deinit(&buf);
    bb_buf_deinit(NULL);
}

static void buf__reserve_makes_space_once(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_buf_reserve(&buf, 1000));
    const uint8_t *data = buf.data;
    for (int i = 0; i < 1000; i++)
        assert_ok(bb_buf_append(&buf, "x", 1));
    assert_ptr_equal(buf.data, data);
    bb_buf_reset(&buf);
    assert_int_equal(buf.size, 0);
    assert_ptr_equal(buf.data, data);
    bb_buf_deinit(&buf);
}

static void buf__nothing_needs_no_memory(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_buf_append(&buf, NULL, 0));
    assert_ok(bb_buf_reserve(&buf, 0));
    assert_ok(bb_buf_assign(&buf, (struct bb_bytes){0}));
    assert_null(buf.data);
    assert_int_equal(bb_buf_bytes(&buf).size, 0);
}

static void buf__refuses_absurd_sizes(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_buf_append(&buf, "abc", 3));
    assert_status(bb_buf_reserve(&buf, SIZE_MAX), BB_NO_MEMORY);
    assert_status(bb_buf_reserve(&buf, SIZE_MAX - 3), BB_NO_MEMORY);
    assert_status(bb_buf_reserve(&buf, (size_t)PTRDIFF_MAX + 1), BB_NO_MEMORY);
    assert_int_equal(buf.size, 3);
    assert_memory_equal(buf.data, "abc", 3);
    bb_buf_deinit(&buf);
}

static void buf__assign_replaces_and_may_take_a_part_of_itself(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_buf_assign(&buf, bb_bytes_of_text("hello world")));
    assert_ok(bb_buf_assign(&buf, bb_bytes_of(buf.data + 6, 5)));
    assert_true(bb_bytes_equal(bb_buf_bytes(&buf), bb_bytes_of_text("world")));
    assert_ok(bb_buf_assign(&buf, (struct bb_bytes){0}));
    assert_int_equal(buf.size, 0);
    bb_buf_deinit(&buf);
}

static void buf__extend_gives_zeroed_bytes(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_buf_append(&buf, "\xff\xff\xff\xff\xff\xff\xff\xff", 8));
    buf.size = 2; /* old bytes after the end must not show */
    uint8_t *data = NULL;
    assert_ok(bb_buf_extend(&buf, 3, &data));
    assert_ptr_equal(data, buf.data + 2);
    assert_memory_equal(buf.data, "\xff\xff\0\0\0", 5);
    assert_int_equal(buf.size, 5);
    assert_ok(bb_buf_extend(&buf, 0, &data));
    assert_ptr_equal(data, buf.data + 5);
    assert_int_equal(buf.size, 5);
    bb_buf_deinit(&buf);
}

static void buf__print_appends_without_terminator(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_buf_print(&buf, "%s", ""));
    assert_int_equal(buf.size, 0);
    for (int i = 0; i < 1000; i++)
        assert_ok(bb_buf_print(&buf, "%03d,", i));
    assert_int_equal(buf.size, 4000);
    assert_memory_equal(buf.data, "000,001,002,", 12);
    assert_memory_equal(buf.data + 3996, "999,", 4);
    bb_buf_deinit(&buf);
}

/* A character that the program's locale cannot write. */
static void buf__print_that_fails_is_reported(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_buf_print(&buf, "%s", "before"));
    assert_status(bb_buf_print(&buf, "%lc", (wint_t)0x20ac), BB_INVALID);
    assert_int_equal(buf.size, 6);
    assert_memory_equal(buf.data, "before", 6);
    bb_buf_deinit(&buf);
}

int main(void)
{
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("buf_test", 2));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(buf__holds_what_was_appended, &rng),
        cmocka_unit_test(buf__reserve_makes_space_once),
        cmocka_unit_test(buf__nothing_needs_no_memory),
        cmocka_unit_test(buf__refuses_absurd_sizes),
        cmocka_unit_test(buf__assign_replaces_and_may_take_a_part_of_itself),
        cmocka_unit_test(buf__extend_gives_zeroed_bytes),
        cmocka_unit_test(buf__print_appends_without_terminator),
        cmocka_unit_test(buf__print_that_fails_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
