/* Goal: the encoders of a table's sections report that their buffer cannot grow. Method: space for
 * each number of bytes below the size of the encoded section, and no other memory. */
#include "base/bytes.h"
#include "sstable/block/stored_block.h"
#include "sstable/filter/table_filter.h"
#include "sstable/index/root.h"
#include "sstable/meta/properties.h"
#include "sstable/meta/table_directory.h"
#include "tests/support/alloc/narrow_buf.h"

static enum bb_status encode_properties(const void *object, struct bb_buf *buf)
{
    return bb_properties_encode(object, buf);
}

static void properties__without_memory(void **state)
{
    (void)state;
    struct bb_properties properties = {
        .entry_count = 300, .key_count = 200, .filter_rate = 0.01, .hash_id = BB_HASH_ID_XXH3};
    assert_ok(bb_buf_assign(&properties.table_id, bb_bytes_of_text("0123456789abcdef")));
    static const uint8_t secret[BB_HASH_SECRET_SIZE] = {1, 2};
    assert_ok(bb_buf_assign(&properties.hash_secret, bb_bytes_of(secret, sizeof(secret))));
    assert_ok(bb_buf_assign(&properties.smallest, bb_bytes_of_text("a")));
    assert_ok(bb_buf_assign(&properties.largest, bb_bytes_of_text("zz")));
    narrow_buf_check(encode_properties, &properties);
    bb_properties_deinit(&properties);
}

static enum bb_status encode_root(const void *object, struct bb_buf *buf)
{
    return bb_root_builder_encode(object, buf);
}

static void root__without_memory(void **state)
{
    (void)state;
    struct bb_root_builder builder;
    struct bb_fence fence = {.key = bb_bytes_of_text("middle"), .sequence = 7};
    bb_root_builder_init(&builder, NULL);
    assert_ok(bb_root_builder_add_page(&builder, 1400, 100, 30));
    assert_ok(bb_root_builder_add_fence(&builder, &fence));
    assert_ok(bb_root_builder_add_page(&builder, 2000, 100, 30));
    narrow_buf_check(encode_root, &builder);
    bb_root_builder_deinit(&builder);
}

static enum bb_status encode_directory(const void *object, struct bb_buf *buf)
{
    return bb_table_directory_encode(object, (struct bb_table_id){.low = 1, .high = 2}, 4096, buf);
}

static void directory__without_memory(void **state)
{
    (void)state;
    struct bb_table_directory directory = {.count = 2};
    directory.sections[0] = (struct bb_section){.id = BB_SECTION_ROOT, .size = 100};
    directory.sections[1] =
        (struct bb_section){.id = BB_SECTION_PROPERTIES, .offset = 100, .size = 200};
    narrow_buf_check(encode_directory, &directory);
}

static enum bb_status create_unusable(void *context)
{
    struct bb_table_filter *filter = NULL;
    (void)context;
    enum bb_status status = bb_table_filter_create_unusable(&filter);
    bb_table_filter_destroy(filter);
    return status;
}

static void table_filter__unusable_without_memory(void **state)
{
    (void)state;
    assert_int_equal(bb_alloc_fault_sweep(create_unusable, NULL, false), 1);
}

/* The payload is in the buffer already; a trailer is appended to it. */
static enum bb_status encode_block(const void *object, struct bb_buf *buf)
{
    const struct bb_bytes *payload = object;
    struct bb_bytes stored = {0};
    struct bb_buf packed = {0};
    enum bb_status status = bb_buf_append(buf, payload->data, payload->size);
    if (status == BB_OK)
        status = bb_stored_block_encode(buf, BB_COMPRESSION_NONE,
                                        (struct bb_table_id){.low = 1, .high = 2}, 4096, &packed,
                                        &stored);
    bb_buf_deinit(&packed);
    return status;
}

static void stored_block__without_memory(void **state)
{
    (void)state;
    struct bb_bytes payload = bb_bytes_of_text("a payload");
    narrow_buf_check(encode_block, &payload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties__without_memory),
        cmocka_unit_test(root__without_memory),
        cmocka_unit_test(directory__without_memory),
        cmocka_unit_test(table_filter__unusable_without_memory),
        cmocka_unit_test(stored_block__without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
