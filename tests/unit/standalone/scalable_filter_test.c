/* Goal: a scalable filter keeps its target for any number of keys, rules out no member, and grows
 * further after being stored. Method: keys added far beyond the first stage; at intervals the
 * predicted rate compared with the target, and non-member keys with the predicted rate; envelopes
 * decoded in the middle; the memory compared with the header's figure. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "standalone/bloom/scalable_bloom.h"

static struct bb_scalable_filter *filter_of(uint64_t first, double target_rate, double ratio)
{
    struct bb_scalable_filter_options options = {
        .first_key_count = first, .target_rate = target_rate, .ratio = ratio, .salt = 9};
    struct bb_scalable_filter *filter = NULL;
    assert_ok(bb_scalable_filter_create(&options, &filter));
    return filter;
}

/* Adds members begin ... end - 1; gives the number that were new. */
static uint64_t add_members(struct bb_scalable_filter *filter, uint64_t begin, uint64_t end)
{
    uint64_t count = 0;
    for (uint64_t i = begin; i < end; i++) {
        bool added = false;
        assert_ok(bb_scalable_filter_add(filter, member_hash(1, i), &added));
        count += added;
    }
    return count;
}

static struct bb_filter_info info_of(const struct bb_scalable_filter *filter)
{
    struct bb_buf envelope = {0};
    struct bb_filter_info info;
    assert_ok(bb_scalable_filter_encode(filter, &envelope));
    assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
    bb_buf_deinit(&envelope);
    return info;
}

/* --- Growing --- */

static void assert_keeps_target(uint64_t first, double target_rate, double ratio, uint64_t last)
{
    struct bb_scalable_filter *filter = filter_of(first, target_rate, ratio);
    uint64_t added = 0, done = 0;
    for (uint64_t n = 1; n <= last; n += 1 + n / 2) {
        added += add_members(filter, done, n);
        done = n;
        struct bb_filter_info info = info_of(filter);
        assert_true(info.predicted_rate <= target_rate);
        assert_true(info.key_count == added && bb_scalable_filter_key_count(filter) == added);
        for (uint64_t i = 0; i < n; i++)
            assert_true(bb_scalable_filter_may_contain(filter, member_hash(1, i)));
    }
    struct bb_filter_info info = info_of(filter);
    uint64_t passed = 0, questions = 200000;
    for (uint64_t i = 0; i < questions; i++)
        passed += bb_scalable_filter_may_contain(filter, absent_hash(i));
    assert_rate(passed, questions, info.predicted_rate, "non-member keys of a scalable filter");
    assert_true(info.stage_count >= 3 && info.stage_count < 20);
    /* Keys that came late may have passed as foreign ones. */
    assert_true((double)(done - added) <= (double)done * target_rate + 6 * sqrt((double)done));
    bb_scalable_filter_destroy(filter);
}

static void scalable_filter__target_is_kept_for_any_number_of_keys(void **state)
{
    (void)state;
    assert_keeps_target(16, 0.01, 0.5, 20000);
    assert_keeps_target(16, 0.5, 0.5, 5000);
    assert_keeps_target(100, 0.1, 0.85, 20000);
    assert_keeps_target(64, 0.001, 0.1, 5000);
    assert_keeps_target(200, 0.02, 0.95, 5000);
    assert_keeps_target(16, BB_FILTER_RATE_MIN, 0.3, 3000);
}

/* The planned keys fit one stage, except one time in a thousand. */
static void scalable_filter__planned_keys_need_one_stage(void **state)
{
    (void)state;
    uint32_t more = 0;
    for (uint64_t set = 0; set < 300; set++) {
        uint64_t n = 16 + set;
        struct bb_scalable_bloom bloom;
        assert_ok(bb_scalable_bloom_init(&bloom, 0.01, 0.5, n));
        for (uint64_t i = 0; i < n; i++)
            assert_ok(bb_scalable_bloom_add(&bloom, member_hash(set, i)));
        more += bloom.stage_count > 1;
        bb_scalable_bloom_deinit(&bloom);
    }
    assert_true(more <= 6);
}

static void scalable_filter__every_stage_has_space_for_a_key(void **state)
{
    (void)state;
    static const double ratios[] = {0.1, 0.5, 0.95};
    for (int i = 0; i <= 92; i++)
        for (size_t r = 0; r < BB_ARRAY_LENGTH(ratios); r++) {
            struct bb_scalable_bloom bloom;
            assert_ok(bb_scalable_bloom_init(&bloom, exp2(-1 - i / 4.0), ratios[r], 16));
            for (uint64_t n = 0; n < 100; n++)
                assert_ok(bb_scalable_bloom_add(&bloom, member_hash(1, n)));
            for (uint32_t s = 0; s < bloom.stage_count; s++) {
                const struct bb_scalable_stage *stage = &bloom.stages[s];
                assert_true(stage->set_count <= stage->set_limit);
                assert_true(stage->probes >= 1 && stage->set_limit >= stage->probes);
                assert_true(s + 1 == bloom.stage_count || stage->key_count >= (10U << s));
            }
            bb_scalable_bloom_deinit(&bloom);
        }
}

/* 1.44 (log2(1 / rate) + 1 + stage) bits per key at the ratio 1/2, and the space of the last. */
static void scalable_filter__memory_is_as_stated(void **state)
{
    (void)state;
    struct bb_scalable_filter *filter = filter_of(1000, 0.01, 0.5);
    double bits = 0;
    add_members(filter, 0, 30900);
    struct bb_filter_info info = info_of(filter);
    for (uint32_t s = 0; s < info.stage_count; s++)
        bits += 1.4427 * (6.644 + 1 + s) * 1000 * (1 << s);
    assert_int_equal(info.stage_count, 5);
    assert_true(fabs((double)info.size_bytes * 8 / bits - 1) < 0.04);
    bb_scalable_filter_destroy(filter);
}

static void scalable_filter__equal_hashes_cost_nothing(void **state)
{
    (void)state;
    struct bb_scalable_filter *filter = filter_of(16, 0.01, 0);
    uint64_t count = add_members(filter, 0, 100);
    struct bb_filter_info before = info_of(filter);
    assert_int_equal(add_members(filter, 0, 100), 0);
    struct bb_filter_info after = info_of(filter);
    assert_true(count > 90 && after.key_count == count && after.fill == before.fill);
    bb_scalable_filter_destroy(filter);
}

/* --- Storing --- */

static void scalable_filter__a_decoded_filter_grows_on(void **state)
{
    (void)state;
    struct bb_scalable_filter *whole = filter_of(32, 0.02, 0.7), *filter = filter_of(32, 0.02, 0.7);
    for (uint64_t n = 0; n <= 3000; n += 250) {
        struct bb_buf stored = {0}, expected = {0};
        struct bb_scalable_filter *copy = NULL;
        struct bb_filter_view view;
        add_members(whole, n, n + 250);
        add_members(filter, n, n + 250);
        assert_ok(bb_scalable_filter_encode(filter, &stored));
        assert_ok(bb_scalable_filter_encode(whole, &expected));
        assert_int_equal(stored.size, expected.size);
        assert_memory_equal(stored.data, expected.data, stored.size);
        assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&stored)));
        for (uint64_t i = 0; i < n + 250; i++)
            assert_true(bb_filter_may_contain(&view, member_hash(1, i)));
        for (uint64_t i = 0; i < 1000; i++)
            assert_true(bb_filter_may_contain(&view, absent_hash(i)) ==
                        bb_scalable_filter_may_contain(filter, absent_hash(i)));
        assert_ok(bb_scalable_filter_decode(bb_buf_bytes(&stored), &copy));
        bb_scalable_filter_destroy(filter);
        filter = copy;
        bb_buf_deinit(&stored);
        bb_buf_deinit(&expected);
    }
    bb_scalable_filter_destroy(filter);
    bb_scalable_filter_destroy(whole);
}

static void scalable_filter__an_empty_filter_can_be_stored(void **state)
{
    (void)state;
    struct bb_scalable_filter *filter = filter_of(0, 0, 0), *copy = NULL;
    struct bb_buf envelope = {0};
    struct bb_filter_info info;
    struct bb_filter_view view;
    assert_ok(bb_scalable_filter_encode(filter, &envelope));
    assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
    assert_true(info.key_count == 0 && info.predicted_rate == 0 && info.target_rate == 0.01);
    assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
    assert_false(bb_filter_may_contain(&view, 1));
    assert_ok(bb_scalable_filter_decode(bb_buf_bytes(&envelope), &copy));
    assert_int_equal(add_members(copy, 0, 10), 10);
    assert_true(bb_scalable_filter_may_contain(copy, member_hash(1, 0)));
    bb_scalable_filter_destroy(filter);
    bb_scalable_filter_destroy(copy);
    bb_buf_deinit(&envelope);
}

static void scalable_filter__bad_arguments_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct bb_scalable_filter_options options;
        enum bb_status expected;
        const char *message;
    } cases[] = {
        {{.first_key_count = 15}, BB_INVALID, "15 keys, at least 16"},
        {{.first_key_count = BB_FILTER_KEY_COUNT_MAX + 1}, BB_TOO_LARGE, "the limit is 4294967296"},
        {{.target_rate = 0.51}, BB_INVALID, "target rate is 0.51"},
        {{.target_rate = 1e-9}, BB_INVALID, "target rate is 1e-09"},
        {{.ratio = 0.96}, BB_INVALID, "ratio is 0.96, allowed are 0.1 to 0.95"},
        {{.ratio = -0.5}, BB_INVALID, "ratio is -0.5"},
    };
    struct bb_scalable_filter *filter = NULL;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(cases); i++) {
        assert_status(bb_scalable_filter_create(&cases[i].options, &filter), cases[i].expected);
        assert_message(cases[i].message);
    }
    struct bb_buf bloom = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 10);
    assert_status(bb_scalable_filter_decode(bb_buf_bytes(&bloom), &filter), BB_INVALID);
    assert_message("of kind bloom, expected scalable");
    assert_status(bb_scalable_filter_decode((struct bb_bytes){bloom.data, 50}, &filter),
                  BB_CORRUPT);
    assert_null(filter);
    bb_scalable_filter_destroy(NULL);
    bb_buf_deinit(&bloom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalable_filter__target_is_kept_for_any_number_of_keys),
        cmocka_unit_test(scalable_filter__planned_keys_need_one_stage),
        cmocka_unit_test(scalable_filter__every_stage_has_space_for_a_key),
        cmocka_unit_test(scalable_filter__memory_is_as_stated),
        cmocka_unit_test(scalable_filter__equal_hashes_cost_nothing),
        cmocka_unit_test(scalable_filter__a_decoded_filter_grows_on),
        cmocka_unit_test(scalable_filter__an_empty_filter_can_be_stored),
        cmocka_unit_test(scalable_filter__bad_arguments_are_refused),
    };
    keys_init("scalable_filter");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
