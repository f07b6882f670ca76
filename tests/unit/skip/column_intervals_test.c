/* One loop that decodes and tests numbers gives the truths of attributes that are decoded first.
 * Method: random values of each type, with the extremes, infinities, NaN and the neighbours
 * of the intervals' ends; random intervals with open and excluded ends; and bytes that are cut,
 * too many, or random. */
#include "skip/kind/column_intervals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "bb/condition.h"
#include "skip/kind/interval_set.h"
#include "skip/member/canonical.h"
#include "skip/record/attribute.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define VALUES_MAX    40
#define INTERVALS_MAX 12
#define ENDS_MAX      (2 * INTERVALS_MAX)

struct drawn {
    enum bb_attribute_type type;
    struct bb_attribute values[VALUES_MAX]; /* distinct, ascending, NaN last */
    size_t value_count;
    struct bb_interval intervals[INTERVALS_MAX];
    struct bb_leaf leaf;
    struct bb_buf encoded;
};

static const enum bb_attribute_type types[] = {BB_ATTRIBUTE_I64, BB_ATTRIBUTE_TIME,
                                               BB_ATTRIBUTE_U64, BB_ATTRIBUTE_F64};
#define TYPES (sizeof(types) / sizeof(types[0]))

/* Few numbers of many sizes: values are often at the end of an interval, or next to one. */
static uint64_t draw_word(struct bb_rng *rng)
{
    static const uint64_t odd[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1};
    uint64_t number = bb_rng_one_in(rng, 3) ? odd[bb_rng_below(rng, 5)] : bb_rng_below(rng, 40);
    return (number << (bb_rng_one_in(rng, 4) ? bb_rng_below(rng, 64) : 0)) + bb_rng_below(rng, 3) -
           1;
}

static double draw_double(struct bb_rng *rng)
{
    const double odd[] = {0.0,    -0.0,    (double)INFINITY,       -(double)INFINITY,
                          5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308};
    if (bb_rng_one_in(rng, 3))
        return odd[bb_rng_below(rng, sizeof(odd) / sizeof(odd[0]))];
    double number = ((double)bb_rng_below(rng, 21) - 10) / 2;
    return bb_rng_one_in(rng, 4) ? nextafter(number, 100) : number;
}

static struct bb_attribute draw_value(struct bb_rng *rng, enum bb_attribute_type type)
{
    struct bb_attribute value = {.state = BB_ATTRIBUTE_PRESENT, .type = type};
    if (type == BB_ATTRIBUTE_F64)
        value.as.f64 = draw_double(rng);
    else if (type == BB_ATTRIBUTE_U64)
        value.as.u64 = draw_word(rng);
    else
        value.as.i64 = (int64_t)draw_word(rng);
    return value;
}

static int compare(const void *left, const void *right)
{
    return bb_attribute_compare(left, right);
}

/* Values in order, each once. */
static size_t draw_ascending(struct bb_rng *rng, enum bb_attribute_type type, size_t count,
                             struct bb_attribute *values)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        values[i] = draw_value(rng, type);
    qsort(values, count, sizeof(values[0]), compare);
    for (size_t i = 0; i < count; i++)
        if (distinct == 0 || compare(&values[distinct - 1], &values[i]) != 0)
            values[distinct++] = values[i];
    return distinct;
}

/* -0 as a condition has it, and as a column has it, is 0. */
static struct bb_attribute without_sign_of_zero(struct bb_attribute value)
{
    if (value.type == BB_ATTRIBUTE_F64 && value.as.f64 == 0)
        value.as.f64 = 0;
    return value;
}

/* Ascending and disjoint (leaf.h): a single end makes a point. */
static void draw_intervals(struct bb_rng *rng, struct drawn *drawn)
{
    struct bb_attribute ends[ENDS_MAX];
    size_t count = draw_ascending(rng, drawn->type, bb_rng_below(rng, ENDS_MAX + 1), ends);
    size_t intervals = 0;
    for (size_t i = 0; i < count && intervals < INTERVALS_MAX;) {
        size_t last = i + 1 < count && bb_rng_one_in(rng, 2) ? i + 1 : i;
        struct bb_bound low = {.value = without_sign_of_zero(ends[i])};
        struct bb_bound high = {.value = without_sign_of_zero(ends[last])};
        if (last != i && drawn->type == BB_ATTRIBUTE_F64) {
            low.is_exclusive = bb_rng_one_in(rng, 2);
            high.is_exclusive = bb_rng_one_in(rng, 2);
        }
        drawn->intervals[intervals++] = (struct bb_interval){.low = low, .high = high};
        i = last + 1;
    }
    if (intervals > 0 && bb_rng_one_in(rng, 4))
        drawn->intervals[0].low = (struct bb_bound){.is_open = true};
    if (intervals > 0 && bb_rng_one_in(rng, 4))
        drawn->intervals[intervals - 1].high = (struct bb_bound){.is_open = true};
    drawn->leaf = (struct bb_leaf){.kind = BB_LEAF_INTERVALS,
                                   .type = drawn->type,
                                   .intervals = drawn->intervals,
                                   .interval_count = intervals};
}

static void encode(struct drawn *drawn)
{
    uint64_t before = 0;
    for (size_t i = 0; i < drawn->value_count; i++) {
        uint64_t word = bb_canonical_word(&drawn->values[i]);
        bool is_signed = drawn->type != BB_ATTRIBUTE_U64;
        if (drawn->type == BB_ATTRIBUTE_F64)
            assert_ok(bb_append_u64(&drawn->encoded, word));
        else if (i == 0 && is_signed)
            assert_ok(
                bb_append_varint(&drawn->encoded, word << 1 ^ (word >> 63 != 0 ? UINT64_MAX : 0)));
        else
            assert_ok(bb_append_varint(&drawn->encoded, word - before));
        before = word;
    }
}

static void draw(struct bb_rng *rng, struct drawn *drawn)
{
    *drawn = (struct drawn){.type = types[bb_rng_below(rng, TYPES)]};
    drawn->value_count =
        draw_ascending(rng, drawn->type, bb_rng_below(rng, VALUES_MAX), drawn->values);
    if (drawn->type == BB_ATTRIBUTE_F64 && bb_rng_one_in(rng, 3)) {
        struct bb_attribute *last = &drawn->values[drawn->value_count++];
        *last = draw_value(rng, drawn->type);
        last->as.f64 = bb_rng_one_in(rng, 2) ? (double)NAN : -(double)NAN;
    }
    draw_intervals(rng, drawn);
    encode(drawn);
}

/* The simple form: false for malformed bytes. */
static bool test_each(struct bb_column_granule *granule, const struct bb_leaf *leaf,
                      uint8_t *truths)
{
    if (bb_column_granule_decode(granule, leaf->type) != BB_OK)
        return false;
    for (size_t i = 0; i < granule->value_count; i++)
        truths[i] = bb_interval_set_has(leaf, &granule->values[i]);
    return true;
}

/* Both forms agree. Returns whether the bytes are values. */
static bool check(const struct drawn *drawn, struct bb_bytes encoded, size_t *matches)
{
    struct bb_column_intervals intervals = {0};
    uint8_t fast[VALUES_MAX] = {0};
    uint8_t simple[VALUES_MAX] = {0};
    uint8_t *bytes = malloc(encoded.size > 0 ? encoded.size : 1); /* of exactly its size */
    assert_non_null(bytes);
    if (encoded.size > 0)
        memcpy(bytes, encoded.data, encoded.size);
    struct bb_column_granule granule = {.value_count = drawn->value_count,
                                        .record_count = (uint32_t)drawn->value_count,
                                        .encoded = bb_bytes_of(bytes, encoded.size)};
    assert_ok(bb_column_intervals_init(&intervals, &drawn->leaf));
    bool is_whole = test_each(&granule, &drawn->leaf, simple);
    assert_int_equal(bb_column_intervals_test(&intervals, &granule, fast), is_whole);
    if (is_whole)
        assert_memory_equal(fast, simple, sizeof(fast));
    for (size_t i = 0; i < drawn->value_count; i++)
        *matches += is_whole && fast[i] == BB_TRUTH_TRUE;
    bb_column_intervals_deinit(&intervals);
    bb_column_granule_deinit(&granule);
    free(bytes);
    return is_whole;
}

static void numbers__have_the_truths_of_the_simple_form(void **state)
{
    (void)state;
    struct bb_rng rng;
    size_t values = 0;
    size_t matches = 0;
    bb_rng_init(&rng, bb_rng_seed("column_intervals_test", 1));
    for (size_t i = 0; i < 20000; i += bb_test_step()) {
        struct drawn drawn;
        draw(&rng, &drawn);
        assert_true(check(&drawn, bb_buf_bytes(&drawn.encoded), &matches));
        values += drawn.value_count;
        bb_buf_deinit(&drawn.encoded);
    }
    assert_true(matches > values / 4 && matches < values * 3 / 4);
}

static void malformed_numbers__are_refused_by_both_forms(void **state)
{
    (void)state;
    struct bb_rng rng;
    size_t whole = 0;
    size_t matches = 0;
    bb_rng_init(&rng, bb_rng_seed("column_intervals_test", 2));
    for (size_t i = 0; i < 5000; i += bb_test_step()) {
        struct drawn drawn;
        draw(&rng, &drawn);
        for (size_t size = 0; size < drawn.encoded.size; size++)
            assert_false(check(&drawn, bb_bytes_of(drawn.encoded.data, size), &matches));
        assert_ok(bb_append_u8(&drawn.encoded, 1));
        assert_false(check(&drawn, bb_buf_bytes(&drawn.encoded), &matches));
        drawn.encoded.size--;
        for (size_t at = 0; at < drawn.encoded.size; at++)
            drawn.encoded.data[at] ^= (uint8_t)(bb_rng_one_in(&rng, 4) << bb_rng_below(&rng, 8));
        whole += check(&drawn, bb_buf_bytes(&drawn.encoded), &matches);
        bb_buf_deinit(&drawn.encoded);
    }
    assert_true(whole > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers__have_the_truths_of_the_simple_form),
        cmocka_unit_test(malformed_numbers__are_refused_by_both_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
