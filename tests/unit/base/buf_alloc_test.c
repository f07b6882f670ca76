/* Goal: lack of memory is reported as such, leaks nothing and does not change buffers, arenas and
 * threads. Method: linked with tests/support/alloc/alloc_fault.c; in each scenario every allocation
 * fails one by one. */
#include "tests/support/assert_status.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "base/sync.h"
#include "tests/support/alloc/alloc_fault.h"

static enum bb_status append_all(struct bb_buf *buf)
{
    static const uint8_t data[3000];
    uint8_t *extended = NULL;
    enum bb_status status = bb_append_u64(buf, 1);
    if (status == BB_OK)
        status = bb_buf_append(buf, data, 100);
    if (status == BB_OK)
        status = bb_buf_extend(buf, 1000, &extended);
    if (status == BB_OK)
        status = bb_buf_print(buf, "%2000d", 1);
    if (status == BB_OK)
        status = bb_append_bytes(buf, bb_bytes_of(data, sizeof(data)));
    if (status == BB_OK)
        status = bb_buf_reserve(buf, 100000);
    return status;
}

static enum bb_status fill_buffer(void *context)
{
    (void)context;
    struct bb_buf buf = {0};
    enum bb_status status = append_all(&buf);
    bb_buf_deinit(&buf);
    return status;
}

static void buf__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    assert_true(bb_alloc_fault_sweep(fill_buffer, NULL, false) >= 5);
}

static void buf__failed_growth_keeps_the_contents(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    uint8_t big[500] = {0};
    assert_ok(bb_buf_append(&buf, "contents", 8));
    bb_alloc_fault_arm(1, true);
    assert_status(bb_buf_append(&buf, big, sizeof(big)), BB_NO_MEMORY);
    assert_message("no memory for a buffer of");
    assert_status(bb_buf_assign(&buf, bb_bytes_of(big, sizeof(big))), BB_NO_MEMORY);
    assert_status(bb_append_bytes(&buf, bb_bytes_of(big, sizeof(big))),
                  BB_NO_MEMORY); /* not even the length */
    assert_status(bb_buf_print(&buf, "%500d", 1), BB_NO_MEMORY);
    assert_int_equal(bb_alloc_fault_failures(), 4);
    bb_alloc_fault_disarm();
    assert_true(bb_bytes_equal(bb_buf_bytes(&buf), bb_bytes_of_text("contents")));
    bb_buf_deinit(&buf);
}

static enum bb_status make_arena(void *context)
{
    (void)context;
    struct bb_arena arena = {0};
    enum bb_status status = bb_arena_init(&arena, 1000);
    if (status == BB_OK)
        bb_arena_deinit(&arena);
    return status;
}

static void arena__failed_allocation_is_reported(void **state)
{
    (void)state;
    assert_int_equal(bb_alloc_fault_sweep(make_arena, NULL, false), 1);
}

static void do_nothing(void *argument)
{
    (void)argument;
}

static enum bb_status run_thread(void *context)
{
    (void)context;
    struct bb_thread thread;
    enum bb_status status = bb_thread_create(&thread, do_nothing, NULL);
    if (status == BB_OK)
        bb_thread_join(&thread);
    return status;
}

static void thread__failed_allocation_is_reported(void **state)
{
    (void)state;
    assert_int_equal(bb_alloc_fault_sweep(run_thread, NULL, false), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buf__every_failed_allocation_is_reported),
        cmocka_unit_test(buf__failed_growth_keeps_the_contents),
        cmocka_unit_test(arena__failed_allocation_is_reported),
        cmocka_unit_test(thread__failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
