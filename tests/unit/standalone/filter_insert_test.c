/* Goal: keys inserted into a finished filter are present, with the same bits as in a filter built
 * of all of them. Method: filters sized for all keys, of which some are built in and the others
 * inserted, in every split of small sets and in batches of large ones, compared with a filter that
 * is built in one step; filters that do not accept insertion. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "base/bytes.h"

static const enum bb_filter_kind kinds[] = {BB_FILTER_BLOOM, BB_FILTER_BLOCKED_BLOOM,
                                            BB_FILTER_SPLIT_BLOCK, BB_FILTER_PARTITIONED};

#define PAYLOAD 64

/* Space for capacity keys, the first built ones in it. */
static struct bb_buf spacious(enum bb_filter_kind kind, uint64_t capacity, uint64_t built)
{
    struct bb_filter_question question = {.kind = kind, .key_count = capacity, .target_rate = 0.01};
    struct bb_filter_plan plan;
    assert_ok(bb_filter_plan(&question, &plan));
    struct bb_filter_options options = {.kind = kind,
                                        .target_rate = 0.01,
                                        .salt = salt_of(kind, 3),
                                        .parameters = {plan.parameters[0], plan.parameters[1]}};
    struct bb_buf envelope = {0};
    envelope_append(&envelope, &options, 3, built);
    return envelope;
}

static uint64_t insert(struct bb_buf *envelope, uint64_t start, uint64_t end)
{
    uint64_t hashes[64];
    uint64_t inserted = 0, sum = 0;
    while (start < end) {
        size_t count = 0;
        for (; start < end && count < BB_ARRAY_LENGTH(hashes); start++)
            hashes[count++] = member_hash(3, start);
        assert_ok(bb_filter_insert(envelope, hashes, count, &inserted));
        sum += inserted;
    }
    return sum;
}

static void assert_members(const struct bb_buf *envelope, uint64_t count)
{
    struct bb_filter_view view;
    assert_ok(bb_filter_view_init(&view, bb_buf_bytes(envelope)));
    for (uint64_t i = 0; i < count; i++)
        assert_true(bb_filter_may_contain(&view, member_hash(3, i)));
}

static void assert_same_bits(const struct bb_buf *one, const struct bb_buf *two)
{
    assert_int_equal(one->size, two->size);
    assert_memory_equal(one->data + PAYLOAD, two->data + PAYLOAD, one->size - PAYLOAD - 8);
}

static uint64_t key_count_of(const struct bb_buf *envelope)
{
    struct bb_filter_info info;
    assert_ok(bb_filter_info(bb_buf_bytes(envelope), &info));
    return info.key_count;
}

static void check_split(enum bb_filter_kind kind, uint64_t count, uint64_t built)
{
    struct bb_buf whole = spacious(kind, count, count);
    struct bb_buf grown = spacious(kind, count, built);
    uint64_t inserted = insert(&grown, built, count);
    assert_same_bits(&whole, &grown);
    assert_members(&grown, count);
    assert_true(inserted <= count - built);
    assert_int_equal(key_count_of(&grown), built + inserted);
    bb_buf_deinit(&whole);
    bb_buf_deinit(&grown);
}

static void filter_insert__every_split_of_small_sets_gives_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(kinds); i++)
        for (uint64_t count = 1; count <= 40; count++)
            for (uint64_t built = 1; built <= count; built++)
                check_split(kinds[i], count, built);
}

static void filter_insert__large_sets_keep_their_count_but_for_false_positives(void **state)
{
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(kinds); i++) {
        check_split(kinds[i], 5000, 1);
        struct bb_buf grown = spacious(kinds[i], 5000, 2500);
        uint64_t inserted = insert(&grown, 2500, 5000);
        assert_in_range(inserted, 2400, 2500); /* at most 25 pass at 1 % */
        assert_int_equal(insert(&grown, 0, 5000), 0);
        bb_buf_deinit(&grown);
    }
}

static void filter_insert__beyond_the_space_the_rate_rises_and_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(kinds); i++) {
        struct bb_buf grown = spacious(kinds[i], 1000, 1000);
        insert(&grown, 1000, 3000);
        struct bb_filter_info info;
        struct bb_filter_view view;
        uint64_t passed = 0;
        assert_ok(bb_filter_info(bb_buf_bytes(&grown), &info));
        assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&grown)));
        assert_true(info.predicted_rate > 0.1);
        for (uint64_t j = 0; j < 20000; j++)
            passed += bb_filter_may_contain(&view, absent_hash(j));
        assert_rate(passed, 20000, info.predicted_rate, bb_filter_kind_name(kinds[i]));
        bb_buf_deinit(&grown);
    }
}

static void filter_insert__hashes_that_come_again_count_once(void **state)
{
    (void)state;
    struct bb_buf grown = spacious(BB_FILTER_BLOOM, 100, 10);
    uint64_t hashes[] = {member_hash(3, 50), member_hash(3, 51), member_hash(3, 50)};
    uint64_t inserted = 0;
    assert_ok(bb_filter_insert(&grown, hashes, 3, &inserted));
    assert_int_equal(inserted, 2);
    assert_ok(bb_filter_insert(&grown, NULL, 0, &inserted));
    assert_int_equal(inserted, 0);
    assert_int_equal(key_count_of(&grown), 12);
    bb_buf_deinit(&grown);
}

/* --- Refusals: the bytes are unchanged --- */

static void assert_refused(struct bb_buf *envelope, size_t count, enum bb_status expected,
                           const char *message)
{
    uint64_t hash = member_hash(3, 7777), inserted = 77;
    struct bb_buf before = {0};
    assert_ok(bb_buf_assign(&before, bb_buf_bytes(envelope)));
    assert_status(bb_filter_insert(envelope, &hash, count, &inserted), expected);
    assert_message(message);
    assert_int_equal(inserted, 77);
    assert_true(bb_bytes_equal(bb_buf_bytes(&before), bb_buf_bytes(envelope)));
    bb_buf_deinit(&before);
    bb_buf_deinit(envelope);
}

static void filter_insert__kinds_that_are_made_as_a_whole_refuse(void **state)
{
    (void)state;
    struct bb_buf ribbon = envelope_of(BB_FILTER_RIBBON, 0.01, 1, 30);
    struct bb_buf none = envelope_of(BB_FILTER_NONE, 0, 1, 30);
    assert_refused(&ribbon, 1, BB_UNSUPPORTED, "a ribbon filter is made for its keys as a whole");
    assert_refused(&none, 1, BB_UNSUPPORTED, "a none filter");
}

static void filter_insert__filters_that_grow_name_their_calls(void **state)
{
    (void)state;
    struct bb_buf scalable = envelope_of(BB_FILTER_SCALABLE, 0.01, 1, 30);
    struct bb_buf counting = envelope_of(BB_FILTER_COUNTING, 0.01, 1, 30);
    assert_refused(&scalable, 1, BB_UNSUPPORTED, "bb_scalable_filter_add");
    assert_refused(&counting, 1, BB_UNSUPPORTED, "bb_counting_filter_add");
}

static void filter_insert__no_space_no_insertion(void **state)
{
    (void)state;
    struct bb_buf empty = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 0);
    assert_refused(&empty, 1, BB_INVALID, "no keys has no space");
}

static void filter_insert__too_many_keys_are_refused(void **state)
{
    (void)state;
    struct bb_buf bloom = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 30);
    assert_refused(&bloom, (size_t)BB_FILTER_KEY_COUNT_MAX - 29, BB_TOO_LARGE, "the limit is");
}

static void filter_insert__damaged_filters_are_refused(void **state)
{
    (void)state;
    struct bb_buf bloom = envelope_of(BB_FILTER_BLOOM, 0.01, 1, 30);
    bloom.data[PAYLOAD] ^= 1;
    assert_refused(&bloom, 1, BB_CORRUPT, "checksum");
    struct bb_buf short_one = {0};
    assert_refused(&short_one, 1, BB_CORRUPT, "ends after 0 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_insert__every_split_of_small_sets_gives_the_same_bits),
        cmocka_unit_test(filter_insert__large_sets_keep_their_count_but_for_false_positives),
        cmocka_unit_test(filter_insert__beyond_the_space_the_rate_rises_and_is_told),
        cmocka_unit_test(filter_insert__hashes_that_come_again_count_once),
        cmocka_unit_test(filter_insert__kinds_that_are_made_as_a_whole_refuse),
        cmocka_unit_test(filter_insert__filters_that_grow_name_their_calls),
        cmocka_unit_test(filter_insert__no_space_no_insertion),
        cmocka_unit_test(filter_insert__too_many_keys_are_refused),
        cmocka_unit_test(filter_insert__damaged_filters_are_refused),
    };
    keys_init("filter_insert");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
