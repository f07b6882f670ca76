/* Encoders without memory for their output. Included by tests whose file name ends in
 * _alloc_test.c.
 *
 * Buffers double, so that most appends need no allocation, and a sweep of alloc_fault.h cannot make
 * them fail. Here the buffer has space for each number of bytes in turn, and cannot grow.
 */
#ifndef BB_TESTS_SUPPORT_ALLOC_NARROW_BUF_H
#define BB_TESTS_SUPPORT_ALLOC_NARROW_BUF_H

#include "base/alloc.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/assert_status.h"

/* Appends the object to the buffer. */
typedef enum bb_status (*narrow_encode)(const void *object, struct bb_buf *buf);

static inline enum bb_status narrow_buf_try(narrow_encode encode, const void *object, size_t space,
                                            uint64_t nth, bool lasting, bool *ret_has_failed)
{
    struct bb_buf buf = {.data = bb_alloc(space + 1), .capacity = space};
    uint64_t live = bb_alloc_fault_live();
    bb_alloc_fault_arm(nth, lasting);
    enum bb_status status = encode(object, &buf);
    *ret_has_failed = bb_alloc_fault_failures() > 0;
    bb_alloc_fault_disarm();
    assert_int_equal(bb_alloc_fault_live(), live);
    bb_buf_deinit(&buf);
    return status;
}

/* Requires BB_NO_MEMORY of the encoder if the buffer has space for fewer bytes than the object has,
 * and if any other allocation of the encoder fails. All blocks must be released. */
static inline void narrow_buf_check(narrow_encode encode, const void *object)
{
    struct bb_buf whole = {0};
    bool has_failed = false;
    assert_ok(encode(object, &whole));
    assert_true(whole.size > 0);
    for (size_t space = 0; space < whole.size; space++) {
        assert_status(narrow_buf_try(encode, object, space, 1, true, &has_failed), BB_NO_MEMORY);
        assert_true(has_failed);
        /* A later append finds memory: the object would lack bytes. */
        assert_status(narrow_buf_try(encode, object, space, 1, false, &has_failed), BB_NO_MEMORY);
        /* Only the growth of the output fails, where the encoder needs other memory before it. */
        for (uint64_t nth = 2; nth < 8; nth++) {
            enum bb_status status = narrow_buf_try(encode, object, space, nth, true, &has_failed);
            assert_status(status, has_failed ? BB_NO_MEMORY : BB_OK);
        }
    }
    uint64_t nth = 0;
    do {
        enum bb_status status =
            narrow_buf_try(encode, object, whole.size + 1, ++nth, false, &has_failed);
        assert_status(status, has_failed ? BB_NO_MEMORY : BB_OK);
    } while (has_failed);
    bb_buf_deinit(&whole);
}

#endif
