/* Goal: values with known ends leave no member out. Method: random granules of values that share
 * ends; an index builder, which ignores known ends, has the same pairs as a set that gets all
 * members of all values. The counted end is also compared byte by byte with all earlier values.
 *
 * BB_TEST_SEED sets the seed.
 */
#include "tests/support/assert_status.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "skip/kind/member_index.h"
#include "tests/support/rng.h"

#define VALUES     60
#define VALUE_SIZE 600
#define ENDS       4
#define GRANULES   64

struct values {
    uint8_t bytes[VALUES][VALUE_SIZE];
    size_t sizes[VALUES];
    uint8_t ends[ENDS][VALUE_SIZE];
    size_t end_sizes[ENDS];
};

static size_t draw_bytes(struct bb_rng *rng, uint8_t *bytes, size_t size_max)
{
    static const uint8_t letters[] = {'a', 'b', 'Z', '7', ' ', '/', 0, 0xc3};
    size_t size = (size_t)bb_rng_below(rng, size_max);
    for (size_t i = 0; i < size; i++)
        bytes[i] = letters[bb_rng_below(rng, sizeof(letters))];
    return size;
}

/* Some bytes, then one of a few ends, sometimes with another byte in it. */
static void draw_values(struct bb_rng *rng, struct values *values)
{
    for (size_t i = 0; i < ENDS; i++)
        values->end_sizes[i] = draw_bytes(rng, values->ends[i], VALUE_SIZE / 2);
    for (size_t i = 0; i < VALUES; i++) {
        uint8_t *value = values->bytes[i];
        size_t end = (size_t)bb_rng_below(rng, ENDS);
        size_t size = draw_bytes(rng, value, VALUE_SIZE / 2);
        memcpy(value + size, values->ends[end], values->end_sizes[end]);
        values->sizes[i] = size + values->end_sizes[end];
        if (bb_rng_one_in(rng, 4) && values->sizes[i] > 0)
            value[bb_rng_below(rng, values->sizes[i])] = 'q';
    }
}

static struct bb_bytes value_of(const struct values *values, size_t i)
{
    return bb_bytes_of(values->bytes[i], values->sizes[i]);
}

static bool ends_with(struct bb_bytes value, struct bb_bytes end)
{
    return value.size >= end.size &&
           memcmp(value.data + value.size - end.size, end.data, end.size) == 0;
}

static void tail_memo__a_known_end_is_the_end_of_an_earlier_value(void **state)
{
    (void)state;
    static struct values values;
    struct bb_tail_memo memo;
    struct bb_rng rng;
    size_t known = 0;
    bb_rng_init(&rng, bb_rng_seed("tail_memo", 7));
    assert_status(bb_tail_memo_init(&memo), BB_OK);
    for (size_t granule = 0; granule < GRANULES; granule++) {
        draw_values(&rng, &values);
        bb_tail_memo_reset(&memo);
        for (size_t i = 0; i < VALUES; i++) {
            struct bb_bytes value = value_of(&values, i);
            size_t size = bb_tail_memo_take(&memo, value);
            bool is_found = size == 0;
            assert_true(size <= value.size);
            struct bb_bytes end = bb_bytes_of(value.data + value.size - size, size);
            for (size_t j = 0; j < i && !is_found; j++)
                is_found = ends_with(value_of(&values, j), end);
            assert_true(is_found);
            known += size;
        }
    }
    assert_true(known > (size_t)GRANULES * VALUES);
    bb_tail_memo_deinit(&memo);
}

static void add_all(struct bb_distinct_set *set, struct bb_member_scan *scan, struct bb_bytes value)
{
    bb_member_scan_begin(scan, value);
    for (size_t count = bb_member_scan_next(scan); count > 0; count = bb_member_scan_next(scan))
        bb_distinct_set_add(set, scan->hashes, count);
}

static void assert_same_pairs(const struct bb_distinct_set *expected,
                              const struct bb_distinct_set *found)
{
    assert_int_equal(expected->pair_count, found->pair_count);
    assert_memory_equal(expected->pairs, found->pairs,
                        expected->pair_count * sizeof(expected->pairs[0]));
}

/* New members are found in the same order, so that the pairs are the same without being sorted. */
static void assert_nothing_is_lost(struct bb_skip_spec spec, uint64_t seed)
{
    static struct values values;
    struct bb_hash_secret secret;
    struct bb_member_index_builder builder;
    struct bb_distinct_set set;
    struct bb_member_scan scan;
    struct bb_attribute attribute = {.type = BB_ATTRIBUTE_BYTES};
    struct bb_rng rng;
    bb_rng_init(&rng, seed);
    bb_hash_secret_from_seed(seed, &secret);
    assert_status(bb_member_index_builder_init(&builder, &spec, &secret, SIZE_MAX), BB_OK);
    assert_status(bb_distinct_set_init(&set), BB_OK);
    assert_status(bb_member_scan_init(&scan, &spec, &secret), BB_OK);
    for (size_t granule = 0; granule < GRANULES; granule++) {
        bool is_full = false;
        draw_values(&rng, &values);
        for (size_t i = 0; i < VALUES; i++) {
            attribute.as.bytes = value_of(&values, i);
            bb_member_index_builder_add(&builder, &attribute);
            add_all(&set, &scan, attribute.as.bytes);
        }
        assert_same_pairs(&set, &builder.members);
        assert_status(bb_member_index_builder_end_granule(&builder, &is_full), BB_OK);
        assert_status(bb_distinct_set_end_granule(&set, &is_full), BB_OK);
    }
    bb_member_scan_deinit(&scan);
    bb_distinct_set_deinit(&set);
    bb_member_index_builder_deinit(&builder);
}

static void tail_memo__no_token_is_lost(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("tail_memo", 8);
    struct bb_skip_spec spec = {.kind = BB_SKIP_TOKENS, .rate = 0.01};
    assert_nothing_is_lost(spec, seed);
    spec.folds_case = true;
    assert_nothing_is_lost(spec, seed + 1);
}

static void tail_memo__no_ngram_is_lost(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("tail_memo", 9);
    for (uint32_t size = 2; size <= 8; size++)
        assert_nothing_is_lost(
            (struct bb_skip_spec){.kind = BB_SKIP_NGRAMS, .rate = 0.1, .ngram_size = size},
            seed + size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tail_memo__a_known_end_is_the_end_of_an_earlier_value),
        cmocka_unit_test(tail_memo__no_token_is_lost),
        cmocka_unit_test(tail_memo__no_ngram_is_lost),
    };
    return cmocka_run_group_tests_name("tail_memo", tests, NULL, NULL);
}
