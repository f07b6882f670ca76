/* Goal: an edit that finds no memory is reported, and leaks no block. Method: an edit with every
 * kind of field, encoded into every smaller space than its size, and decoded with each allocation
 * failing. */
#include "tests/unit/kv/sample_edit.h"

#include "tests/support/alloc/narrow_buf.h"

static enum bb_status encode(const void *object, struct bb_buf *buf)
{
    return bb_edit_encode(object, buf);
}

static struct bb_edit full_edit(void)
{
    struct bb_edit edit = {0};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("edit_alloc_test", 5));
    edit.has_identity = edit.is_close = edit.log_is_absent = true;
    edit.identity = sample_identity(1);
    edit.next_file_number = 1000;
    edit.last_sequence = 123456;
    edit.log_number = 77;
    assert_ok(bb_edit_remove_table(&edit, 3));
    assert_ok(bb_edit_remove_table(&edit, 300));
    sample_add_table(&rng, &edit, 6, 501, 1000); /* of a run */
    bb_edit_set_index(&edit, 900);
    edit.added[0].meta.range_tombstone_count = 4;
    edit.added[0].meta.tombstone_sequence_min = edit.added[0].meta.sequence_min + 1;
    edit.added[0].meta.sequence_max += 1;
    edit.added[0].meta.predicted_block_rate = edit.added[0].meta.predicted_table_filter_rate = 0.5;
    edit.added[0].meta.largest_is_exclusive = true;
    assert_ok(bb_edit_set_catalog(&edit, bb_bytes_of_text("catalog")));
    sample_add_log_end(&rng, &edit);
    sample_add_log_end(&rng, &edit);
    return edit;
}

static void edit__encoded_without_memory(void **state)
{
    (void)state;
    struct bb_edit edit = full_edit();
    narrow_buf_check(encode, &edit);
    bb_edit_deinit(&edit);
}

/* A key that grows by one byte moves the places where the buffer of a table grows over each field
 * after the keys. */
static void edit__table_of_any_size_encoded_without_memory(void **state)
{
    (void)state;
    static const uint8_t key[200] = {0};
    for (size_t size = 0; size <= sizeof(key); size++) {
        struct bb_edit edit = {0};
        struct bb_rng rng;
        bb_rng_init(&rng, 5);
        sample_add_table(&rng, &edit, 1, 500, BB_SEQUENCE_MAX);
        edit.added[0].run = BB_RUN_NUMBER_MAX;
        struct bb_table_meta *meta = &edit.added[0].meta;
        meta->range_tombstone_count = 4;
        meta->largest_is_exclusive = true;
        assert_ok(bb_buf_assign(&meta->smallest, bb_bytes_of(key, size)));
        assert_ok(bb_buf_assign(&meta->largest, bb_bytes_of(key, 3)));
        narrow_buf_check(encode, &edit);
        bb_edit_deinit(&edit);
    }
}

/* Keys that grow by one byte, and counts that grow by seven bits, move these places over the fields
 * before and after the keys too. */
static void edit__table_of_any_counts_encoded_without_memory(void **state)
{
    (void)state;
    static const uint8_t key[200] = {0};
    struct bb_rng rng;
    bb_rng_init(&rng, 5);
    for (size_t size = 0; size <= sizeof(key); size++) {
        struct bb_edit edit = {0};
        sample_add_table(&rng, &edit, 1, UINT64_C(1) << 7 * (size % 8), BB_SEQUENCE_MAX);
        struct bb_table_meta *meta = &edit.added[0].meta;
        meta->range_tombstone_count = 4;
        meta->largest_is_exclusive = true;
        meta->entry_count = meta->key_count = meta->raw_bytes = UINT64_C(1) << 7 * (size / 8 % 9);
        meta->file_size = meta->filter_bytes = meta->entry_count;
        assert_ok(bb_buf_assign(&meta->smallest, bb_bytes_of(key, size)));
        assert_ok(bb_buf_assign(&meta->largest, bb_bytes_of(key, 3)));
        narrow_buf_check(encode, &edit);
        bb_edit_deinit(&edit);
    }
}

static enum bb_status decode(void *context)
{
    struct bb_edit found;
    enum bb_status status =
        bb_edit_decode(*(struct bb_bytes *)context, (struct bb_place){0}, &found);
    if (status == BB_OK)
        bb_edit_deinit(&found);
    return status;
}

static void edit__decoded_without_memory(void **state)
{
    (void)state;
    struct bb_edit edit = full_edit();
    struct bb_buf buf = {0};
    assert_ok(bb_edit_encode(&edit, &buf));
    struct bb_bytes bytes = bb_buf_bytes(&buf);
    assert_true(bb_alloc_fault_sweep(decode, &bytes, false) > 4);
    bb_buf_deinit(&buf);
    bb_edit_deinit(&edit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edit__encoded_without_memory),
        cmocka_unit_test(edit__table_of_any_size_encoded_without_memory),
        cmocka_unit_test(edit__table_of_any_counts_encoded_without_memory),
        cmocka_unit_test(edit__decoded_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
