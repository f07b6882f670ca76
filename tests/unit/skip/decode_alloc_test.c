/* Goal: decoders of index files that find no memory report it and leak nothing. Method: sound bytes
 * of each object with memory of its own, decoded with each allocation failing. */
#include "skip/kind/column.h"
#include "skip/file/index_head.h"

#include "base/bytes.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/assert_status.h"
#include "tests/support/hostile.h"

struct head {
    enum bb_skip_kind kind;
    struct bb_bytes bytes;
};

static enum bb_status decode_head(void *context)
{
    const struct head *sample = context;
    struct bb_stored_attribute attribute = {.type = BB_ATTRIBUTE_BYTES};
    struct bb_index_directory directory = {
        .granule_count = 10, .attributes = &attribute, .attribute_count = 1};
    struct bb_directory_entry index = {.spec = {.kind = sample->kind}, .segment_count = 1};
    struct bb_index_head head;
    struct bb_buf buf = {0};
    enum bb_status status = bb_buf_assign(&buf, sample->bytes);
    if (status == BB_OK)
        status = bb_index_head_decode(&buf, &directory, &index, 1000, (struct bb_place){0}, &head);
    if (status == BB_OK)
        bb_index_head_deinit(&head);
    return status;
}

static void check_head(enum bb_skip_kind kind, const char *digits)
{
    const struct hostile_field fields[] = {{"head", digits, false}, {NULL, NULL, false}};
    struct head head = {kind, hostile_bytes(fields, NULL)};
    assert_int_equal(bb_alloc_fault_sweep(decode_head, &head, false), 3);
    hostile_free(head.bytes);
}

static void head__without_memory(void **state)
{
    (void)state;
    check_head(BB_SKIP_COLUMN, "0a 00 04 01 0a 10 10");
    check_head(BB_SKIP_TEXT, "0a 00 05 10 00 01 01 01 10 00");
}

/* Two parts, one value of bytes. */
static enum bb_status read_granule(void *context)
{
    struct bb_column_granule granule = {0};
    enum bb_status status =
        bb_column_granule_read(&granule, BB_ATTRIBUTE_BYTES, *(struct bb_bytes *)context, 1, 0);
    if (status == BB_OK)
        assert_int_equal(granule.part_count, 2);
    bb_column_granule_deinit(&granule);
    return status;
}

static void column__without_memory(void **state)
{
    (void)state;
    static const struct hostile_field fields[] = {
        {"end", "0a 00 00 00", false},
        {"granule", "02 02 01 01 00 01 00 02 'ab'", false},
        {NULL, NULL, false},
    };
    struct bb_bytes unit = hostile_bytes(fields, NULL);
    assert_int_equal(bb_alloc_fault_sweep(read_granule, &unit, false), 3);
    hostile_free(unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head__without_memory),
        cmocka_unit_test(column__without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
