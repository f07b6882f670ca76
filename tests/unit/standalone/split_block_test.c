/* Goal: filters of kind split-block are Parquet's, bit for bit, into envelopes, out of them, and
 * folded. Method: hashes, bits and a whole bitset as the format's test files and another
 * implementation have them, typed in here; sizes against published ones; folded filters against
 * filters built at the smaller size; rates measured. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "base/bytes.h"
#include "bloomblock/sizing/rate.h"
#include "bloomblock/cpu.h"
#include "standalone/bloom/split_block.h"

static uint64_t text_hash(const char *text)
{
    return bb_hash_xxh64(bb_bytes_of_text(text));
}

/* --- Vectors --- */

/* apache/parquet-testing, data/bloom_filter.xxhash.bin: four words in 32 blocks. */
static const struct {
    const char *text;
    uint64_t hash;
    uint32_t block;
    uint8_t bits[BB_SPLIT_BLOCK_WORDS];
} vectors[] = {
    {"hello", UINT64_C(0x26c7827d889f6da3), 4, {20, 9, 10, 7, 9, 31, 28, 27}},
    {"parquet", UINT64_C(0x3c9d29275c52e429), 7, {2, 22, 22, 19, 26, 13, 4, 1}},
    {"bloom", UINT64_C(0x50c8fb9e62dbc53c), 10, {21, 11, 8, 29, 23, 27, 8, 12}},
    {"filter", UINT64_C(0x2a5736cdfcd7a9a1), 5, {23, 28, 0, 28, 5, 21, 30, 19}},
};

static void split_block__hash_is_xxh64_with_seed_0(void **state)
{
    (void)state;
    uint8_t number[8];
    bb_store64(number, 42);
    assert_true(text_hash("") == UINT64_C(0xef46db3751d8e999));
    assert_true(bb_hash_xxh64(bb_bytes_of(number, 4)) == UINT64_C(0xd756d7b62fc50bf1));
    assert_true(bb_hash_xxh64(bb_bytes_of(number, 8)) == UINT64_C(0xb556806fb6d14353));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(vectors); i++)
        assert_true(text_hash(vectors[i].text) == vectors[i].hash);
}

static void split_block__bits_are_those_of_the_test_file(void **state)
{
    (void)state;
    uint8_t bitset[1024] = {0}, expected[1024] = {0};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(vectors); i++) {
        bb_split_block_add(bitset, 32, vectors[i].hash);
        for (size_t word = 0; word < BB_SPLIT_BLOCK_WORDS; word++) {
            size_t bit = vectors[i].block * 256 + word * 32 + vectors[i].bits[word];
            expected[bit / 8] |= (uint8_t)(1 << (bit % 8));
        }
    }
    assert_memory_equal(bitset, expected, sizeof(bitset));
}

/* A fixture of arrow-rs: one block with a0 ... a9. */
static const uint8_t block_of_ten[BB_SPLIT_BLOCK_SIZE] = {
    0xc8, 0x01, 0x50, 0x14, 0x40, 0x44, 0x08, 0x6d, 0x06, 0x25, 0x04, 0x43, 0x90, 0x50, 0x60, 0x20,
    0x08, 0x84, 0x2b, 0x21, 0x00, 0x05, 0x63, 0x41, 0x02, 0x00, 0xe0, 0x2c, 0x40, 0x4e, 0x60, 0x04};

static uint64_t ten_hash(uint32_t i)
{
    char text[3] = {'a', (char)('0' + i), '\0'};
    return text_hash(text);
}

static void split_block__builder_makes_the_block_of_another_writer(void **state)
{
    (void)state;
    struct bb_filter_options options = {.kind = BB_FILTER_SPLIT_BLOCK, .target_rate = 0.01};
    struct bb_filter_builder *builder = NULL;
    struct bb_buf envelope = {0};
    struct bb_bytes bitset;
    assert_ok(bb_filter_builder_create(&options, &builder));
    for (uint32_t i = 0; i < 10; i++)
        assert_ok(bb_filter_builder_add(builder, ten_hash(i)));
    assert_ok(bb_filter_builder_finish(builder, &envelope));
    assert_ok(bb_split_block_decode(bb_buf_bytes(&envelope), &bitset));
    assert_int_equal(bitset.size, BB_SPLIT_BLOCK_SIZE);
    assert_memory_equal(bitset.data, block_of_ten, BB_SPLIT_BLOCK_SIZE);
    assert_ptr_equal(bitset.data, envelope.data + 64);
    bb_filter_builder_destroy(builder);
    bb_buf_deinit(&envelope);
}

/* --- Sizes --- */

/* Bytes for n keys from the exact binomial mixture, computed elsewhere. */
static const struct {
    uint64_t keys, at_1_percent, at_1_permille;
} sizes[] = {{16, 32, 32},    {32, 64, 64},    {64, 96, 160},    {100, 160, 224},
             {128, 192, 288}, {256, 352, 544}, {512, 672, 1088}, {1000, 1344, 2112}};

static void split_block__sizes_are_those_of_the_true_mixture(void **state)
{
    (void)state;
    uint64_t blocks = 0;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(sizes); i++) {
        assert_ok(bb_split_block_count(sizes[i].keys, 0.01, &blocks));
        assert_int_equal(blocks * BB_SPLIT_BLOCK_SIZE, sizes[i].at_1_percent);
        assert_ok(bb_split_block_count(sizes[i].keys, 0.001, &blocks));
        assert_int_equal(blocks * BB_SPLIT_BLOCK_SIZE, sizes[i].at_1_permille);
    }
    /* Many keys: 10.53 bits each; the textbook's formula gives 9.68. */
    assert_ok(bb_split_block_count(10000000, 0.01, &blocks));
    assert_true(fabs((double)blocks * 256 / 1e7 - 10.53) < 0.01);
}

static void split_block__sizes_beyond_the_limits_are_refused(void **state)
{
    (void)state;
    uint64_t blocks = 77;
    assert_status(bb_split_block_count(BB_FILTER_KEY_COUNT_MAX + 1, 0.01, &blocks), BB_TOO_LARGE);
    assert_message("the limit is 4294967296");
    assert_status(bb_split_block_count(1, 0.6, &blocks), BB_INVALID);
    assert_status(bb_split_block_count(1, (double)NAN, &blocks), BB_INVALID);
    assert_int_equal(blocks, 77);
    assert_ok(bb_split_block_count(0, 0.5, &blocks));
    assert_int_equal(blocks, 1);
    assert_ok(bb_split_block_count(BB_FILTER_KEY_COUNT_MAX, BB_FILTER_RATE_MIN, &blocks));
    assert_true(blocks <= BB_SPLIT_BLOCK_COUNT_MAX);
}

/* --- Forms of the probe --- */

/* All blocks of a filter, at any place; the memory ends after the last. */
static void split_block__all_forms_answer_alike(void **state)
{
    (void)state;
#if BB_CPU_X86
    uint64_t yes = 0;
    for (uint32_t blocks = 1; blocks < 40 && bb_cpu_has(BB_CPU_AVX2); blocks++) {
        struct bb_buf bitset = {0};
        uint8_t *space = NULL;
        assert_ok(bb_buf_extend(&bitset, (size_t)blocks * BB_SPLIT_BLOCK_SIZE, &space));
        for (uint64_t i = 0; i < blocks * 30; i++)
            bb_split_block_add(space, blocks, member_hash(blocks, i));
        struct guarded copy = guarded_copy(bitset.data, bitset.size);
        for (uint64_t i = 0; i < 2000; i++) {
            bool expected = bb_split_block_may_contain(copy.data, blocks, absent_hash(i));
            assert_true(bb_split_block_avx2(copy.data, blocks, absent_hash(i)) == expected);
            assert_true(i >= blocks * 30 ||
                        bb_split_block_avx2(copy.data, blocks, member_hash(blocks, i)));
            yes += expected;
        }
        guarded_free(&copy);
        bb_buf_deinit(&bitset);
    }
    assert_true(yes > 1000 || !bb_cpu_has(BB_CPU_AVX2));
#endif
}

/* --- Bitsets in and out --- */

static void split_block__wrapped_bitsets_answer_and_come_out_again(void **state)
{
    (void)state;
    struct bb_buf envelope = {0};
    struct bb_filter_view view;
    struct bb_filter_info info;
    struct bb_bytes bitset = bb_bytes_of(block_of_ten, sizeof(block_of_ten)), out;
    for (uint64_t key_count = 0; key_count <= 10; key_count += 10) {
        bb_buf_reset(&envelope);
        assert_ok(bb_split_block_encode(bitset, key_count, &envelope));
        assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
        assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
        assert_ok(bb_split_block_decode(bb_buf_bytes(&envelope), &out));
        assert_true(bb_bytes_equal(out, bitset));
        assert_true(info.key_count >= 9 && info.key_count <= 11);
        assert_true(info.kind == BB_FILTER_SPLIT_BLOCK && info.target_rate == 1);
        assert_int_equal(info.bits_per_probe, 8);
        for (uint32_t i = 0; i < 10; i++)
            assert_true(bb_filter_may_contain(&view, ten_hash(i)));
        assert_false(bb_filter_may_contain(&view, text_hash("b0")));
    }
    bb_buf_deinit(&envelope);
}

static void split_block__no_bits_are_no_keys(void **state)
{
    (void)state;
    static const uint8_t zeros[96];
    struct bb_buf envelope = {0};
    struct bb_filter_view view;
    struct bb_bytes out;
    assert_ok(bb_split_block_encode(bb_bytes_of(zeros, 96), 0, &envelope));
    assert_int_equal(envelope.size, 72);
    assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
    assert_false(bb_filter_may_contain(&view, 1));
    assert_ok(bb_split_block_decode(bb_buf_bytes(&envelope), &out));
    assert_true(bb_bytes_equal(out, bb_bytes_of(zeros, 32)));
    assert_status(bb_split_block_encode(bb_bytes_of(zeros, 96), 3, &envelope), BB_INVALID);
    assert_message("3 keys has no bit set");
    assert_int_equal(envelope.size, 72);
    bb_buf_deinit(&envelope);
}

static void split_block__bad_arguments_are_refused(void **state)
{
    (void)state;
    struct bb_buf envelope = {0}, folded = {0}, ribbon = envelope_of(BB_FILTER_RIBBON, 0.01, 1, 9);
    struct bb_bytes out = {0};
    assert_status(bb_split_block_encode(bb_bytes_of(block_of_ten, 31), 1, &envelope), BB_INVALID);
    assert_message("has 31 bytes");
    assert_status(bb_split_block_encode(bb_bytes_of(NULL, 0), 0, &envelope), BB_INVALID);
    assert_status(bb_split_block_encode(bb_bytes_of(block_of_ten, 32), BB_FILTER_KEY_COUNT_MAX + 1,
                                        &envelope),
                  BB_TOO_LARGE);
    assert_status(bb_split_block_decode(bb_buf_bytes(&ribbon), &out), BB_INVALID);
    assert_message("of kind ribbon, expected split-block");
    assert_status(bb_split_block_fold(bb_buf_bytes(&ribbon), 1, &folded), BB_INVALID);
    ribbon.data[70] ^= 1;
    assert_status(bb_split_block_decode(bb_buf_bytes(&ribbon), &out), BB_CORRUPT);
    assert_status(bb_split_block_fold_to_rate(bb_buf_bytes(&ribbon), 0.1, &folded), BB_CORRUPT);
    assert_null(out.data);
    assert_int_equal(envelope.size + folded.size, 0);
    struct bb_filter_options salted = {.kind = BB_FILTER_SPLIT_BLOCK, .salt = 1};
    struct bb_filter_builder *builder = NULL;
    assert_status(bb_filter_builder_create(&salted, &builder), BB_INVALID);
    assert_message("the salt is 0000000000000001");
    bb_buf_deinit(&ribbon);
}

/* --- Folding --- */

/* The bitset of the first count members of a set. */
static struct bb_buf bitset_of(uint32_t block_count, uint64_t set, uint64_t count)
{
    struct bb_buf bitset = {0};
    uint8_t *space = NULL;
    assert_ok(bb_buf_extend(&bitset, (size_t)block_count * BB_SPLIT_BLOCK_SIZE, &space));
    for (uint64_t i = 0; i < count; i++)
        bb_split_block_add(space, block_count, member_hash(set, i));
    return bitset;
}

static void assert_folds_to(uint32_t block_count, uint32_t folded_count)
{
    struct bb_buf bitset = bitset_of(block_count, 3, 200), small = bitset_of(folded_count, 3, 200);
    struct bb_buf envelope = {0}, folded = {0};
    struct bb_filter_info info;
    struct bb_bytes out;
    assert_ok(bb_split_block_encode(bb_buf_bytes(&bitset), 200, &envelope));
    assert_ok(bb_split_block_fold(bb_buf_bytes(&envelope), folded_count, &folded));
    assert_ok(bb_split_block_decode(bb_buf_bytes(&folded), &out));
    assert_ok(bb_filter_info(bb_buf_bytes(&folded), &info));
    assert_true(bb_bytes_equal(out, bb_buf_bytes(&small)));
    assert_true(info.key_count == 200 && info.target_rate == 1);
    bb_buf_deinit(&bitset);
    bb_buf_deinit(&small);
    bb_buf_deinit(&envelope);
    bb_buf_deinit(&folded);
}

static void split_block__folded_filters_are_those_built_smaller(void **state)
{
    (void)state;
    assert_folds_to(64, 32);
    assert_folds_to(64, 1);
    assert_folds_to(48, 16);
    assert_folds_to(45, 15);
    assert_folds_to(7, 7);
}

static void split_block__folding_to_what_does_not_divide_is_refused(void **state)
{
    (void)state;
    struct bb_buf bitset = bitset_of(12, 3, 20), envelope = {0}, folded = {0};
    assert_ok(bb_split_block_encode(bb_buf_bytes(&bitset), 20, &envelope));
    assert_status(bb_split_block_fold(bb_buf_bytes(&envelope), 5, &folded), BB_INVALID);
    assert_message("12 blocks cannot be folded to 5");
    assert_status(bb_split_block_fold(bb_buf_bytes(&envelope), 24, &folded), BB_INVALID);
    assert_status(bb_split_block_fold(bb_buf_bytes(&envelope), 0, &folded), BB_INVALID);
    assert_int_equal(folded.size, 0);
    bb_buf_deinit(&bitset);
    bb_buf_deinit(&envelope);
}

/* Made for a million keys, used for some hundreds. */
static void split_block__folding_to_a_rate_cuts_to_size(void **state)
{
    (void)state;
    static const double targets[] = {0.5, 0.1, 0.01, 0.001};
    struct bb_buf bitset = bitset_of(32768, 5, 700), envelope = {0};
    assert_ok(bb_split_block_encode(bb_buf_bytes(&bitset), 700, &envelope));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(targets); i++) {
        struct bb_buf folded = {0}, smaller = {0};
        struct bb_filter_view view;
        struct bb_filter_info info;
        uint64_t passed = 0, least = 0;
        assert_ok(bb_split_block_fold_to_rate(bb_buf_bytes(&envelope), targets[i], &folded));
        assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&folded)));
        assert_ok(bb_filter_info(bb_buf_bytes(&folded), &info));
        assert_true(info.predicted_rate <= targets[i] && info.target_rate == targets[i]);
        for (uint64_t m = 0; m < 700; m++)
            assert_true(bb_filter_may_contain(&view, member_hash(5, m)));
        for (uint64_t f = 0; f < 100000; f++)
            passed += bb_filter_may_contain(&view, absent_hash(f));
        assert_rate(passed, 100000, info.predicted_rate, "non-member keys of a folded filter");
        /* Half of it would be too small; and it is less than twice the size for the keys. */
        uint64_t blocks = (info.size_bytes - 72) / BB_SPLIT_BLOCK_SIZE;
        assert_ok(bb_split_block_count(700, targets[i] * 0.8, &least));
        assert_true(blocks < 2 * least);
        assert_ok(bb_split_block_fold(bb_buf_bytes(&folded), blocks / 2, &smaller));
        assert_ok(bb_filter_info(bb_buf_bytes(&smaller), &info));
        assert_true(info.predicted_rate > targets[i]);
        bb_buf_deinit(&folded);
        bb_buf_deinit(&smaller);
    }
    struct bb_buf none = {0};
    assert_status(bb_split_block_fold_to_rate(bb_buf_bytes(&envelope), 0.7, &none), BB_INVALID);
    bb_buf_deinit(&bitset);
    bb_buf_deinit(&envelope);
}

static void split_block__a_full_filter_cannot_be_folded_to_a_rate(void **state)
{
    (void)state;
    struct bb_buf bitset = bitset_of(2, 5, 300), envelope = {0}, folded = {0};
    assert_ok(bb_split_block_encode(bb_buf_bytes(&bitset), 0, &envelope));
    assert_status(bb_split_block_fold_to_rate(bb_buf_bytes(&envelope), 0.01, &folded), BB_INVALID);
    assert_message("of non-member keys as it is");
    bb_buf_deinit(&bitset);
    bb_buf_deinit(&envelope);
}

/* A prime number of blocks, of which only one block is a part: too full for the rate. */
static void split_block__that_cannot_be_smaller_stays(void **state)
{
    (void)state;
    struct bb_buf bitset = bitset_of(7, 5, 100), envelope = {0}, folded = {0};
    struct bb_filter_info info;
    assert_ok(bb_split_block_encode(bb_buf_bytes(&bitset), 0, &envelope));
    assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
    uint64_t size = info.size_bytes;
    assert_ok(
        bb_split_block_fold_to_rate(bb_buf_bytes(&envelope), 1.5 * info.predicted_rate, &folded));
    assert_ok(bb_filter_info(bb_buf_bytes(&folded), &info));
    assert_int_equal(info.size_bytes, size);
    bb_buf_deinit(&bitset);
    bb_buf_deinit(&envelope);
    bb_buf_deinit(&folded);
}

static void split_block__no_keys_fold_to_no_keys(void **state)
{
    (void)state;
    struct bb_buf envelope = envelope_of(BB_FILTER_SPLIT_BLOCK, 0.01, 0, 0), folded = {0};
    assert_ok(bb_split_block_fold(bb_buf_bytes(&envelope), 1, &folded));
    assert_ok(bb_split_block_fold_to_rate(bb_buf_bytes(&envelope), 0.1, &folded));
    assert_int_equal(folded.size, 144);
    bb_buf_deinit(&envelope);
    bb_buf_deinit(&folded);
}

/* --- Estimates --- */

static void split_block__bits_tell_the_number_of_keys(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 100000; n *= 10) {
        uint32_t blocks = (uint32_t)(n / 20 + 1);
        struct bb_buf bitset = bitset_of(blocks, n, n);
        double estimate = (double)bb_split_block_key_count(bitset.data, blocks);
        if (fabs(estimate - (double)n) > 0.02 * (double)n + 6 * sqrt((double)n) / 4) {
            print_error("%llu keys, estimated %.0f\n", (unsigned long long)n, estimate);
            fail();
        }
        bb_buf_deinit(&bitset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_block__hash_is_xxh64_with_seed_0),
        cmocka_unit_test(split_block__bits_are_those_of_the_test_file),
        cmocka_unit_test(split_block__builder_makes_the_block_of_another_writer),
        cmocka_unit_test(split_block__sizes_are_those_of_the_true_mixture),
        cmocka_unit_test(split_block__sizes_beyond_the_limits_are_refused),
        cmocka_unit_test(split_block__all_forms_answer_alike),
        cmocka_unit_test(split_block__wrapped_bitsets_answer_and_come_out_again),
        cmocka_unit_test(split_block__no_bits_are_no_keys),
        cmocka_unit_test(split_block__bad_arguments_are_refused),
        cmocka_unit_test(split_block__folded_filters_are_those_built_smaller),
        cmocka_unit_test(split_block__folding_to_what_does_not_divide_is_refused),
        cmocka_unit_test(split_block__folding_to_a_rate_cuts_to_size),
        cmocka_unit_test(split_block__a_full_filter_cannot_be_folded_to_a_rate),
        cmocka_unit_test(split_block__that_cannot_be_smaller_stays),
        cmocka_unit_test(split_block__no_keys_fold_to_no_keys),
        cmocka_unit_test(split_block__bits_tell_the_number_of_keys),
    };
    keys_init("split_block");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
