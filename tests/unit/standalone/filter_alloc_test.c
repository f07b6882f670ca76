/* Goal: lack of memory while filters are built is reported, leaks nothing, does not change the
 * output, and is sticky in the builder. Method: linked with tests/support/alloc/alloc_fault.c;
 * every allocation of every scenario fails one by one. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "tests/support/alloc/narrow_buf.h"

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

static void filter__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    for (int kind = BB_FILTER_RIBBON; kind <= BB_FILTER_PARTITIONED; kind++) {
        enum bb_filter_kind context = (enum bb_filter_kind)kind;
        assert_true(bb_alloc_fault_sweep(build_envelope, &context, false) >= 4);
    }
}

/* --- Filters that change --- */

static enum bb_status grow_scalable(void *context)
{
    struct bb_scalable_filter_options options = {.first_key_count = 16};
    struct bb_scalable_filter *filter = NULL, *copy = NULL;
    struct bb_buf envelope = {0};
    bool added = false;
    (void)context;
    enum bb_status status = bb_scalable_filter_create(&options, &filter);
    for (uint64_t i = 0; i < 100 && status == BB_OK; i++) {
        uint64_t before = bb_scalable_filter_key_count(filter);
        status = bb_scalable_filter_add(filter, member_hash(0, i), &added);
        assert_true(status == BB_OK || bb_scalable_filter_key_count(filter) == before);
    }
    if (status == BB_OK)
        status = bb_scalable_filter_encode(filter, &envelope);
    assert_true(status == BB_OK || envelope.size == 0);
    if (status == BB_OK)
        status = bb_scalable_filter_decode(bb_buf_bytes(&envelope), &copy);
    bb_scalable_filter_destroy(filter);
    bb_scalable_filter_destroy(copy);
    bb_buf_deinit(&envelope);
    return status;
}

static enum bb_status change_counting(void *context)
{
    struct bb_counting_filter_options options = {.key_count = 100};
    struct bb_counting_filter *filter = NULL, *copy = NULL;
    struct bb_buf envelope = {0}, bloom = {0};
    (void)context;
    enum bb_status status = bb_counting_filter_create(&options, &filter);
    for (uint64_t i = 0; i < 100 && status == BB_OK; i++)
        status = bb_counting_filter_add(filter, member_hash(0, i));
    if (status == BB_OK)
        status = bb_counting_filter_encode(filter, &envelope);
    assert_true(status == BB_OK || envelope.size == 0);
    if (status == BB_OK)
        status = bb_counting_filter_encode_bloom(filter, &bloom);
    assert_true(status == BB_OK || bloom.size == 0);
    if (status == BB_OK)
        status = bb_counting_filter_decode(bb_buf_bytes(&envelope), &copy);
    bb_counting_filter_destroy(filter);
    bb_counting_filter_destroy(copy);
    bb_buf_deinit(&envelope);
    bb_buf_deinit(&bloom);
    return status;
}

static enum bb_status count_keys(struct bb_count_sketch *sketch)
{
    enum bb_status status = BB_OK;
    for (uint64_t i = 0; i < 20 && status == BB_OK; i++) {
        uint64_t hash = member_hash(0, i), before = bb_count_sketch_count(sketch, hash);
        struct bb_bytes key = {(const uint8_t *)"key", 3};
        status = bb_count_sketch_add(sketch, hash, key, i + 1);
        assert_true(status == BB_OK || bb_count_sketch_count(sketch, hash) == before);
    }
    return status;
}

static enum bb_status count_in_sketch(void *context)
{
    struct bb_count_sketch_options options = {.error = 0.1, .top_count = 3};
    struct bb_count_sketch *sketch = NULL, *copy = NULL;
    struct bb_buf envelope = {0};
    (void)context;
    enum bb_status status = bb_count_sketch_create(&options, &sketch);
    if (status == BB_OK)
        status = count_keys(sketch);
    if (status == BB_OK)
        status = bb_count_sketch_encode(sketch, &envelope);
    assert_true(status == BB_OK || envelope.size == 0);
    if (status == BB_OK)
        status = bb_count_sketch_decode(bb_buf_bytes(&envelope), &copy);
    bb_count_sketch_destroy(sketch);
    bb_count_sketch_destroy(copy);
    bb_buf_deinit(&envelope);
    return status;
}

static enum bb_status fold_split_block(void *context)
{
    struct bb_buf bitset = {0}, envelope = {0}, folded = {0};
    uint8_t *space = NULL;
    (void)context;
    enum bb_status status = bb_buf_extend(&bitset, 1024, &space);
    if (status == BB_OK) {
        memset(space, 1, 1024);
        status = bb_split_block_encode(bb_buf_bytes(&bitset), 0, &envelope);
    }
    if (status == BB_OK)
        status = bb_split_block_fold(bb_buf_bytes(&envelope), 4, &folded);
    assert_true(status == BB_OK || folded.size == 0);
    bb_buf_deinit(&bitset);
    bb_buf_deinit(&envelope);
    bb_buf_deinit(&folded);
    return status;
}

/* context: an envelope. */
static enum bb_status encode_file(void *context)
{
    struct bb_filter_file parts = {.hash = BB_FILTER_HASH_KEYED, .envelope = bb_buf_bytes(context)};
    struct bb_buf file = {0};
    enum bb_status status = bb_filter_file_encode(&parts, &file);
    assert_true(status == BB_OK || file.size == 0);
    bb_buf_deinit(&file);
    return status;
}

static void filter_file__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct bb_buf envelope = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 100);
    assert_true(bb_alloc_fault_sweep(encode_file, &envelope, false) >= 1);
    bb_buf_deinit(&envelope);
}

static void filter_sets__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    assert_true(bb_alloc_fault_sweep(grow_scalable, NULL, false) >= 8);
    assert_true(bb_alloc_fault_sweep(change_counting, NULL, false) >= 6);
    assert_true(bb_alloc_fault_sweep(count_in_sketch, NULL, false) >= 20);
    assert_true(bb_alloc_fault_sweep(fold_split_block, NULL, false) >= 4);
}

/* Sizes that contradict the bytes are refused before anything is allocated for them. */
static void assert_refused_unallocated(struct bb_buf *envelope, size_t offset, uint64_t value)
{
    struct bb_counting_filter *counting = NULL;
    struct bb_scalable_filter *scalable = NULL;
    struct bb_count_sketch *sketch = NULL;
    uint64_t kept = bb_load64(envelope->data + offset), before = bb_alloc_fault_requests();
    bb_store64(envelope->data + offset, value);
    envelope_repair(envelope);
    struct bb_bytes bytes = bb_buf_bytes(envelope);
    assert_status(bb_counting_filter_decode(bytes, &counting), BB_CORRUPT);
    assert_status(bb_scalable_filter_decode(bytes, &scalable), BB_CORRUPT);
    assert_status(bb_count_sketch_decode(bytes, &sketch), BB_CORRUPT);
    assert_true(bb_alloc_fault_requests() == before);
    bb_store64(envelope->data + offset, kept);
}

static void filter_sets__absurd_sizes_are_refused_before_any_allocation(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {UINT64_C(1) << 32, UINT64_C(1) << 40, UINT64_MAX / 4,
                                     UINT64_MAX};
    struct bb_count_sketch *sketch = NULL;
    struct bb_count_sketch_options options = {0};
    struct bb_buf envelopes[3] = {envelope_of(BB_FILTER_COUNTING, 0.01, 1, 20),
                                  envelope_of(BB_FILTER_SCALABLE, 0.01, 1, 20)};
    assert_ok(bb_count_sketch_create(&options, &sketch));
    assert_ok(bb_count_sketch_encode(sketch, &envelopes[2]));
    bb_count_sketch_destroy(sketch);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(sizes); i++) {
        for (size_t e = 0; e < BB_ARRAY_LENGTH(envelopes); e++)
            assert_refused_unallocated(&envelopes[e], PARAMETER_0, sizes[i]);
        assert_refused_unallocated(&envelopes[0], KEY_COUNT, sizes[i]);
        assert_refused_unallocated(&envelopes[1], PAYLOAD, sizes[i]);          /* stages */
        assert_refused_unallocated(&envelopes[1], PAYLOAD + 16 + 8, sizes[i]); /* bits */
        assert_refused_unallocated(&envelopes[2], PARAMETER_1, sizes[i]);
        assert_refused_unallocated(&envelopes[2], PAYLOAD + 20, sizes[i]); /* top keys */
    }
    for (size_t e = 0; e < BB_ARRAY_LENGTH(envelopes); e++)
        bb_buf_deinit(&envelopes[e]);
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

/* It was 16 where the number of hashes is a little above a power of two. */
static void filter__ten_bytes_of_memory_per_hash(void **state)
{
    (void)state;
    static const enum bb_filter_kind kinds[] = {BB_FILTER_RIBBON, BB_FILTER_BLOOM,
                                                BB_FILTER_COUNTING, BB_FILTER_SCALABLE};
    enum { COUNT = 140000, SOLVER = 100000 };
    for (size_t i = 0; i < BB_ARRAY_LENGTH(kinds); i++) {
        struct bb_filter_options options = {.kind = kinds[i]};
        struct bb_filter_builder *builder = NULL;
        struct bb_buf envelope = {0};
        uint64_t before = bb_alloc_fault_bytes();
        bb_alloc_fault_peak_reset();
        assert_ok(bb_filter_builder_create(&options, &builder));
        assert_ok(add_members(builder, COUNT));
        uint64_t collected = bb_alloc_fault_peak() - before;
        assert_ok(bb_filter_builder_finish(builder, &envelope));
        uint64_t peak = bb_alloc_fault_peak() - before;
        bb_filter_builder_destroy(builder);
        uint64_t envelopes = i < 2 ? 2 : 3;
        print_message("%s: %.2f bytes per hash, %.2f in finish, envelope of %.2f\n",
                      bb_filter_kind_name(kinds[i]), (double)collected / COUNT,
                      (double)peak / COUNT, (double)envelope.size / COUNT);
        assert_true(collected > 8 * COUNT && collected < 10 * COUNT + 1000);
        assert_true(peak <= collected + envelopes * envelope.size + SOLVER);
        bb_buf_deinit(&envelope);
    }
}

static enum bb_status encode_sketch(const void *object, struct bb_buf *buf)
{
    return bb_count_sketch_encode(object, buf);
}

/* Wherever the envelope of a sketch with a list of keys would have to grow. */
static void count_sketch__encoded_without_memory(void **state)
{
    (void)state;
    struct bb_count_sketch_options options = {.error = 0.3, .top_count = 3};
    struct bb_count_sketch *sketch = NULL;
    assert_ok(bb_count_sketch_create(&options, &sketch));
    assert_ok(count_keys(sketch));
    narrow_buf_check(encode_sketch, sketch);
    bb_count_sketch_destroy(sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter__every_failed_allocation_is_reported),
        cmocka_unit_test(filter_sets__every_failed_allocation_is_reported),
        cmocka_unit_test(filter_file__every_failed_allocation_is_reported),
        cmocka_unit_test(filter_sets__absurd_sizes_are_refused_before_any_allocation),
        cmocka_unit_test(filter__views_and_questions_do_not_allocate),
        cmocka_unit_test(filter__ten_bytes_of_memory_per_hash),
        cmocka_unit_test(count_sketch__encoded_without_memory),
    };
    keys_init("filter_alloc");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
