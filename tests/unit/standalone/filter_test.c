/* Goal: standalone filters work as documented in bb/filter.h. Method: every kind, sets of 0 to
 * 100,000 keys, every member probed through a view of bytes that end at an unreadable page;
 * non-member keys compared with the predicted rate. */
#include "tests/unit/standalone/envelope_fixture.h"

static const enum bb_filter_kind kinds[] = {
    BB_FILTER_RIBBON,   BB_FILTER_BLOCKED_BLOOM, BB_FILTER_BLOOM,      BB_FILTER_SPLIT_BLOCK,
    BB_FILTER_COUNTING, BB_FILTER_SCALABLE,      BB_FILTER_PARTITIONED};
#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* --- Kinds --- */

static void filter__kinds_have_names(void **state)
{
    (void)state;
    for (int kind = BB_FILTER_DEFAULT; kind <= BB_FILTER_COUNT_MIN; kind++) {
        enum bb_filter_kind found = (enum bb_filter_kind)99;
        assert_ok(bb_filter_kind_find(bb_filter_kind_name((enum bb_filter_kind)kind),
                                      BB_FILTER_KIND_BIT(kind), &found));
        assert_int_equal(found, kind);
    }
    assert_string_equal(bb_filter_kind_name(BB_FILTER_BLOCKED_BLOOM), "blocked-bloom");
    assert_null(bb_filter_kind_name((enum bb_filter_kind)10));
    assert_null(bb_filter_kind_name((enum bb_filter_kind) - 1));
}

static void filter__unknown_kinds_are_refused(void **state)
{
    (void)state;
    enum bb_filter_kind found = BB_FILTER_NONE;
    struct bb_filter_builder *builder = NULL;
    assert_status(bb_filter_kind_find("cuckoo", BB_FILTER_KINDS_OF_SETS, &found), BB_INVALID);
    assert_message(
        "possible here; possible are none, ribbon, blocked-bloom, bloom, split-block, counting, "
        "scalable, partitioned");
    assert_status(bb_filter_kind_find("counting", BB_FILTER_KINDS_OF_TABLES, &found), BB_INVALID);
    assert_message("possible here; possible are none, ribbon, blocked-bloom, bloom");
    struct bb_filter_options options = {.kind = (enum bb_filter_kind)10};
    assert_status(bb_filter_builder_create(&options, &builder), BB_INVALID);
    assert_int_equal(found, BB_FILTER_NONE);
    assert_null(builder);
}

static void filter__impossible_targets_are_refused(void **state)
{
    (void)state;
    static const double targets[] = {-0.01, 0.500001, 1, 5e-8, (double)NAN};
    struct bb_filter_builder *builder = NULL;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(targets); i++) {
        struct bb_filter_options options = {.target_rate = targets[i]};
        assert_status(bb_filter_builder_create(&options, &builder), BB_INVALID);
        assert_message("target rate");
    }
}

static void filter__impossible_slacks_are_refused(void **state)
{
    (void)state;
    static const double slacks[] = {-0.01, 0.2500001, 1, (double)NAN};
    struct bb_filter_builder *builder = NULL;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(slacks); i++) {
        struct bb_filter_options options = {.slack = slacks[i]};
        assert_status(bb_filter_builder_create(&options, &builder), BB_INVALID);
        assert_message("slack is");
        assert_message("allowed are 0 to 0.25");
    }
}

/* --- Answers --- */

/* The view reads a copy that ends at an unreadable page. */
static void assert_filter(enum bb_filter_kind kind, double target, uint64_t count)
{
    struct bb_buf envelope = envelope_of(kind, target, count, count);
    struct guarded copy = guarded_copy(envelope.data, envelope.size);
    struct bb_bytes bytes = {copy.data, envelope.size};
    struct bb_filter_view view;
    struct bb_filter_info info;
    uint64_t passed = 0, questions = 20000;
    assert_ok(bb_filter_view_init(&view, bytes));
    assert_ok(bb_filter_info(bytes, &info));
    for (uint64_t i = 0; i < count; i++)
        if (!bb_filter_may_contain(&view, member_hash(count, i))) {
            print_error("kind %d, target %g, %llu keys: member %llu is denied\n", (int)kind, target,
                        (unsigned long long)count, (unsigned long long)i);
            fail();
        }
    for (uint64_t i = 0; i < questions; i++)
        passed += bb_filter_may_contain(&view, absent_hash(i));
    assert_rate(passed, questions, info.predicted_rate, "non-member keys of an envelope");
    assert_int_equal(info.key_count, count);
    assert_int_equal(info.size_bytes, envelope.size);
    assert_true(info.target_rate == target && info.salt == salt_of(kind, count));
    assert_true((kind != BB_FILTER_RIBBON && kind != BB_FILTER_SCALABLE) ||
                info.predicted_rate <= target * (1 + 1e-9));
    guarded_free(&copy);
    bb_buf_deinit(&envelope);
}

static void filter__no_member_is_denied(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1,    2,    3,    8,    30,   57,    58,    64,   100,
                                      255,  256,  500,  1000, 1999, 2000,  2001,  2499, 2500,
                                      7499, 7500, 8499, 8500, 9500, 16499, 16500, 30000};
    static const double targets[] = {0.5, 0.05, 0.01, 0.0005, BB_FILTER_RATE_MIN};
    for (size_t k = 0; k < KIND_COUNT; k++)
        for (size_t c = 0; c < BB_ARRAY_LENGTH(counts); c++)
            assert_filter(kinds[k], targets[(k + c) % 5], counts[c]);
    for (uint64_t n = 1; n < 300; n += 3)
        assert_filter(BB_FILTER_RIBBON, 0.01, n);
}

static void filter__many_shards_cost_little(void **state)
{
    (void)state;
    struct bb_filter_info info;
    struct bb_buf envelope = envelope_of(BB_FILTER_RIBBON, 0.01, 1, 100000);
    assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
    assert_true(info.bits_per_key < 6.85);
    assert_true(info.predicted_rate > 0.0099);
    assert_int_equal(info.bits_per_probe, 7);
    assert_true(info.fill > 0.48 && info.fill < 0.51);
    bb_buf_deinit(&envelope);
}

/* More bytes for more slack, the same rate, and all members. */
static void filter__slack_costs_what_it_says(void **state)
{
    (void)state;
    static const double slacks[] = {0, 0.03, 0.06, BB_FILTER_SLACK_MAX};
    static const uint64_t counts[] = {1, 30, 100, 1000, 20000};
    for (size_t c = 0; c < BB_ARRAY_LENGTH(counts); c++)
        for (size_t i = 0; i < BB_ARRAY_LENGTH(slacks); i++) {
            struct bb_filter_options options = {.target_rate = 1.0 / 256, .slack = slacks[i]};
            struct bb_filter_builder *builder = NULL;
            struct bb_buf envelope = {0};
            struct bb_filter_view view;
            struct bb_filter_info info;
            assert_ok(bb_filter_builder_create(&options, &builder));
            for (uint64_t k = 0; k < counts[c]; k++)
                assert_ok(bb_filter_builder_add(builder, member_hash(c, k)));
            assert_ok(bb_filter_builder_finish(builder, &envelope));
            assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
            for (uint64_t k = 0; k < counts[c]; k++)
                assert_true(bb_filter_may_contain(&view, member_hash(c, k)));
            assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
            assert_true(info.predicted_rate == 1.0 / 256);
            double least = (double)counts[c] * (1 + slacks[i]);
            assert_true((double)envelope.size >= least);
            assert_true((double)envelope.size < least * 1.03 + 120);
            bb_filter_builder_destroy(builder);
            bb_buf_deinit(&envelope);
        }
}

static void filter__no_keys_say_absent(void **state)
{
    (void)state;
    for (size_t k = 0; k < KIND_COUNT; k++) {
        struct bb_buf envelope = envelope_of(kinds[k], 0.01, 0, 0);
        struct bb_filter_view view;
        struct bb_filter_info info;
        assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
        assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
        for (uint64_t i = 0; i < 100; i++)
            assert_false(bb_filter_may_contain(&view, absent_hash(i)));
        assert_true(info.key_count == 0 && info.predicted_rate == 0 && info.bits_per_key == 0);
        assert_int_equal(info.kind, kinds[k]);
        bb_buf_deinit(&envelope);
    }
}

static void filter__kind_none_says_maybe(void **state)
{
    (void)state;
    for (uint64_t count = 0; count <= 10; count += 10) {
        struct bb_buf envelope = envelope_of(BB_FILTER_NONE, 0.01, 0, count);
        struct bb_filter_view view;
        struct bb_filter_info info;
        assert_int_equal(envelope.size, 72);
        assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
        assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
        assert_true(bb_filter_may_contain(&view, absent_hash(1)));
        assert_true(info.predicted_rate == 1 && info.target_rate == 1);
        assert_int_equal(info.key_count, count);
        bb_buf_deinit(&envelope);
    }
}

static void filter__zeroed_view_says_maybe(void **state)
{
    (void)state;
    struct bb_filter_view view = {0};
    assert_true(bb_filter_may_contain(&view, 0));
}

/* --- Builders --- */

static void filter__defaults_are_a_ribbon_of_one_percent(void **state)
{
    (void)state;
    struct bb_filter_options defaults = {0};
    struct bb_buf envelope = {0};
    struct bb_filter_info info;
    envelope_append(&envelope, &defaults, 0, 10);
    assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
    assert_int_equal(info.kind, BB_FILTER_RIBBON);
    assert_true(info.target_rate == 0.01);
    bb_buf_deinit(&envelope);
}

static void filter__repetitions_and_order_do_not_matter(void **state)
{
    (void)state;
    for (size_t k = 0; k < KIND_COUNT; k++) {
        struct bb_buf plain = envelope_of(kinds[k], 0.01, 7, 3000);
        struct bb_filter_options options = {
            .kind = kinds[k], .target_rate = 0.01, .salt = salt_of(kinds[k], 7)};
        struct bb_filter_builder *builder = NULL;
        struct bb_buf repeated = {0};
        assert_ok(bb_filter_builder_create(&options, &builder));
        for (uint64_t i = 3000; i-- > 0;)
            assert_ok(bb_filter_builder_add(builder, member_hash(7, i)));
        for (uint64_t i = 0; i < 3000; i += 3)
            assert_ok(bb_filter_builder_add(builder, member_hash(7, i)));
        assert_ok(bb_filter_builder_finish(builder, &repeated));
        assert_int_equal(repeated.size, plain.size);
        assert_memory_equal(repeated.data, plain.data, plain.size);
        bb_filter_builder_destroy(builder);
        bb_buf_deinit(&plain);
        bb_buf_deinit(&repeated);
    }
}

static void filter__finish_appends_and_begins_anew(void **state)
{
    (void)state;
    struct bb_filter_options options = {.target_rate = 0.01};
    struct bb_filter_builder *builder = NULL;
    struct bb_buf buf = {0};
    struct bb_filter_view first, second;
    assert_ok(bb_filter_builder_create(&options, &builder));
    for (uint64_t i = 0; i < 40; i++)
        assert_ok(bb_filter_builder_add(builder, member_hash(1, i)));
    assert_ok(bb_buf_append(&buf, "before", 6));
    assert_ok(bb_filter_builder_finish(builder, &buf));
    size_t end = buf.size;
    for (uint64_t i = 0; i < 40; i++)
        assert_ok(bb_filter_builder_add(builder, member_hash(2, i)));
    assert_ok(bb_filter_builder_finish(builder, &buf));
    assert_memory_equal(buf.data, "before", 6);
    assert_ok(bb_filter_view_init(&first, (struct bb_bytes){buf.data + 6, end - 6}));
    assert_ok(bb_filter_view_init(&second, (struct bb_bytes){buf.data + end, buf.size - end}));
    uint32_t mixed_up = 0;
    for (uint64_t i = 0; i < 40; i++) {
        assert_true(bb_filter_may_contain(&first, member_hash(1, i)));
        assert_true(bb_filter_may_contain(&second, member_hash(2, i)));
        mixed_up += bb_filter_may_contain(&second, member_hash(1, i));
    }
    assert_true(mixed_up < 8);
    bb_filter_builder_destroy(builder);
    bb_buf_deinit(&buf);
}

static void filter__salts_make_filters_independent(void **state)
{
    (void)state;
    struct bb_filter_options options[2] = {{.target_rate = 0.125, .salt = 1},
                                           {.target_rate = 0.125, .salt = 2}};
    uint64_t asked = 0, counts[2] = {0}, both = 0;
    for (uint64_t set = 0; set < 50; set++) {
        struct bb_buf envelopes[2] = {{0}};
        struct bb_filter_view views[2];
        for (int i = 0; i < 2; i++) {
            envelope_append(&envelopes[i], &options[i], set, 100);
            assert_ok(bb_filter_view_init(&views[i], bb_buf_bytes(&envelopes[i])));
        }
        for (uint64_t i = 0; i < 5000; i++, asked++) {
            bool first = bb_filter_may_contain(&views[0], absent_hash(asked));
            bool second = bb_filter_may_contain(&views[1], absent_hash(asked));
            counts[0] += first;
            counts[1] += second;
            both += first && second;
        }
        for (int i = 0; i < 2; i++)
            bb_buf_deinit(&envelopes[i]);
    }
    double product = (double)counts[0] * (double)counts[1] / (double)asked / (double)asked;
    assert_rate(both, asked, product, "keys that pass two filters");
}

/* NULL options are defaults; a counting filter has no default for its number of keys. */
static void filter__null_options(void **state)
{
    (void)state;
    struct bb_filter_builder *builder = NULL;
    struct bb_scalable_filter *scalable = NULL;
    struct bb_count_sketch *sketch = NULL;
    struct bb_counting_filter *counting = NULL;
    assert_ok(bb_filter_builder_create(NULL, &builder));
    assert_ok(bb_scalable_filter_create(NULL, &scalable));
    assert_ok(bb_count_sketch_create(NULL, &sketch));
    assert_status(bb_counting_filter_create(NULL, &counting), BB_INVALID);
    bb_filter_builder_destroy(builder);
    bb_scalable_filter_destroy(scalable);
    bb_count_sketch_destroy(sketch);
    bb_filter_builder_destroy(NULL);
    bb_scalable_filter_destroy(NULL);
    bb_count_sketch_destroy(NULL);
    bb_counting_filter_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter__null_options),
        cmocka_unit_test(filter__kinds_have_names),
        cmocka_unit_test(filter__unknown_kinds_are_refused),
        cmocka_unit_test(filter__impossible_targets_are_refused),
        cmocka_unit_test(filter__impossible_slacks_are_refused),
        cmocka_unit_test(filter__no_member_is_denied),
        cmocka_unit_test(filter__many_shards_cost_little),
        cmocka_unit_test(filter__slack_costs_what_it_says),
        cmocka_unit_test(filter__no_keys_say_absent),
        cmocka_unit_test(filter__kind_none_says_maybe),
        cmocka_unit_test(filter__zeroed_view_says_maybe),
        cmocka_unit_test(filter__defaults_are_a_ribbon_of_one_percent),
        cmocka_unit_test(filter__repetitions_and_order_do_not_matter),
        cmocka_unit_test(filter__finish_appends_and_begins_anew),
        cmocka_unit_test(filter__salts_make_filters_independent),
    };
    keys_init("filter");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
