/* An inverted segment: it never rules out a member, keeps its rate, has no long tail, and survives
 * any bytes. */
#include "skip/segment/segment.h"

#include "tests/unit/skip/segment_fixture.h"

#define PAIRS_MAX (1 << 18)

static uint64_t pairs[PAIRS_MAX];
static uint64_t spare[PAIRS_MAX];

/* Members of Zipf-like spread: member m is in every granule with probability common / m. */
static size_t draw_pairs(struct bb_rng *rng, uint32_t granule_count, uint32_t members,
                         double common)
{
    size_t count = 0;
    for (uint32_t granule = 0; granule < granule_count; granule++)
        for (uint32_t m = 1; m <= members && count < PAIRS_MAX; m++)
            if ((double)(bb_rng_next(rng) >> 11) * 0x1p-53 < common / m)
                pairs[count++] = bb_member_pair(bb_hash_mix(m), granule);
    bb_member_pairs_sort(pairs, spare, count, 1);
    return count;
}

/* Pairs as collected by a segment: granules ascend, each member once in a granule. Few members:
 * many pairs of one; hash_bits: only the low bits differ, so that all are in one part. */
static size_t draw_words(struct bb_rng *rng, uint64_t members, uint32_t hash_bits)
{
    size_t count = 0;
    for (uint32_t granule = 0; granule < BB_SEGMENT_GRANULES_MAX; granule++) {
        for (uint64_t i = bb_rng_below(rng, 60); i > 0 && count < PAIRS_MAX; i--) {
            uint64_t hash = bb_hash_mix(bb_rng_below(rng, members)) >>
                            (64 - hash_bits) << (64 - BB_MEMBER_HASH_BITS);
            pairs[count++] = bb_member_pair(hash, granule);
        }
    }
    return count;
}

static int compare_words(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static uint64_t permuted(uint64_t pair, uint64_t factor)
{
    uint64_t hash = bb_member_permute(bb_member_pair_hash(pair), factor);
    return bb_member_pair(hash << (64 - BB_MEMBER_HASH_BITS), bb_member_pair_granule(pair));
}

static void pairs__are_sorted_whatever_they_are(void **state)
{
    (void)state;
    struct bb_rng rng;
    static uint64_t expected[PAIRS_MAX];
    bb_rng_init(&rng, bb_rng_seed("segment_test", 6));
    for (uint32_t turn = 0; turn < 60; turn++) {
        uint32_t hash_bits = turn % 3 == 0 ? 8 + turn % 20 : BB_MEMBER_HASH_BITS;
        size_t count = draw_words(&rng, 1 + bb_rng_skewed(&rng, 100000), hash_bits);
        count = turn < 20 ? turn * 5 : count;
        count = hash_bits < BB_MEMBER_HASH_BITS && count > 3000 ? 3000 : count;
        uint64_t factor = turn % 2 == 0 ? 1 : bb_member_pairs_factor(pairs, count);
        for (size_t i = 0; i < count; i++)
            expected[i] = permuted(pairs[i], factor);
        qsort(expected, count, sizeof(expected[0]), compare_words);
        bb_member_pairs_sort(pairs, spare, count, factor);
        assert_memory_equal(pairs, expected, count * sizeof(pairs[0]));
    }
}

static void check_members(const struct bb_segment_builder *builder, size_t count)
{
    struct bb_granule_bits bits = {{0}};
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = bb_member_pair_hash(pairs[i]) << (64 - BB_MEMBER_HASH_BITS);
        if (hash != last) {
            bits = (struct bb_granule_bits){{0}};
            assert_true(ask(builder, hash, &bits));
        }
        last = hash;
        assert_true(bb_granule_bits_has(&bits, bb_member_pair_granule(pairs[i])));
    }
}

static void segments__never_deny_a_member(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct bb_segment_builder builder = {0};
    bb_rng_init(&rng, bb_rng_seed("segment_test", 4));
    for (uint32_t turn = 0; turn < 120; turn++) {
        uint32_t granule_count = 1 + (uint32_t)bb_rng_skewed(&rng, BB_SEGMENT_GRANULES_MAX - 1);
        uint32_t members = (uint32_t)bb_rng_skewed(&rng, 3000);
        double rate = 1.0 / (double)(2 + bb_rng_skewed(&rng, 1000000));
        size_t count = draw_pairs(&rng, granule_count, members, (double)bb_rng_below(&rng, 200));
        assert_ok(bb_segment_builder_build(&builder, pairs, count, granule_count, rate));
        assert_int_equal(bb_segment_size(&builder.segment), builder.data.size);
        /* The number of addresses is rounded up, and the rate computed from it by a division. */
        assert_true(bb_segment_rate(&builder.segment) <= rate * (1 + 1e-12));
        check_members(&builder, count);
    }
    bb_segment_builder_deinit(&builder);
}

#define WORDS       100 /* each in WORD_HITS of the granules, so that an address has one of them */
#define WORD_HITS   20
#define WORD_ABSENT 20000

/* The words in granules from first on, permuted as an index does it. */
static void build_words(struct bb_segment_builder *builder, uint32_t first)
{
    size_t count = 0;
    for (uint32_t granule = first; granule < first + WORD_HITS; granule++)
        for (uint32_t word = 0; word < WORDS; word++)
            pairs[count++] = bb_member_pair(bb_hash_mix(word + 1), granule);
    uint64_t factor = bb_member_pairs_factor(pairs, count);
    bb_member_pairs_sort(pairs, spare, count, factor);
    assert_ok(bb_segment_builder_build(builder, pairs, count, 1000, 0.001));
    builder->segment.factor = factor;
    check_members(builder, count);
}

static bool has_any(const struct bb_segment_builder *builder, uint64_t hash)
{
    struct bb_granule_bits bits = {{0}};
    uint16_t list[BB_SEGMENT_GRANULES_MAX];
    assert_true(ask(builder, bb_segment_hash(&builder->segment, hash), &bits));
    return bb_granule_bits_list(&bits, list) > 0;
}

/* An absent word that has the address of a present one in the first segment does not have it in the
 * second. Each segment returns granules for a twentieth of the absent words: both for 50 of 20,000,
 * where it would be 1,000 without the permutation. */
static void false_granules__do_not_repeat_in_other_segments(void **state)
{
    (void)state;
    struct bb_segment_builder *builders = calloc(2, sizeof(*builders));
    assert_non_null(builders);
    size_t wrong[3] = {0};
    for (uint32_t i = 0; i < 2; i++)
        build_words(&builders[i], i * 500);
    for (uint64_t word = 0; word < WORD_ABSENT; word++) {
        uint64_t hash = bb_hash_mix(WORDS + 1 + word);
        bool is_in_first = has_any(&builders[0], hash);
        bool is_in_second = has_any(&builders[1], hash);
        wrong[0] += is_in_first;
        wrong[1] += is_in_second;
        wrong[2] += is_in_first && is_in_second;
    }
    printf("absent words found: %zu, %zu, in both %zu\n", wrong[0], wrong[1], wrong[2]);
    assert_in_range(wrong[0], WORD_ABSENT / 30, WORD_ABSENT / 15);
    assert_in_range(wrong[1], WORD_ABSENT / 30, WORD_ABSENT / 15);
    assert_in_range(wrong[2], 1, WORD_ABSENT / 150);
    for (uint32_t i = 0; i < 2; i++)
        bb_segment_builder_deinit(&builders[i]);
    free(builders);
}

static void one_granule__with_70000_members(void **state)
{
    (void)state;
    struct bb_segment_builder builder = {0};
    size_t count = 70000;
    for (size_t i = 0; i < count; i++)
        pairs[i] = bb_member_pair(bb_hash_mix(i), 0);
    bb_member_pairs_sort(pairs, spare, count, 1);
    assert_ok(bb_segment_builder_build(&builder, pairs, count, 1, 0.001));
    check_members(&builder, count);
    /* log2(1000) + 1.44 bits, and directories. */
    assert_true(builder.data.size * 8 < count * 13);
    bb_segment_builder_deinit(&builder);
}

static void heads__are_read_as_they_were_written(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct bb_segment_builder builder = {0};
    bb_rng_init(&rng, bb_rng_seed("segment_test", 5));
    size_t count = draw_pairs(&rng, 700, 2000, 100);
    assert_ok(bb_segment_builder_build(&builder, pairs, count, 700, 0.001));
    struct bb_buf buf = {0};
    assert_ok(bb_segment_append(&builder.segment, &buf));
    assert_ok(bb_buf_append(&buf, builder.ends.data, builder.ends.size));
    struct bb_segment segment;
    for (size_t size = 0; size < buf.size; size++) {
        struct bb_cursor cut = bb_cursor_of((struct bb_bytes){buf.data, size});
        assert_false(bb_segment_decode(&cut, 700, false, &segment));
    }
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&buf));
    assert_true(bb_segment_decode(&cursor, 700, false, &segment));
    assert_int_equal(bb_cursor_left(&cursor), 0);
    segment.ends = builder.segment.ends;
    assert_memory_equal(&segment, &builder.segment, sizeof(segment));
    bb_buf_deinit(&buf);
    bb_segment_builder_deinit(&builder);
}

/* Questions of which more than 6 % of the granules are false; adds all false granules to a sum. */
static uint32_t count_tail(const struct bb_segment_builder *builder, struct bb_rng *rng,
                           uint32_t granule_count, uint32_t questions, uint64_t *sum)
{
    uint32_t beyond = 0;
    for (uint32_t question = 0; question < questions; question++) {
        struct bb_granule_bits bits = {{0}};
        uint32_t granules = 0;
        assert_true(ask(builder, bb_hash_mix(bb_rng_next(rng)), &bits));
        for (uint32_t word = 0; word < BB_SEGMENT_WORDS; word++)
            granules += (uint32_t)__builtin_popcountll(bits.words[word]);
        *sum += granules;
        beyond += granules * UINT64_C(100) > granule_count * UINT64_C(6);
    }
    return beyond;
}

/* One unlucky hash must not be wrong everywhere: mean rates do not show that. Two frequent members
 * at one address were, with a limit of a 32nd of the granules. */
static void false_granules__have_no_long_tail(void **state)
{
    (void)state;
    enum { QUESTIONS = 20000 };
    struct bb_rng rng;
    struct bb_segment_builder builder = {0};
    static const uint32_t granule_counts[] = {96, 128, 512, 1024};
    static const double rates[] = {0.01, 0.001, 0.0001};
    bb_rng_init(&rng, bb_rng_seed("segment_test", 6));
    for (size_t i = 0; i < 24; i++) { /* the last twelve without ribbons */
        uint32_t granule_count = granule_counts[i / 3 % 4];
        double rate = rates[i % 3];
        uint64_t sum = 0;
        size_t count = draw_pairs(&rng, granule_count, 20000, 30);
        builder.is_inverted = i >= 12;
        assert_ok(bb_segment_builder_build(&builder, pairs, count, granule_count, rate));
        uint32_t beyond = count_tail(&builder, &rng, granule_count, QUESTIONS, &sum);
        print_message("%u granules, rate %g: %u of %u questions beyond 6 %%, mean %g\n",
                      granule_count, rate, beyond, QUESTIONS,
                      (double)sum / QUESTIONS / granule_count);
        assert_true(beyond <= QUESTIONS / 1000);
        /* Four standard deviations of the mean above the prediction, for any seed. */
        double mean = (double)sum / QUESTIONS / granule_count;
        assert_true(mean <= bb_segment_rate(&builder.segment) * 1.2 + 0.00002);
        assert_true(bb_segment_rate(&builder.segment) <= rate);
    }
    bb_segment_builder_deinit(&builder);
}

static void rates__of_few_granules_are_lower(void **state)
{
    (void)state;
    static const double targets[] = {0.5, 0.1, 0.011, 0.01, 0.009, 0.004, 0.001, 1e-7};
    for (uint32_t granules = 1; granules <= BB_SEGMENT_GRANULES_MAX; granules++) {
        double larger = 1;
        for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
            double rate = bb_segment_plan_rate(granules, targets[i]);
            assert_true(rate > 0 && rate <= targets[i] && rate <= larger);
            assert_true(rate <= bb_segment_plan_rate(granules + 1, targets[i]));
            assert_true(granules < 192 || rate == targets[i]);
            larger = rate;
        }
    }
    assert_true(bb_segment_plan_rate(128, 0.01) < 0.007);
    assert_true(bb_segment_plan_rate(64, 0.001) == 0.001);
}

static void any_chunk__is_answered(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct bb_segment_builder builder = {0};
    bb_rng_init(&rng, bb_rng_seed("segment_test", 7));
    size_t count = draw_pairs(&rng, 300, 1000, 100);
    assert_ok(bb_segment_builder_build(&builder, pairs, count, 300, 0.001));
    for (uint32_t turn = 0; turn < 20000; turn++) {
        uint64_t offset = 0;
        uint32_t size = 0;
        uint64_t hash = bb_rng_next(&rng);
        bb_segment_chunk(&builder.segment, hash, &offset, &size);
        uint8_t *chunk = malloc(size);
        memcpy(chunk, builder.data.data + offset, size);
        for (uint64_t changes = 1 + bb_rng_below(&rng, 8); changes > 0; changes--)
            chunk[bb_rng_below(&rng, size)] = (uint8_t)bb_rng_next(&rng);
        struct bb_granule_bits bits = {{0}};
        uint32_t given = bb_rng_one_in(&rng, 4) ? (uint32_t)bb_rng_below(&rng, size) : size;
        (void)!bb_segment_ask(&builder.segment, (struct bb_bytes){chunk, given}, hash, &bits);
        for (uint32_t granule = 300; granule < BB_SEGMENT_GRANULES_MAX; granule++)
            assert_false(bb_granule_bits_has(&bits, granule));
        free(chunk);
    }
    bb_segment_builder_deinit(&builder);
}

/* A chunk of one bucket, with 2 addresses and 10 granules. */
static void hostile_bucket__is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *wrong;
        uint8_t bucket[8];
        size_t size;
        bool is_sound;
    } rows[] = {
        {"no frequent members and no pairs", {0x03}, 1, true}, /* gamma(1), Rice(0, 0) */
        {"no bits", {0}, 0, false},
        {"a number of frequent members of more than 41 bits",
         {0, 0, 0, 0, 0, 0, 0xff, 0xff},
         8,
         false},
        {"more pairs than addresses and granules", {0x01, 0, 0x80}, 3, false}, /* Rice(22, 0) */
        {"frequent members that are cut off", {0x08}, 1, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t chunk[2 + 8 + BB_SEGMENT_CHUNK_CHECKSUM_SIZE] = {0};
        uint8_t ends[4];
        size_t size = 2 + rows[i].size + BB_SEGMENT_CHUNK_CHECKSUM_SIZE;
        struct bb_granule_bits bits = {{0}};
        struct bb_segment segment = {
            .granule_count = 10, .address_count = 2, .number_shift = 2, .ends = ends};
        bb_store32(ends, (uint32_t)size);
        bb_store16(chunk, (uint16_t)rows[i].size);
        memcpy(chunk + 2, rows[i].bucket, rows[i].size);
        bool is_sound = bb_segment_ask(&segment, (struct bb_bytes){chunk, size}, 0, &bits);
        if (is_sound != rows[i].is_sound)
            fail_msg("%s: %d", rows[i].wrong, is_sound);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs__are_sorted_whatever_they_are),
        cmocka_unit_test(segments__never_deny_a_member),
        cmocka_unit_test(false_granules__do_not_repeat_in_other_segments),
        cmocka_unit_test(one_granule__with_70000_members),
        cmocka_unit_test(heads__are_read_as_they_were_written),
        cmocka_unit_test(false_granules__have_no_long_tail),
        cmocka_unit_test(rates__of_few_granules_are_lower),
        cmocka_unit_test(any_chunk__is_answered),
        cmocka_unit_test(hostile_bucket__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
