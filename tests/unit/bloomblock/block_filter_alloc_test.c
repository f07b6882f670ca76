/* Goal: lack of memory while block filters are built is reported, does not change the output, and
 * is sticky in the builder; the filter of a memtable reports it too. Method: linked with
 * tests/support/alloc/alloc_fault.c; every allocation of every scenario fails one by one. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bloomblock/table/memory_filter.h"
#include "tests/support/alloc/alloc_fault.h"

/* context: the kind. */
static enum bb_status build_group(void *context)
{
    struct bb_block_filter_format format = format_of(*(enum bb_filter_kind *)context, 0.01, 1);
    struct bb_block_filter_builder *builder = NULL;
    struct bb_buf descriptors = {0}, payload = {0};
    uint32_t shards = 77;
    enum bb_status status = bb_block_filter_builder_create(&format, &builder);
    for (uint64_t i = 0; i < 3000 && status == BB_OK; i++)
        status = bb_block_filter_builder_add(builder, member_hash(0, i));
    if (status == BB_OK)
        status = bb_block_filter_builder_finish(builder, &descriptors, &payload, &shards);
    if (status != BB_OK && builder != NULL) {
        assert_int_equal(descriptors.size + payload.size, 0);
        assert_int_equal(shards, 77);
        assert_status(bb_block_filter_builder_add(builder, 1), status);
        assert_status(bb_block_filter_builder_finish(builder, &descriptors, &payload, &shards),
                      status);
    }
    bb_buf_deinit(&descriptors);
    bb_buf_deinit(&payload);
    bb_block_filter_builder_destroy(builder);
    return status;
}

static void block_filter__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    for (int kind = BB_FILTER_RIBBON; kind <= BB_FILTER_BLOOM; kind++) {
        enum bb_filter_kind context = (enum bb_filter_kind)kind;
        assert_true(bb_alloc_fault_sweep(build_group, &context, false) >= 4);
    }
}

static enum bb_status make_memory_filter(void *context)
{
    (void)context;
    struct bb_memory_filter filter;
    enum bb_status status = bb_memory_filter_init(&filter, 1000, 10);
    if (status == BB_OK)
        bb_memory_filter_deinit(&filter);
    return status;
}

static void memory_filter__failed_allocation_is_reported(void **state)
{
    (void)state;
    assert_int_equal(bb_alloc_fault_sweep(make_memory_filter, NULL, false), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_filter__every_failed_allocation_is_reported),
        cmocka_unit_test(memory_filter__failed_allocation_is_reported),
    };
    keys_init("block_filter_alloc");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
