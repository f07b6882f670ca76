/* Segments with ribbons: no member is denied, rates and sizes are within their limits, and damaged
 * chunks are answered or refused. */
#include "skip/segment/segment_ribbon.h"

#include <math.h>

#include "bloomblock/ribbon/ribbon_values.h"
#include "tests/support/step.h"
#include "tests/unit/skip/segment_fixture.h"

#define PAIRS_MAX (1 << 19)

static uint64_t pairs[PAIRS_MAX];
static uint64_t spare[PAIRS_MAX];

static uint32_t count_granules(const struct bb_granule_bits *bits)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word < BB_SEGMENT_WORDS; word++)
        count += (uint32_t)__builtin_popcountll(bits->words[word]);
    return count;
}

/* Members of each granule; of them one in `shared` is in `spread` granules, `step` apart. */
struct shape {
    uint32_t granules;
    uint32_t members;
    uint32_t shared;
    uint32_t spread;
    uint32_t step;
};

/* Granules ascend, as the sort of pairs wants them. */
static size_t draw_pairs(struct shape shape, uint64_t seed)
{
    size_t count = 0;
    for (uint32_t granule = 0; granule < shape.granules; granule++) {
        for (uint32_t k = 0; k == 0 || (shape.shared > 0 && k < shape.spread); k++) {
            if (granule < k * shape.step)
                break;
            uint64_t first = granule - k * shape.step;
            uint32_t step = k == 0 ? 1 : shape.shared;
            for (uint32_t i = 0; i < shape.members && count < PAIRS_MAX; i += step)
                pairs[count++] = bb_member_pair(bb_hash_mix(seed << 40 | first << 20 | i), granule);
        }
    }
    bb_member_pairs_sort(pairs, spare, count, 1);
    return count;
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

/* The mean share of granules that may hold one of 4,000 absent members. */
static double measure_rate(const struct bb_segment_builder *builder, struct bb_rng *rng)
{
    enum { QUESTIONS = 4000 };
    uint64_t sum = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        struct bb_granule_bits bits = {{0}};
        assert_true(ask(builder, bb_rng_next(rng), &bits));
        sum += count_granules(&bits);
    }
    return (double)sum / QUESTIONS / builder->segment.granule_count;
}

static const struct shape shapes[] = {
    {1024, 100, 0, 0, 0},  {1023, 300, 0, 0, 0},  {700, 120, 3, 2, 1}, {183, 400, 4, 4, 1},
    {512, 100, 2, 3, 128}, {1000, 60, 5, 12, 16}, {90, 50, 3, 2, 64},  {65, 9, 0, 0, 0},
    {3, 500, 0, 0, 0},     {1, 700, 0, 0, 0},     {2, 40, 2, 2, 1},    {40, 1, 0, 0, 0},
};

static void members__are_never_denied(void **state)
{
    (void)state;
    static const double rates[] = {0.3, 0.01, 0.001, 0.0001, 0.0000001};
    struct bb_segment_builder builder = {0};
    uint32_t with_ribbons = 0;
    size_t step = bb_test_step();
    size_t rate_count = sizeof(rates) / sizeof(rates[0]);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        size_t count = draw_pairs(shapes[i], i);
        for (size_t r = i % step; r < rate_count; r += step) {
            assert_ok(
                bb_segment_builder_build(&builder, pairs, count, shapes[i].granules, rates[r]));
            assert_int_equal(bb_segment_size(&builder.segment), builder.data.size);
            assert_true(bb_segment_rate(&builder.segment) <= rates[r] * (1 + 1e-9));
            with_ribbons += bb_segment_has_ribbons(&builder.segment);
            check_members(&builder, count);
        }
    }
    assert_true(with_ribbons * step > 20);
    bb_segment_builder_deinit(&builder);
}

/* Measured rates are below the target plus four deviations of the mean. */
static void rates__are_met_by_4000_absent_members(void **state)
{
    (void)state;
    static const double rates[] = {0.01, 0.001, 0.0001};
    struct bb_segment_builder builder = {0};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("segment_ribbon_test", 1));
    for (size_t i = 0; i < 6; i++) {
        size_t count = draw_pairs(shapes[i], 100 + i);
        for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
            assert_ok(
                bb_segment_builder_build(&builder, pairs, count, shapes[i].granules, rates[r]));
            double rate = measure_rate(&builder, &rng);
            double deviation = sqrt(4.0 * rates[r] / 4000 / shapes[i].granules);
            print_message(
                "%4u granules, %2u fingerprint bits, %3u stripes: rate %.6f, predicted %.6f\n",
                shapes[i].granules, builder.segment.ribbon_fingerprint_bits,
                1u << builder.segment.stripe_bits, rate, bb_segment_rate(&builder.segment));
            assert_true(rate <= rates[r] + 4 * deviation);
            assert_true(rate >= bb_segment_rate(&builder.segment) * 0.8 - 4 * deviation);
        }
    }
    bb_segment_builder_deinit(&builder);
}

/* A short segment has few ribbons, and their bits are whole. */
static void short_segments__use_the_whole_rate(void **state)
{
    (void)state;
    static const struct shape short_shape = {90, 50, 3, 2, 64};
    struct bb_segment_builder builder = {0};
    size_t count = draw_pairs(short_shape, 400);
    assert_ok(bb_segment_builder_build(&builder, pairs, count, short_shape.granules, 0.01));
    double rate = bb_segment_rate(&builder.segment);
    print_message("%u ribbons, rate %.5f, of which addresses have %.5f\n",
                  bb_segment_chunk_count(&builder.segment), rate,
                  rate - bb_segment_ribbon_rate(&builder.segment));
    assert_true(bb_segment_has_ribbons(&builder.segment));
    assert_true(builder.segment.rare_pair_count > 0);
    double planned = bb_segment_plan_rate(short_shape.granules, 0.01);
    assert_true(rate > 0.95 * planned && rate <= planned);
    bb_segment_builder_deinit(&builder);
}

static double bits_of_bloom(double rate)
{
    return log(1 / rate) / (log(2) * log(2));
}

/* Members of one granule, as identifiers are. */
static void near_unique_members__take_three_quarters_of_a_bloom_filter(void **state)
{
    (void)state;
    static const double rates[] = {0.01, 0.001, 0.0001};
    struct bb_segment_builder builder = {0};
    for (size_t i = 0; i < 2; i++) {
        size_t count = draw_pairs(shapes[i], 200 + i);
        for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
            assert_ok(
                bb_segment_builder_build(&builder, pairs, count, shapes[i].granules, rates[r]));
            double bits = 8.0 * (double)(builder.data.size + builder.ends.size) / (double)count;
            print_message("%u granules of %u members, rate %g: %.2f bits, %.3f of Bloom's\n",
                          shapes[i].granules, shapes[i].members, rates[r], bits,
                          bits / bits_of_bloom(rates[r]));
            assert_true(bb_segment_has_ribbons(&builder.segment));
            assert_int_equal(builder.segment.stripe_bits, 0); /* one probe answers */
            assert_true(bits <= 0.75 * bits_of_bloom(rates[r]));
        }
    }
    bb_segment_builder_deinit(&builder);
}

/* Members of most granules are better kept as postings. */
static void frequent_members__get_no_ribbons(void **state)
{
    (void)state;
    struct bb_segment_builder builder = {0};
    size_t count = 0;
    for (uint32_t member = 0; member < 500; member++)
        for (uint32_t granule = 0; granule < 600; granule += 1 + member % 3)
            pairs[count++] = bb_member_pair(bb_hash_mix(member), granule);
    bb_member_pairs_sort(pairs, spare, count, 1);
    assert_ok(bb_segment_builder_build(&builder, pairs, count, 600, 0.01));
    assert_false(bb_segment_has_ribbons(&builder.segment));
    bb_segment_builder_deinit(&builder);
}

static void segments_without_pairs__are_in_no_granule(void **state)
{
    (void)state;
    struct bb_segment_builder builder = {0};
    struct bb_granule_bits bits = {{0}};
    assert_ok(bb_segment_builder_build(&builder, pairs, 0, 900, 0.01));
    assert_true(ask(&builder, bb_hash_mix(1), &bits));
    assert_int_equal(count_granules(&bits), 0);
    bb_segment_builder_deinit(&builder);
}

/* The only member of 1,024 granules. */
static void one_member__is_found(void **state)
{
    (void)state;
    struct bb_segment_builder builder = {0};
    for (uint32_t granule = 0; granule < 1024; granule += 341) {
        struct bb_granule_bits bits = {{0}};
        pairs[0] = bb_member_pair(bb_hash_mix(granule), granule);
        assert_ok(bb_segment_builder_build(&builder, pairs, 1, 1024, 0.01));
        check_members(&builder, 1);
        assert_true(ask(&builder, bb_hash_mix(granule), &bits));
        assert_true(count_granules(&bits) <= 17);
    }
    bb_segment_builder_deinit(&builder);
}

/* Equal pairs give equal bytes: an extended file equals a new one. */
static void a_builder__forgets_the_segment_before(void **state)
{
    (void)state;
    struct bb_segment_builder fresh = {0};
    struct bb_segment_builder used = {0};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        size_t count = draw_pairs(shapes[i], 300 + i);
        assert_ok(bb_segment_builder_build(&fresh, pairs, count, shapes[i].granules, 0.01));
        assert_ok(bb_segment_builder_build(&used, pairs, count, shapes[i].granules, 0.01));
        assert_int_equal(fresh.data.size, used.data.size);
        assert_memory_equal(fresh.data.data, used.data.data, used.data.size);
        bb_segment_builder_deinit(&fresh);
        fresh = (struct bb_segment_builder){0};
    }
    bb_segment_builder_deinit(&used);
}

static void encode_head(const struct bb_segment_builder *builder, struct bb_buf *buf)
{
    assert_ok(bb_segment_append(&builder->segment, buf));
    assert_ok(bb_buf_append(buf, builder->ends.data, builder->ends.size));
}

static void heads__are_read_as_they_were_written(void **state)
{
    (void)state;
    struct bb_segment_builder builder = {0};
    struct bb_segment segment;
    struct bb_buf buf = {0};
    size_t count = draw_pairs(shapes[3], 5);
    assert_ok(bb_segment_builder_build(&builder, pairs, count, shapes[3].granules, 0.01));
    assert_true(bb_segment_has_ribbons(&builder.segment));
    encode_head(&builder, &buf);
    for (size_t size = 0; size < buf.size; size++) {
        struct bb_cursor cut = bb_cursor_of((struct bb_bytes){buf.data, size});
        assert_false(bb_segment_decode(&cut, shapes[3].granules, true, &segment));
    }
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&buf));
    assert_true(bb_segment_decode(&cursor, shapes[3].granules, true, &segment));
    assert_int_equal(bb_cursor_left(&cursor), 0);
    segment.ends = builder.segment.ends;
    assert_memory_equal(&segment, &builder.segment, sizeof(segment));
    bb_buf_deinit(&buf);
    bb_segment_builder_deinit(&builder);
}

/* Each field that a segment with ribbons has more, above its limit. */
static void impossible_heads__are_refused(void **state)
{
    (void)state;
    const struct bb_segment good = {.granule_count = 10,
                                    .address_count = 1,
                                    .bucket_bits = 2,
                                    .chunk_bits = 1,
                                    .ribbon_fingerprint_bits = 7,
                                    .stripe_bits = 3,
                                    .long_ribbons = 2};
    struct bb_segment tries[6] = {good, good, good, good, good, good};
    tries[1].chunk_bits = 3;
    tries[2].ribbon_fingerprint_bits = BB_SEGMENT_FINGERPRINT_BITS_MAX + 1;
    tries[3].stripe_bits = BB_SEGMENT_STRIPE_BITS_MAX + 1;
    tries[4].long_ribbons = 3;
    tries[5].ribbon_fingerprint_bits = 256; /* written as 0 */
    for (size_t i = 0; i < 6; i++) {
        struct bb_buf buf = {0};
        struct bb_segment segment;
        assert_ok(bb_segment_append(&tries[i], &buf));
        for (uint32_t end = 20; end <= 80; end += 20)
            assert_ok(bb_append_u32(&buf, end));
        struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&buf));
        assert_int_equal(bb_segment_decode(&cursor, 10, true, &segment), i == 0);
        bb_buf_deinit(&buf);
    }
}

/* A ribbon whose size does not follow from its descriptor is damage. */
static void ribbons_of_another_size__are_damage(void **state)
{
    (void)state;
    struct bb_segment_builder builder = {0};
    size_t count = draw_pairs(shapes[1], 6);
    assert_ok(bb_segment_builder_build(&builder, pairs, count, shapes[1].granules, 0.01));
    uint64_t offset = 0;
    uint32_t size = 0;
    uint64_t hash = bb_hash_mix(7);
    bb_segment_chunk(&builder.segment, hash, &offset, &size);
    uint8_t *chunk = malloc(size);
    memcpy(chunk, builder.data.data + offset, size);
    uint16_t good = bb_load16(chunk);
    for (uint32_t descriptor = 0; descriptor <= UINT16_MAX; descriptor++) {
        struct bb_granule_bits bits = {{0}};
        size_t payload = 0;
        bb_store16(chunk, (uint16_t)descriptor);
        bool is_possible = bb_ribbon_values_payload_size(
            (uint16_t)descriptor, builder.segment.ribbon_fingerprint_bits, &payload);
        size_t head = bb_segment_chunk_head(&builder.segment) + BB_SEGMENT_CHUNK_CHECKSUM_SIZE;
        uint32_t buckets = bb_load16(chunk + bb_segment_chunk_head(&builder.segment) - 2);
        bool fits = is_possible && payload == size - head - buckets;
        assert_int_equal(
            bb_segment_ask(&builder.segment, (struct bb_bytes){chunk, size}, hash, &bits), fits);
        if (descriptor == good)
            assert_true(fits);
    }
    free(chunk);
    bb_segment_builder_deinit(&builder);
}

static void any_chunk__is_answered(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct bb_segment_builder builder = {0};
    bb_rng_init(&rng, bb_rng_seed("segment_ribbon_test", 2));
    for (uint32_t turn = 0; turn < 20000; turn++) {
        if (turn % 5000 == 0) {
            const struct shape *shape = &shapes[turn / 5000];
            size_t count = draw_pairs(*shape, turn);
            assert_ok(bb_segment_builder_build(&builder, pairs, count, shape->granules, 0.01));
        }
        uint64_t offset = 0;
        uint32_t size = 0;
        uint64_t hash = bb_rng_next(&rng);
        bb_segment_chunk(&builder.segment, hash, &offset, &size);
        uint8_t *chunk = malloc(size);
        memcpy(chunk, builder.data.data + offset, size);
        for (uint64_t changes = 1 + bb_rng_below(&rng, 8); changes > 0; changes--)
            chunk[bb_rng_below(&rng, bb_rng_one_in(&rng, 2) ? size : 8)] =
                (uint8_t)bb_rng_next(&rng);
        struct bb_granule_bits bits = {{0}};
        uint32_t given = bb_rng_one_in(&rng, 4) ? (uint32_t)bb_rng_below(&rng, size) : size;
        (void)!bb_segment_ask(&builder.segment, (struct bb_bytes){chunk, given}, hash, &bits);
        for (uint32_t granule = builder.segment.granule_count; granule < BB_SEGMENT_GRANULES_MAX;
             granule++)
            assert_false(bb_granule_bits_has(&bits, granule));
        free(chunk);
    }
    bb_segment_builder_deinit(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members__are_never_denied),
        cmocka_unit_test(rates__are_met_by_4000_absent_members),
        cmocka_unit_test(short_segments__use_the_whole_rate),
        cmocka_unit_test(near_unique_members__take_three_quarters_of_a_bloom_filter),
        cmocka_unit_test(frequent_members__get_no_ribbons),
        cmocka_unit_test(segments_without_pairs__are_in_no_granule),
        cmocka_unit_test(one_member__is_found),
        cmocka_unit_test(a_builder__forgets_the_segment_before),
        cmocka_unit_test(heads__are_read_as_they_were_written),
        cmocka_unit_test(impossible_heads__are_refused),
        cmocka_unit_test(ribbons_of_another_size__are_damage),
        cmocka_unit_test(any_chunk__is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
