/* Goal: a counting filter is a set with removal, rules out no member for any events in its
 * counters, reports full ones, and survives being stored. Method: random additions and removals
 * compared with a table of the contents; counters driven to their maximum; bits compared with a
 * classic filter's of the same keys. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "bloomblock/bloom/bloom.h"
#include "standalone/bloom/counting_bloom.h"
#include "bloomblock/domain.h"
#include "standalone/envelope/envelope.h"
#include "tests/support/must_alloc.h"

static struct bb_counting_filter *filter_of(uint64_t key_count, double target_rate)
{
    struct bb_counting_filter_options options = {
        .key_count = key_count, .target_rate = target_rate, .salt = 5};
    struct bb_counting_filter *filter = NULL;
    assert_ok(bb_counting_filter_create(&options, &filter));
    return filter;
}

static struct bb_filter_info info_of(const struct bb_counting_filter *filter)
{
    struct bb_filter_info info;
    bb_counting_filter_info(filter, &info);
    return info;
}

/* --- Adding and removing --- */

#define KEYS  600
#define STEPS 20000

static void counting_filter__members_stay_through_additions_and_removals(void **state)
{
    (void)state;
    struct bb_counting_filter *filter = filter_of(300, 0.01);
    static uint32_t counts[KEYS];
    uint64_t total = 0, refused = 0;
    memset(counts, 0, sizeof(counts));
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t random = bb_hash_mix(step ^ key_seed), key = random % KEYS;
        if (counts[key] > 0 && random >> 32 & 1) {
            assert_ok(bb_counting_filter_remove(filter, member_hash(1, key)));
            counts[key]--;
            total--;
        } else if (total < 300 && counts[key] < 3) {
            assert_ok(bb_counting_filter_add(filter, member_hash(1, key)));
            counts[key]++;
            total++;
        }
        if (step % 97 != 0)
            continue;
        for (uint64_t i = 0; i < KEYS; i++)
            assert_true(counts[i] == 0 ||
                        bb_counting_filter_may_contain(filter, member_hash(1, i)));
        if (!bb_counting_filter_may_contain(filter, absent_hash(step))) {
            assert_status(bb_counting_filter_remove(filter, absent_hash(step)), BB_NOT_FOUND);
            refused++;
        }
    }
    assert_true(refused > STEPS / 97 / 2);
    assert_int_equal(info_of(filter).key_count, total);
    assert_int_equal(info_of(filter).saturated_count, 0);
    /* And back to an empty filter. */
    for (uint64_t i = 0; i < KEYS; i++)
        for (; counts[i] > 0; counts[i]--)
            assert_ok(bb_counting_filter_remove(filter, member_hash(1, i)));
    assert_true(info_of(filter).fill == 0 && info_of(filter).key_count == 0);
    assert_status(bb_counting_filter_remove(filter, member_hash(1, 0)), BB_NOT_FOUND);
    assert_message("certainly not in the filter");
    bb_counting_filter_destroy(filter);
}

/* All fields of the counters but the key that is removed are those from before. */
static void counting_filter__refused_removals_change_nothing(void **state)
{
    (void)state;
    for (uint64_t counters = 1; counters < 60; counters++) {
        uint8_t payload[32] = {0}, before[32];
        uint32_t removed = 0;
        for (uint64_t i = 0; i < counters / 8; i++)
            bb_counting_bloom_add(payload, counters, 5, member_hash(counters, i));
        for (uint64_t i = 0; i < 40 && counters > 1; i++)
            bb_counting_bloom_add(payload, counters, 1, member_hash(counters, 1000));
        for (uint64_t i = 0; i < 300; i++) {
            memcpy(before, payload, sizeof(payload));
            if (!bb_counting_bloom_remove(payload, counters, 5, absent_hash(i)))
                assert_memory_equal(before, payload, sizeof(payload));
            else
                removed++;
            memcpy(payload, before, sizeof(payload));
        }
        assert_true(removed < 300 || counters <= 3);
    }
}

static void counting_filter__full_counters_stay_and_are_reported(void **state)
{
    (void)state;
    struct bb_counting_filter *filter = filter_of(10, 0.01);
    for (int i = 0; i < 14; i++)
        assert_ok(bb_counting_filter_add(filter, member_hash(1, 0)));
    uint64_t seen = info_of(filter).saturated_count;
    for (int i = 0; i < 100; i++)
        assert_ok(bb_counting_filter_add(filter, member_hash(1, 0)));
    assert_ok(bb_counting_filter_add(filter, member_hash(1, 1)));
    uint64_t full = info_of(filter).saturated_count;
    assert_true(full >= 1 && full > seen && full <= info_of(filter).bits_per_probe);
    /* A full counter keeps its keys forever; the others can be removed. */
    for (int i = 0; i < 114; i++)
        assert_ok(bb_counting_filter_remove(filter, member_hash(1, 0)));
    assert_true(bb_counting_filter_may_contain(filter, member_hash(1, 0)));
    assert_true(bb_counting_filter_may_contain(filter, member_hash(1, 1)));
    assert_int_equal(info_of(filter).saturated_count, full);
    assert_ok(bb_counting_filter_remove(filter, member_hash(1, 1)));
    assert_int_equal(info_of(filter).key_count, 0);
    assert_int_equal(info_of(filter).saturated_count, full);
    assert_status(bb_counting_filter_remove(filter, member_hash(1, 0)), BB_NOT_FOUND);
    bb_counting_filter_destroy(filter);
}

/* --- Storing --- */

static void assert_same_answers(const struct bb_counting_filter *filter,
                                const struct bb_buf *envelope)
{
    struct bb_filter_view view;
    assert_ok(bb_filter_view_init(&view, bb_buf_bytes(envelope)));
    for (uint64_t i = 0; i < 2000; i++) {
        bool member = bb_counting_filter_may_contain(filter, member_hash(1, i));
        bool absent = bb_counting_filter_may_contain(filter, absent_hash(i));
        assert_true(bb_filter_may_contain(&view, member_hash(1, i)) == member);
        assert_true(bb_filter_may_contain(&view, absent_hash(i)) == absent);
    }
}

static void counting_filter__a_decoded_filter_goes_on(void **state)
{
    (void)state;
    struct bb_counting_filter *filter = filter_of(500, 0.05), *copy = NULL;
    for (uint64_t n = 0; n <= 500; n += 100) {
        struct bb_buf envelope = {0}, again = {0};
        struct bb_filter_info info;
        for (uint64_t i = n; i < n + 100; i++)
            assert_ok(bb_counting_filter_add(filter, member_hash(1, i)));
        for (uint64_t i = n; i < n + 50; i++)
            assert_ok(bb_counting_filter_remove(filter, member_hash(1, i)));
        assert_ok(bb_counting_filter_encode(filter, &envelope));
        assert_same_answers(filter, &envelope);
        assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
        struct bb_filter_info live = info_of(filter);
        assert_true(info.key_count == live.key_count && info.fill == live.fill);
        assert_true(info.predicted_rate == live.predicted_rate);
        assert_int_equal(info.size_bytes, envelope.size);
        assert_int_equal(live.size_bytes, envelope.size);
        assert_ok(bb_counting_filter_decode(bb_buf_bytes(&envelope), &copy));
        assert_ok(bb_counting_filter_encode(copy, &again));
        assert_memory_equal(again.data, envelope.data, envelope.size);
        bb_counting_filter_destroy(filter);
        filter = copy;
        bb_buf_deinit(&envelope);
        bb_buf_deinit(&again);
    }
    bb_counting_filter_destroy(filter);
}

/* Counters that are full no longer add up to the keys; that is no damage. */
static void counting_filter__full_counters_are_stored(void **state)
{
    (void)state;
    struct bb_counting_filter *filter = filter_of(20, 0.01), *copy = NULL;
    struct bb_buf envelope = {0};
    for (int i = 0; i < 40; i++)
        assert_ok(bb_counting_filter_add(filter, member_hash(1, 0)));
    for (int i = 0; i < 39; i++)
        assert_ok(bb_counting_filter_remove(filter, member_hash(1, 0)));
    uint64_t full = info_of(filter).saturated_count;
    assert_true(full > 0);
    assert_ok(bb_counting_filter_encode(filter, &envelope));
    assert_ok(bb_counting_filter_decode(bb_buf_bytes(&envelope), &copy));
    assert_int_equal(info_of(copy).saturated_count, full);
    assert_int_equal(info_of(copy).key_count, 1);
    assert_true(bb_counting_filter_may_contain(copy, member_hash(1, 0)));
    bb_counting_filter_destroy(filter);
    bb_counting_filter_destroy(copy);
    bb_buf_deinit(&envelope);
}

/* The filter of the same keys, with the same bits and probes, made bit by bit. */
static void assert_is_bloom_of(const struct bb_buf *envelope, uint64_t begin, uint64_t end)
{
    struct bb_envelope fields;
    uint64_t domain = bb_domain(BB_DOMAIN_ENVELOPE, 5);
    assert_ok(bb_envelope_decode(bb_buf_bytes(envelope), &fields));
    assert_int_equal(fields.kind, BB_FILTER_BLOOM);
    assert_int_equal(fields.key_count, end - begin);
    uint8_t *bits = bb_must_realloc(NULL, fields.payload.size);
    memset(bits, 0, fields.payload.size);
    for (uint64_t i = begin; i < end; i++)
        bb_bloom_add(bits, fields.parameters[0], (uint32_t)fields.parameters[1],
                     bb_domain_hash(domain, member_hash(1, i)));
    assert_memory_equal(bits, fields.payload.data, fields.payload.size);
    free(bits);
}

static void counting_filter__its_bits_are_the_classic_filter(void **state)
{
    (void)state;
    struct bb_counting_filter *filter = filter_of(301, 0.01);
    struct bb_buf bloom = {0};
    for (uint64_t i = 0; i < 500; i++)
        assert_ok(bb_counting_filter_add(filter, member_hash(1, i)));
    for (uint64_t i = 0; i < 200; i++)
        assert_ok(bb_counting_filter_remove(filter, member_hash(1, i)));
    assert_ok(bb_counting_filter_encode_bloom(filter, &bloom));
    assert_same_answers(filter, &bloom);
    assert_is_bloom_of(&bloom, 200, 500);
    for (uint64_t i = 200; i < 500; i++)
        assert_ok(bb_counting_filter_remove(filter, member_hash(1, i)));
    bb_buf_reset(&bloom);
    assert_ok(bb_counting_filter_encode_bloom(filter, &bloom));
    assert_int_equal(bloom.size, 72);
    bb_buf_deinit(&bloom);
    bb_counting_filter_destroy(filter);
}

static void counting_filter__target_is_met_at_the_planned_number_of_keys(void **state)
{
    (void)state;
    double predicted = 0;
    const uint64_t filters = 200, questions = 500;
    uint64_t passed = 0;
    for (uint64_t f = 0; f < filters; f++) {
        struct bb_counting_filter *filter = filter_of(40, 0.02);
        for (uint64_t i = 0; i < 80; i++)
            assert_ok(bb_counting_filter_add(filter, member_hash(f, i)));
        for (uint64_t i = 0; i < 40; i++)
            assert_ok(bb_counting_filter_remove(filter, member_hash(f, i)));
        predicted += info_of(filter).predicted_rate;
        for (uint64_t i = 0; i < questions; i++)
            passed += bb_counting_filter_may_contain(filter, absent_hash(f * questions + i));
        bb_counting_filter_destroy(filter);
    }
    predicted /= (double)filters;
    assert_true(predicted < 0.02 * 1.05 && predicted > 0.02 * 0.9);
    assert_rate(passed, filters * questions, predicted, "non-member keys of counting filters");
}

static void counting_filter__bad_arguments_are_refused(void **state)
{
    (void)state;
    struct bb_counting_filter *filter = NULL;
    struct bb_counting_filter_options none = {0}, many = {.key_count = BB_FILTER_KEY_COUNT_MAX + 1},
                                      rate = {.key_count = 1, .target_rate = 0.7};
    assert_status(bb_counting_filter_create(&none, &filter), BB_INVALID);
    assert_status(bb_counting_filter_create(&many, &filter), BB_TOO_LARGE);
    assert_message("the limit is 4294967296");
    assert_status(bb_counting_filter_create(&rate, &filter), BB_INVALID);
    assert_message("target rate is 0.7");
    struct bb_buf bloom = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 10);
    assert_status(bb_counting_filter_decode(bb_buf_bytes(&bloom), &filter), BB_INVALID);
    assert_message("of kind bloom, expected counting");
    bloom.data[20] ^= 1;
    assert_status(bb_counting_filter_decode(bb_buf_bytes(&bloom), &filter), BB_CORRUPT);
    assert_null(filter);
    bb_counting_filter_destroy(NULL);
    bb_buf_deinit(&bloom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_filter__members_stay_through_additions_and_removals),
        cmocka_unit_test(counting_filter__refused_removals_change_nothing),
        cmocka_unit_test(counting_filter__full_counters_stay_and_are_reported),
        cmocka_unit_test(counting_filter__a_decoded_filter_goes_on),
        cmocka_unit_test(counting_filter__full_counters_are_stored),
        cmocka_unit_test(counting_filter__its_bits_are_the_classic_filter),
        cmocka_unit_test(counting_filter__target_is_met_at_the_planned_number_of_keys),
        cmocka_unit_test(counting_filter__bad_arguments_are_refused),
    };
    keys_init("counting_filter");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
