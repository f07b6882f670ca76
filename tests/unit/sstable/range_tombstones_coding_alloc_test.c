/* Goal: an encoder of range tombstones reports that its buffer cannot grow. Method: space for each
 * number of bytes below the size of the encoded section, and no other memory. */
#include "base/buf.h"
#include "sstable/ranges/range_tombstones.h"

#include "tests/support/alloc/narrow_buf.h"

static enum bb_status encode_ranges(const void *object, struct bb_buf *buf)
{
    return bb_range_tombstones_encode(object, buf);
}

/* More sequences than the memory that an encoder reserves with a key. */
static void ranges__without_memory_for_sequences(void **state)
{
    (void)state;
    static const uint64_t sequences[] = {UINT64_C(7) << 50, UINT64_C(6) << 50, UINT64_C(5) << 50,
                                         UINT64_C(4) << 50, UINT64_C(3) << 50, UINT64_C(2) << 50};
    const struct bb_range_tombstone_fragment fragment = {bb_bytes_of_text("a"),
                                                         bb_bytes_of_text("f"), sequences, 6};
    const struct bb_range_tombstones list = {.fragments = &fragment, .count = 1};
    narrow_buf_check(encode_ranges, &list);
}

static enum bb_status decode_ranges(void *context)
{
    struct bb_range_tombstones *list = NULL;
    enum bb_status status = bb_range_tombstones_decode(*(const struct bb_bytes *)context, NULL,
                                                       (struct bb_place){0}, &list);
    bb_range_tombstones_destroy(list);
    return status;
}

/* The list of sequences grows within the only range. */
static void ranges__decoded_without_memory(void **state)
{
    (void)state;
    uint64_t sequences[300];
    for (size_t i = 0; i < 300; i++)
        sequences[i] = 1000 - i;
    const struct bb_range_tombstone_fragment fragment = {bb_bytes_of_text("a"),
                                                         bb_bytes_of_text("f"), sequences, 300};
    const struct bb_range_tombstones list = {.fragments = &fragment, .count = 1};
    struct bb_buf section = {0};
    assert_ok(bb_range_tombstones_encode(&list, &section));
    struct bb_bytes bytes = bb_buf_bytes(&section);
    assert_true(bb_alloc_fault_sweep(decode_ranges, &bytes, false) > 3);
    bb_buf_deinit(&section);
}

static void ranges__without_memory(void **state)
{
    (void)state;
    static const uint64_t sequences[] = {1289, 1280};
    const struct bb_range_tombstone_fragment fragments[] = {
        {bb_bytes_of_text("a"), bb_bytes_of_text("f"), sequences, 2},
        {bb_bytes_of_text("f"), bb_bytes_of_text("m"), sequences, 1},
        {bb_bytes_of_text("x"), bb_bytes_of_text("y"), sequences, 1},
    };
    const struct bb_range_tombstones list = {.fragments = fragments, .count = 3};
    narrow_buf_check(encode_ranges, &list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges__without_memory),
        cmocka_unit_test(ranges__without_memory_for_sequences),
        cmocka_unit_test(ranges__decoded_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
