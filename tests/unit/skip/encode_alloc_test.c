/* Goal: every encoder of index files reports that its buffer cannot grow. Method: space for each
 * number of bytes below the size of the encoded object, and no other memory. */
#include "skip/layout/granule_table.h"
#include "skip/layout/index_directory.h"
#include "skip/kind/min_max.h"

#include "base/bytes.h"
#include "tests/support/alloc/narrow_buf.h"
#include "tests/support/assert_status.h"

static enum bb_status encode_directory(const void *object, struct bb_buf *buf)
{
    return bb_index_directory_append(object, buf);
}

static void directory__without_memory(void **state)
{
    (void)state;
    struct bb_stored_attribute attribute = {
        .name = "a", .definition = "a u64 = tsv(1)", .type = BB_ATTRIBUTE_U64};
    struct bb_directory_entry index = {.spec = {.kind = BB_SKIP_MIN_MAX}};
    struct bb_index_directory directory = {.attributes = &attribute,
                                           .attribute_count = 1,
                                           .indexes = &index,
                                           .index_count = 1,
                                           .source = {(uint8_t *)(uintptr_t) "xyz", 3, 3}};
    narrow_buf_check(encode_directory, &directory);
}

static enum bb_status encode_segment(const void *object, struct bb_buf *buf)
{
    return bb_segment_append(object, buf);
}

static void segment__without_memory(void **state)
{
    (void)state;
    struct bb_segment segment = {.granule_count = 10, .address_count = 300, .pair_count = 400};
    narrow_buf_check(encode_segment, &segment);
    segment.ribbon_fingerprint_bits = 8;
    segment.long_ribbons = 300;
    narrow_buf_check(encode_segment, &segment);
}

static enum bb_status encode_table(const void *object, struct bb_buf *buf)
{
    return bb_granule_table_builder_append(object, buf);
}

static void granule_table__without_memory(void **state)
{
    (void)state;
    static const uint32_t counts[BB_GRANULE_STATES] = {1, 0, 300};
    struct bb_granule_table_builder builder;
    assert_ok(bb_granule_table_builder_init(&builder, 1));
    assert_ok(bb_granule_table_builder_add(&builder, 1000, 400, counts));
    narrow_buf_check(encode_table, &builder);
    bb_granule_table_builder_deinit(&builder);
}

/* The bounds of a granule, as the first of its unit. */
static enum bb_status encode_bounds(const void *object, struct bb_buf *buf)
{
    struct bb_min_max_builder builder = {.unit = *buf};
    bb_min_max_builder_add(&builder, object);
    enum bb_status status = bb_min_max_builder_end_granule(&builder);
    *buf = builder.unit;
    return status;
}

static void bounds__without_memory(void **state)
{
    (void)state;
    struct bb_attribute number = {.type = BB_ATTRIBUTE_U64, .as.u64 = 7};
    struct bb_attribute bytes = {.type = BB_ATTRIBUTE_BYTES, .as.bytes = bb_bytes_of_text("abc")};
    narrow_buf_check(encode_bounds, &number);
    narrow_buf_check(encode_bounds, &bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directory__without_memory),
        cmocka_unit_test(segment__without_memory),
        cmocka_unit_test(granule_table__without_memory),
        cmocka_unit_test(bounds__without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
