/* Goal: an encoder of range tombstones reports that its buffer cannot grow. Method: space for each
 * number of bytes below the size of the encoded section, and no other memory. */
#include "sstable/ranges/range_tombstones.h"

#include "tests/support/alloc/narrow_buf.h"

static enum bb_status encode_ranges(const void *object, struct bb_buf *buf)
{
    return bb_range_tombstones_encode(object, buf);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
