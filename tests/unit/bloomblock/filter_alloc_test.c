/* Goal: want of memory while filters are built is reported, leaks nothing, leaves the output as it
 * was, and stays with the builder. Method: linked with tests/support/alloc/alloc_fault.c; every
 * allocation of every scenario fails in turn. */
#include "tests/unit/bloomblock/envelope_fixture.h"

#include "bloomblock/memory_filter.h"
#include "tests/support/alloc/alloc_fault.h"

static enum bb_status add_members(struct bb_filter_builder *builder, uint64_t count)
{
    enum bb_status status = BB_OK;
    for (uint64_t i = 0; i < count && status == BB_OK; i++)
        status = bb_filter_builder_add(builder, member_hash(0, i));
    return status;
}

/* context: the kind. */
static enum bb_status build_envelope(void *context)
{
    struct bb_filter_options options = {.kind = *(enum bb_filter_kind *)context};
    struct bb_filter_builder *builder = NULL;
    struct bb_buf envelope = {0};
    enum bb_status status = bb_filter_builder_create(&options, &builder);
    if (status != BB_OK)
        return status;
    status = add_members(builder, 3000);
    if (status == BB_OK)
        status = bb_filter_builder_finish(builder, &envelope);
    if (status != BB_OK) {
        assert_int_equal(envelope.size, 0);
        assert_status(bb_filter_builder_add(builder, 1), status);
        assert_status(bb_filter_builder_finish(builder, &envelope), status);
    }
    bb_buf_deinit(&envelope);
    bb_filter_builder_destroy(builder);
    return status;
}

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

static void filter__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    for (int kind = BB_FILTER_RIBBON; kind <= BB_FILTER_PARTITIONED; kind++) {
        enum bb_filter_kind context = (enum bb_filter_kind)kind;
        assert_true(bb_alloc_fault_sweep(build_envelope, &context, false) >= 4);
        if (kind <= BB_FILTER_BLOOM)
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

/* "A view allocates nothing." */
static void filter__views_and_questions_do_not_allocate(void **state)
{
    (void)state;
    for (int kind = BB_FILTER_NONE; kind <= BB_FILTER_BLOOM; kind++) {
        struct bb_buf envelope = envelope_of((enum bb_filter_kind)kind, 0.01, 0, 5000);
        struct bb_filter_view view;
        struct bb_filter_info info;
        uint64_t before = bb_alloc_fault_requests();
        assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
        assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
        for (uint64_t i = 0; i < 5000; i++)
            assert_true(bb_filter_may_contain(&view, member_hash(0, i)));
        assert_true(bb_alloc_fault_requests() == before);
        bb_buf_deinit(&envelope);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter__every_failed_allocation_is_reported),
        cmocka_unit_test(memory_filter__failed_allocation_is_reported),
        cmocka_unit_test(filter__views_and_questions_do_not_allocate),
    };
    keys_init("filter_alloc");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
