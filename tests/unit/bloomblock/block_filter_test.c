/* Goal: the filters of a table keep their contract: no member is ruled out, for any kind,
 * fingerprint size and number of keys; every descriptor is refused or harmless; repeated hashes and
 * their order do not matter; fixed values stay. Method: every member of sets of 0 to 2,100 keys and
 * more is probed; all 65,536 descriptors are probed in memory that ends 64 bytes after their
 * payload. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "base/bytes.h"
#include "bloomblock/bloom/bloom.h"
#include "bloomblock/descriptor.h"
#include "tests/support/must_alloc.h"

static const enum bb_filter_kind kinds[] = {BB_FILTER_RIBBON, BB_FILTER_BLOCKED_BLOOM,
                                            BB_FILTER_BLOOM};
#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* --- Formats --- */

static void block_filter__format_refuses_what_cannot_be_met(void **state)
{
    (void)state;
    static const double rates[] = {0, -0.1,           0.51,        1,
                                   2, 1.0 / 16777217, (double)NAN, (double)INFINITY};
    struct bb_block_filter_format format;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(rates); i++)
        for (size_t k = 0; k < KIND_COUNT; k++) {
            assert_status(bb_block_filter_format_init(&format, kinds[k], rates[i], 1), BB_INVALID);
            assert_message("target rate is");
            assert_false(bb_block_filter_format_restore(&format, kinds[k], rates[i], 1, 6));
        }
    for (int kind = BB_FILTER_SPLIT_BLOCK; kind <= BB_FILTER_COUNT_MIN; kind++) {
        enum bb_filter_kind alone = (enum bb_filter_kind)kind;
        assert_status(bb_block_filter_format_init(&format, alone, 0.01, 1), BB_UNSUPPORTED);
        assert_message("tables cannot hold filters of kind");
        assert_message(bb_filter_kind_name(alone));
    }
    assert_status(bb_block_filter_format_init(&format, (enum bb_filter_kind)10, 0.01, 1),
                  BB_INVALID);
}

static void block_filter__format_is_restored_from_its_fields(void **state)
{
    (void)state;
    for (size_t k = 0; k < KIND_COUNT; k++)
        for (double target = 0.5; target >= BB_FILTER_RATE_MIN; target /= 1.7) {
            struct bb_block_filter_format made = format_of(kinds[k], target, 42);
            struct bb_block_filter_format restored = {0};
            assert_true(bb_block_filter_format_restore(&restored, kinds[k], target, 42,
                                                       made.bits_per_probe));
            assert_int_equal(restored.kind, made.kind);
            assert_int_equal(restored.bits_per_probe, made.bits_per_probe);
            assert_true(restored.domain == made.domain && restored.salt == made.salt);
            assert_true(restored.target_rate == made.target_rate);
        }
}

static void block_filter__default_kind_is_a_ribbon(void **state)
{
    (void)state;
    struct bb_block_filter_format format;
    assert_ok(bb_block_filter_format_init(&format, BB_FILTER_DEFAULT, 0.01, 1));
    assert_int_equal(format.kind, BB_FILTER_RIBBON);
}

/* Filters without bits rule nothing out, and have no unused bits; a descriptor of a size that no
 * filter has is not described. */
static void block_filter__without_bits(void **state)
{
    (void)state;
    static const uint8_t none[BB_FILTER_LEAD_BYTES + BB_FILTER_PAD_BYTES] = {0};
    const uint8_t *payload = none + BB_FILTER_LEAD_BYTES;
    for (size_t k = 0; k < KIND_COUNT; k++) {
        struct bb_block_filter_info info;
        struct bb_block_filter_format format = format_of(kinds[k], 0.01, 42);
        struct bb_block_filter_key key = bb_block_filter_key(&format, member_hash(0, 1));
        for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
            if (!bb_cpu_has(cpu))
                continue;
            bb_block_filter_format_use(&format, cpu);
            assert_true(bb_block_filter_may_contain(&format, BB_DESCRIPTOR_NONE, payload, key));
        }
        assert_true(bb_block_filter_rest_is_zero(&format, BB_DESCRIPTOR_NONE, payload));
        assert_true(bb_block_filter_info(&format, BB_DESCRIPTOR_NONE, (struct bb_bytes){0}, &info));
        assert_false(
            bb_block_filter_info(&format, BB_DESCRIPTOR_NONE, bb_bytes_of(payload, 1), &info));
    }
    struct bb_block_filter_info info;
    struct bb_block_filter_format ribbon = format_of(BB_FILTER_RIBBON, 0.01, 42);
    size_t size = 0;
    uint16_t impossible = 1;
    while (bb_block_filter_size(&ribbon, impossible, &size))
        impossible++;
    assert_false(bb_block_filter_info(&ribbon, impossible, bb_bytes_of(payload, 1), &info));
    struct bb_block_filter_format no_filters;
    assert_true(bb_block_filter_format_restore(&no_filters, BB_FILTER_NONE, 0, 1, 0));
    assert_false(bb_block_filter_size(&no_filters, 1, &size));
}

static void block_filter__corrupt_bits_per_probe(void **state)
{
    (void)state;
    struct bb_block_filter_format format;
    assert_false(bb_block_filter_format_restore(&format, BB_FILTER_RIBBON, 0.01, 1, 0));
    assert_true(bb_block_filter_format_restore(&format, BB_FILTER_RIBBON, 0.01, 1, 24));
    assert_false(bb_block_filter_format_restore(&format, BB_FILTER_RIBBON, 0.01, 1, 25));
    assert_true(bb_block_filter_format_restore(&format, BB_FILTER_BLOOM, 0.01, 1, 30));
    assert_false(bb_block_filter_format_restore(&format, BB_FILTER_BLOOM, 0.01, 1, 31));
    assert_false(bb_block_filter_format_restore(&format, BB_FILTER_NONE, 0, 1, 1));
    assert_true(bb_block_filter_format_restore(&format, BB_FILTER_NONE, 0, 1, 0));
}

static void block_filter__corrupt_kind(void **state)
{
    (void)state;
    struct bb_block_filter_format format;
    assert_false(bb_block_filter_format_restore(&format, BB_FILTER_DEFAULT, 0.01, 1, 6));
    for (int kind = BB_FILTER_SPLIT_BLOCK; kind < 300; kind++)
        assert_false(
            bb_block_filter_format_restore(&format, (enum bb_filter_kind)kind, 0.01, 1, 6));
}

/* --- Members --- */

static void assert_members(enum bb_filter_kind kind, double target, uint64_t salt, size_t count)
{
    struct bb_block_filter_format format = format_of(kind, target, salt);
    struct bb_block_filter_builder *builder = builder_of(&format);
    struct group group;
    group_init(&group, &format, builder, salt, count);
    assert_group_has(&group, salt, count);
    group_deinit(&group);
    bb_block_filter_builder_destroy(builder);
}

static void block_filter__no_member_is_denied(void **state)
{
    (void)state;
    for (size_t k = 0; k < KIND_COUNT; k++)
        for (size_t n = 0; n <= 2100; n += n < 300 ? 1 : 13) {
            double target = exp2(-1 - (double)((n * 7 + k) % 231) / 10);
            assert_members(kinds[k], target, n, n);
            assert_members(kinds[k], 0.01, n + 5000, n);
        }
}

static void block_filter__no_member_of_many_shards_is_denied(void **state)
{
    (void)state;
    for (size_t k = 0; k < KIND_COUNT; k++) {
        assert_members(kinds[k], 0.01, 1, 2001);
        assert_members(kinds[k], 0.3, 2, 2499);
        assert_members(kinds[k], 0.001, 3, 2500);
        assert_members(kinds[k], 0.02, 4, 23456);
    }
}

static void block_filter__groups_are_cut_above_the_limit(void **state)
{
    (void)state;
    struct bb_block_filter_format format = format_of(BB_FILTER_RIBBON, 0.01, 9);
    struct bb_block_filter_builder *builder = builder_of(&format);
    static const struct {
        size_t keys;
        uint32_t shards;
    } cuts[] = {{0, 1}, {1, 1}, {2000, 1}, {2001, 2}, {2499, 2}, {2500, 3}, {10000, 10}};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(cuts); i++) {
        struct group group;
        group_init(&group, &format, builder, i, cuts[i].keys);
        assert_int_equal(group.shard_count, cuts[i].shards);
        group_deinit(&group);
    }
    bb_block_filter_builder_destroy(builder);
}

static void block_filter__groups_without_keys_and_kind_none_say_maybe(void **state)
{
    (void)state;
    for (int kind = BB_FILTER_NONE; kind <= BB_FILTER_BLOOM; kind++) {
        struct bb_block_filter_format format = format_of((enum bb_filter_kind)kind, 0.01, 1);
        struct bb_block_filter_builder *builder = builder_of(&format);
        struct group group;
        group_init(&group, &format, builder, 1, kind == BB_FILTER_NONE ? 100 : 0);
        assert_int_equal(group.shard_count, 1);
        assert_int_equal(group_descriptor(&group, 0), BB_DESCRIPTOR_NONE);
        assert_int_equal(group.payload_size, 0);
        assert_true(group_may_contain(&group, absent_hash(1)));
        group_deinit(&group);
        bb_block_filter_builder_destroy(builder);
    }
}

static void assert_equal_groups(const struct group *a, const struct group *b)
{
    assert_int_equal(a->shard_count, b->shard_count);
    assert_true(bb_bytes_equal(bb_buf_bytes(&a->descriptors), bb_buf_bytes(&b->descriptors)));
    assert_true(bb_bytes_equal(bb_buf_bytes(&a->payload), bb_buf_bytes(&b->payload)));
}

static void block_filter__repetitions_and_order_do_not_matter(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 7, 100, 1000, 5000};
    for (size_t k = 0; k < KIND_COUNT; k++)
        for (size_t c = 0; c < BB_ARRAY_LENGTH(counts); c++) {
            struct bb_block_filter_format format = format_of(kinds[k], 0.005, 3);
            struct bb_block_filter_builder *plain = builder_of(&format);
            struct bb_block_filter_builder *repeated = builder_of(&format);
            struct group a, b;
            group_init(&a, &format, plain, c, counts[c]);
            for (size_t i = counts[c]; i-- > 0;)
                for (size_t times = 0; times <= i % 3; times++)
                    assert_ok(bb_block_filter_builder_add(repeated, member_hash(c, i)));
            assert_int_equal(bb_block_filter_builder_key_count(repeated), counts[c]);
            for (size_t i = 0; i < counts[c]; i += 2)
                assert_ok(bb_block_filter_builder_add(repeated, member_hash(c, i)));
            group_finish(&b, &format, repeated);
            assert_equal_groups(&a, &b);
            group_deinit(&a);
            group_deinit(&b);
            bb_block_filter_builder_destroy(plain);
            bb_block_filter_builder_destroy(repeated);
        }
}

static void block_filter__finish_appends_and_begins_anew(void **state)
{
    (void)state;
    struct bb_block_filter_format format = format_of(BB_FILTER_RIBBON, 1.0 / 128, 3);
    struct bb_block_filter_builder *builder = builder_of(&format);
    struct bb_buf descriptors = {0}, payload = {0};
    uint32_t shards = 0;
    assert_ok(bb_buf_append(&descriptors, "ab", 2));
    assert_ok(bb_buf_append(&payload, "xyz", 3));
    for (uint64_t i = 0; i < 50; i++)
        assert_ok(bb_block_filter_builder_add(builder, member_hash(0, i)));
    assert_int_equal(bb_block_filter_builder_key_count(builder), 50);
    assert_ok(bb_block_filter_builder_finish(builder, &descriptors, &payload, &shards));
    assert_int_equal(bb_block_filter_builder_key_count(builder), 0);
    assert_int_equal(bb_block_filter_builder_size_estimate(builder), 0);
    assert_int_equal(descriptors.size, 4);
    assert_int_equal(payload.size, 3 + 44); /* 50 slots of 7 bits */
    assert_memory_equal(payload.data, "xyz", 3);
    bb_buf_deinit(&descriptors);
    bb_buf_deinit(&payload);
    bb_block_filter_builder_destroy(builder);
}

/* --- Descriptors --- */

static void assert_every_descriptor(const struct bb_block_filter_format *format)
{
    const size_t size_max = BB_FILTER_LEAD_BYTES + (size_t)UINT16_MAX * 64 + BB_FILTER_PAD_BYTES;
    uint8_t *zeros = bb_must_alloc_zeroed(size_max);
    struct guarded memory = guarded_copy(zeros, size_max);
    free(zeros);
    uint32_t refused = 0;
    for (uint32_t descriptor = 0; descriptor <= UINT16_MAX; descriptor++) {
        size_t size = SIZE_MAX;
        struct bb_block_filter_info info;
        if (!bb_block_filter_size(format, (uint16_t)descriptor, &size)) {
            assert_true(size == SIZE_MAX);
            refused++;
            continue;
        }
        assert_true(size <= size_max - BB_FILTER_LEAD_BYTES - BB_FILTER_PAD_BYTES);
        const uint8_t *payload = memory.data + size_max - BB_FILTER_PAD_BYTES - size;
        for (uint64_t i = 0; i < 4; i++)
            (void)bb_block_filter_may_contain(format, (uint16_t)descriptor, payload,
                                              bb_block_filter_key(format, absent_hash(i)));
        if (descriptor < 300)
            assert_true(bb_block_filter_info(format, (uint16_t)descriptor,
                                             (struct bb_bytes){payload, size}, &info));
    }
    /* Byte-grouped with fewer than 8 groups, bit-exact with no slot. */
    uint32_t impossible = format->kind == BB_FILTER_RIBBON ? 128 * 8 - 1 + 128 : 0;
    assert_int_equal(refused, impossible);
    guarded_free(&memory);
}

static void block_filter__every_descriptor_is_refused_or_harmless(void **state)
{
    (void)state;
    static const double targets[] = {0.5, 0.02, 0.01, 0.007, 0.001, BB_FILTER_RATE_MIN};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(targets); i++) {
        struct bb_block_filter_format format = format_of(BB_FILTER_RIBBON, targets[i], 1);
        assert_every_descriptor(&format);
    }
    for (size_t k = 1; k < KIND_COUNT; k++) {
        struct bb_block_filter_format format = format_of(kinds[k], 0.01, 1);
        assert_every_descriptor(&format);
    }
}

static void block_filter__kind_none_refuses_descriptors(void **state)
{
    (void)state;
    struct bb_block_filter_format format = format_of(BB_FILTER_NONE, 0, 1);
    size_t size = 1;
    assert_true(bb_block_filter_size(&format, 0, &size));
    assert_int_equal(size, 0);
    assert_false(bb_block_filter_size(&format, 1, &size));
    assert_true(bb_block_filter_may_contain(&format, 1, NULL, (struct bb_block_filter_key){7}));
}

/* --- Descriptions --- */

static void block_filter__info_describes_a_ribbon(void **state)
{
    (void)state;
    struct bb_block_filter_format format = format_of(BB_FILTER_RIBBON, 1.0 / 128, 1);
    struct bb_block_filter_builder *builder = builder_of(&format);
    struct bb_block_filter_info info;
    struct group group;
    group_init(&group, &format, builder, 1, 1000);
    struct bb_bytes payload = {group.payload.data, group.payload_size};
    uint16_t descriptor = group_descriptor(&group, 0);
    assert_true(bb_block_filter_info(&format, descriptor, payload, &info));
    assert_string_equal(info.layout, "byte-grouped");
    assert_int_equal(info.size_bytes, 126 * 7);
    assert_int_equal(info.slots, 1008);
    assert_int_equal(info.bits_per_probe, 7);
    assert_int_equal(info.seed, bb_descriptor_decode(descriptor).seed);
    assert_true(info.predicted_rate == 1.0 / 128);
    assert_true(info.fill > 0.45 && info.fill < 0.55);
    payload.size--;
    assert_false(bb_block_filter_info(&format, descriptor, payload, &info));
    group_deinit(&group);
    group_init(&group, &format, builder, 2, 30);
    payload = (struct bb_bytes){group.payload.data, group.payload_size};
    assert_true(bb_block_filter_info(&format, group_descriptor(&group, 0), payload, &info));
    assert_string_equal(info.layout, "bit-exact");
    assert_int_equal(info.slots, 30);
    group_deinit(&group);
    bb_block_filter_builder_destroy(builder);
}

static void block_filter__info_describes_bloom_kinds_by_their_bits(void **state)
{
    (void)state;
    static const char *const layouts[] = {"lines", "bits"};
    for (size_t k = 1; k < KIND_COUNT; k++) {
        struct bb_block_filter_format format = format_of(kinds[k], 0.01, 1);
        struct bb_block_filter_builder *builder = builder_of(&format);
        struct bb_block_filter_info info;
        struct group group;
        group_init(&group, &format, builder, 1, 1000);
        struct bb_bytes payload = {group.payload.data, group.payload_size};
        assert_true(bb_block_filter_info(&format, group_descriptor(&group, 0), payload, &info));
        assert_string_equal(info.layout, layouts[k - 1]);
        assert_int_equal(info.slots, payload.size * 8);
        assert_int_equal(info.bits_per_probe, 7);
        assert_true(fabs(info.fill * (double)info.slots -
                         (double)bb_bloom_set_count(payload.data, payload.size)) < 1e-6);
        assert_true(info.predicted_rate > 0.007 && info.predicted_rate < 0.013);
        group_deinit(&group);
        bb_block_filter_builder_destroy(builder);
    }
}

/* --- The stored form --- */

/* The first false positives of a set of 500: they change with any change of a hash, a multiplier, a
 * layout or a choice of parameters. Keys do not depend on the seed of the test. */
static void assert_false_positives(enum bb_filter_kind kind, const uint32_t expected[10])
{
    struct bb_block_filter_format format = format_of(kind, 0.01, UINT64_C(0x0123456789abcdef));
    struct bb_block_filter_builder *builder = builder_of(&format);
    struct group group;
    uint32_t found[10] = {0};
    for (uint64_t i = 0; i < 500; i++)
        assert_ok(bb_block_filter_builder_add(builder, bb_hash_mix(i + 1)));
    group_finish(&group, &format, builder);
    size_t count = 0;
    for (uint32_t i = 0; count < 10; i++)
        if (group_may_contain(&group, bb_hash_mix(~(uint64_t)i)))
            found[count++] = i;
    if (memcmp(found, expected, sizeof(found)) != 0) {
        print_error("kind %d passes", (int)kind);
        for (size_t i = 0; i < 10; i++)
            print_error(" %u,", found[i]);
        print_error("\n");
    }
    assert_memory_equal(found, expected, sizeof(found));
    group_deinit(&group);
    bb_block_filter_builder_destroy(builder);
}

static void block_filter__false_positives_are_pinned(void **state)
{
    (void)state;
    static const uint32_t ribbon[10] = {162, 209, 335, 470, 501, 659, 708, 1005, 1015, 1185};
    static const uint32_t blocked_bloom[10] = {84, 95, 98, 118, 381, 716, 1104, 1178, 1179, 1241};
    static const uint32_t bloom[10] = {2, 114, 140, 200, 292, 350, 411, 446, 610, 611};
    assert_false_positives(BB_FILTER_RIBBON, ribbon);
    assert_false_positives(BB_FILTER_BLOCKED_BLOOM, blocked_bloom);
    assert_false_positives(BB_FILTER_BLOOM, bloom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_filter__format_refuses_what_cannot_be_met),
        cmocka_unit_test(block_filter__format_is_restored_from_its_fields),
        cmocka_unit_test(block_filter__default_kind_is_a_ribbon),
        cmocka_unit_test(block_filter__without_bits),
        cmocka_unit_test(block_filter__corrupt_bits_per_probe),
        cmocka_unit_test(block_filter__corrupt_kind),
        cmocka_unit_test(block_filter__no_member_is_denied),
        cmocka_unit_test(block_filter__no_member_of_many_shards_is_denied),
        cmocka_unit_test(block_filter__groups_are_cut_above_the_limit),
        cmocka_unit_test(block_filter__groups_without_keys_and_kind_none_say_maybe),
        cmocka_unit_test(block_filter__repetitions_and_order_do_not_matter),
        cmocka_unit_test(block_filter__finish_appends_and_begins_anew),
        cmocka_unit_test(block_filter__every_descriptor_is_refused_or_harmless),
        cmocka_unit_test(block_filter__kind_none_refuses_descriptors),
        cmocka_unit_test(block_filter__info_describes_a_ribbon),
        cmocka_unit_test(block_filter__info_describes_bloom_kinds_by_their_bits),
        cmocka_unit_test(block_filter__false_positives_are_pinned),
    };
    keys_init("block_filter");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
