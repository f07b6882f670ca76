/* Goal: rates keep their target, in the mean over a table's filters and never above the target in
 * expectation; filters of different tables, and of different domains over the same keys, are
 * independent; and a filter takes no more space than planned. Method: many filters of one builder,
 * non-member keys for each; counts compared with binomial bands, which a correct filter leaves once
 * in 10^9 measurements, for any BB_TEST_SEED. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bloomblock/descriptor.h"
#include "bloomblock/domain.h"
#include "bloomblock/sizing/rate.h"

/* The result over many filters of one table. */
struct outcome {
    double predicted; /* mean of the filters' predictions */
    double bits_per_key;
    uint64_t passed;
    uint64_t asked;
};

static double predicted_rate(const struct group *group)
{
    double sum = 0;
    for (uint32_t i = 0; i < group->shard_count; i++) {
        struct bb_block_filter_info info;
        size_t start = group_offset(group, i), end = group_offset(group, i + 1);
        struct bb_bytes payload = {group->payload.data + start, end - start};
        assert_true(
            bb_block_filter_info(group->format, group_descriptor(group, i), payload, &info));
        sum += info.predicted_rate;
    }
    return sum / group->shard_count;
}

static struct outcome run(enum bb_filter_kind kind, double target, size_t key_count, size_t filters,
                          uint64_t questions)
{
    struct bb_block_filter_format format = format_of(kind, target, key_seed + key_count);
    struct bb_block_filter_builder *builder = builder_of(&format);
    struct outcome outcome = {0};
    size_t bytes = 0;
    for (size_t f = 0; f < filters; f++) {
        struct group group;
        group_init(&group, &format, builder, f, key_count);
        bytes += group.payload_size + group.descriptors.size;
        outcome.predicted += predicted_rate(&group) / (double)filters;
        for (uint64_t i = 0; i < questions; i++)
            outcome.passed += group_may_contain(&group, absent_hash(f * questions + i));
        group_deinit(&group);
    }
    bb_block_filter_builder_destroy(builder);
    outcome.asked = filters * questions;
    outcome.bits_per_key = (double)bytes * 8 / (double)(filters * key_count);
    return outcome;
}

static void assert_cell(enum bb_filter_kind kind, double target, size_t key_count, size_t filters,
                        uint64_t questions, double least_share)
{
    struct outcome outcome = run(kind, target, key_count, filters, questions);
    char what[100];
    snprintf(what, sizeof(what), "kind %d, %zu keys, target %g: non-member keys", (int)kind,
             key_count, target);
    assert_rate(outcome.passed, outcome.asked, outcome.predicted, what);
    if (outcome.predicted < target * least_share) {
        print_error("%s: predicted %g\n", what, outcome.predicted);
        fail();
    }
    if (kind == BB_FILTER_RIBBON && outcome.predicted > target * (1 + 1e-9)) {
        print_error("%s: predicted %g, above the target\n", what, outcome.predicted);
        fail();
    }
}

static void block_filter_rate__ribbon_meets_every_target(void **state)
{
    (void)state;
    static const double targets[] = {0.5, 0.4, 0.1, 0.03, 0.01, 1.0 / 128, 0.004, 0.001};
    static const size_t key_counts[] = {1, 2, 5, 17, 30, 57, 58, 100, 255, 300, 1000};
    for (size_t t = 0; t < BB_ARRAY_LENGTH(targets); t++)
        for (size_t n = 0; n < BB_ARRAY_LENGTH(key_counts); n++)
            assert_cell(BB_FILTER_RIBBON, targets[t], key_counts[n], 60, 2000, 0.97);
}

static void block_filter_rate__ribbon_meets_low_targets(void **state)
{
    (void)state;
    assert_cell(BB_FILTER_RIBBON, 0.0001, 100, 200, 10000, 0.99);
    assert_cell(BB_FILTER_RIBBON, 0.00001, 300, 100, 20000, 0.98);
    assert_cell(BB_FILTER_RIBBON, BB_FILTER_RATE_MIN, 300, 20, 20000, 0.999);
}

static void block_filter_rate__shards_meet_the_target(void **state)
{
    (void)state;
    assert_cell(BB_FILTER_RIBBON, 0.01, 20000, 10, 10000, 0.99);
    assert_cell(BB_FILTER_BLOOM, 0.01, 20000, 5, 10000, 0.97);
    assert_cell(BB_FILTER_BLOCKED_BLOOM, 0.01, 20000, 5, 10000, 0.93);
}

/* Filters of a byte's or a line's granularity: whole bytes waste up to a byte per filter, a line
 * for 30 keys is too much for any target above 5e-4. */
static void block_filter_rate__bloom_kinds_meet_targets(void **state)
{
    (void)state;
    static const double targets[] = {0.3, 0.1, 0.01, 0.001};
    static const size_t key_counts[] = {5, 30, 100, 300, 1000};
    for (size_t t = 0; t < BB_ARRAY_LENGTH(targets); t++)
        for (size_t n = 0; n < BB_ARRAY_LENGTH(key_counts); n++) {
            bool many_lines = key_counts[n] >= 300;
            assert_cell(BB_FILTER_BLOOM, targets[t], key_counts[n], 200, 1000, 0.85);
            assert_cell(BB_FILTER_BLOCKED_BLOOM, targets[t], key_counts[n], 200, 1000,
                        many_lines ? 0.8 : 0);
        }
}

/* Expectations of Bloom kinds never exceed the target; the actual bits may, by chance. */
static void block_filter_rate__bloom_kinds_stay_below_in_expectation(void **state)
{
    (void)state;
    for (int kind = BB_FILTER_BLOCKED_BLOOM; kind <= BB_FILTER_BLOOM; kind++)
        for (size_t n = 10; n < 1000; n += 90) {
            struct outcome outcome = run((enum bb_filter_kind)kind, 0.02, n, 300, 0);
            assert_true(outcome.predicted <= 0.02 * 1.04);
        }
}

/* --- Space --- */

/* Bits per key at 1 %, descriptor included; the limit is 6.644. At 300 keys the 38 groups that hold
 * them take 228 bytes or 266, at 28 and 72 of 100 filters: 6.863. */
static void block_filter_rate__space_at_one_percent(void **state)
{
    (void)state;
    static const struct {
        size_t keys, filters;
        double bits_per_key;
    } bars[] = {
        {30, 1000, 7.45}, {100, 500, 7.05}, {300, 200, 6.865}, {1000, 100, 6.80}, {2000, 50, 6.83}};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(bars); i++) {
        struct outcome outcome = run(BB_FILTER_RIBBON, 0.01, bars[i].keys, bars[i].filters, 0);
        if (outcome.bits_per_key > bars[i].bits_per_key) {
            print_error("%zu keys: %.4f bits per key, the bar is %.3f\n", bars[i].keys,
                        outcome.bits_per_key, bars[i].bits_per_key);
            fail();
        }
        assert_true(outcome.bits_per_key > bb_rate_limit(0.01));
    }
}

/* --- Seeds --- */

/* Of two keys in two slots half of the seeds fail, each for itself: 1 of 256 filters needs more
 * than eight. Seeds that are not independent show here first. */
static void block_filter_rate__seeds_are_independent(void **state)
{
    (void)state;
    struct bb_block_filter_format format = format_of(BB_FILTER_RIBBON, 1.0 / 128, key_seed);
    struct bb_block_filter_builder *builder = builder_of(&format);
    const uint64_t filters = 40000;
    uint64_t late = 0;
    for (uint64_t set = 0; set < filters; set++) {
        struct group group;
        group_init(&group, &format, builder, set, 2);
        late += bb_descriptor_decode(group_descriptor(&group, 0)).seed >= 8;
        group_deinit(&group);
    }
    assert_rate(late, filters, 1.0 / 256, "filters of two keys that need a ninth seed");
    bb_block_filter_builder_destroy(builder);
}

static double mean_tries(size_t key_count, uint64_t filters, double slack)
{
    struct bb_block_filter_format format = format_of(BB_FILTER_RIBBON, 1.0 / 128, key_seed);
    format.slack = slack;
    struct bb_block_filter_builder *builder = builder_of(&format);
    uint64_t tries = 0;
    for (uint64_t set = 0; set < filters; set++) {
        struct group group;
        group_init(&group, &format, builder, set, key_count);
        tries += bb_descriptor_decode(group_descriptor(&group, 0)).seed + 1;
        group_deinit(&group);
    }
    bb_block_filter_builder_destroy(builder);
    return (double)tries / (double)filters;
}

static void block_filter_rate__few_seeds_are_tried(void **state)
{
    (void)state;
    static const struct {
        size_t keys, filters;
        double tries;
    } bounds[] = {{30, 1000, 3.9},  {64, 500, 4.1},   {100, 500, 2.1},  {300, 200, 1.3},
                  {512, 100, 6},    {1000, 100, 2},   {1200, 100, 2.2}, {1400, 100, 2.7},
                  {1600, 100, 2.5}, {1800, 100, 3.1}, {2000, 100, 2.8}};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(bounds); i++)
        assert_true(mean_tries(bounds[i].keys, bounds[i].filters, 0) < bounds[i].tries);
}

static void block_filter_rate__slack_saves_seeds(void **state)
{
    (void)state;
    assert_true(mean_tries(30, 1000, 0.03) < 1.6);
    assert_true(mean_tries(100, 500, 0.03) < 1.25);
    assert_true(mean_tries(1000, 200, 0.03) < 1.3);
    assert_true(mean_tries(1000, 200, 0.06) < 1.1);
}

/* --- Independence --- */

struct pair_counts {
    uint64_t asked, first, second, both;
};

/* Two tables of the same keys under different salts or domains; both are probed for the same
 * non-member keys. */
static struct pair_counts ask_pairs(struct bb_block_filter_format formats[2], size_t key_count,
                                    uint64_t sets, uint64_t questions)
{
    struct pair_counts counts = {0};
    struct bb_block_filter_builder *builders[2] = {builder_of(&formats[0]),
                                                   builder_of(&formats[1])};
    for (uint64_t set = 0; set < sets; set++) {
        struct group groups[2];
        for (int i = 0; i < 2; i++)
            group_init(&groups[i], &formats[i], builders[i], set, key_count);
        for (uint64_t i = 0; i < questions; i++) {
            uint64_t hash = absent_hash(set * questions + i);
            bool first = group_may_contain(&groups[0], hash);
            bool second = group_may_contain(&groups[1], hash);
            counts.asked++;
            counts.first += first;
            counts.second += second;
            counts.both += first && second;
        }
        for (int i = 0; i < 2; i++)
            group_deinit(&groups[i]);
    }
    for (int i = 0; i < 2; i++)
        bb_block_filter_builder_destroy(builders[i]);
    return counts;
}

static void assert_independent(const struct pair_counts *counts, const char *what)
{
    double first = (double)counts->first / (double)counts->asked;
    double second = (double)counts->second / (double)counts->asked;
    assert_rate(counts->both, counts->asked, first * second, what);
}

static void block_filter_rate__tables_err_independently(void **state)
{
    (void)state;
    static const size_t key_counts[] = {30, 100, 500};
    for (int kind = BB_FILTER_RIBBON; kind <= BB_FILTER_BLOOM; kind++)
        for (size_t n = 0; n < BB_ARRAY_LENGTH(key_counts); n++) {
            /* Neighbouring salts, 1/8: seeds agree often, 4,700 of 300,000 keys pass both. */
            struct bb_block_filter_format formats[2] = {
                format_of((enum bb_filter_kind)kind, 0.125, key_seed),
                format_of((enum bb_filter_kind)kind, 0.125, key_seed + 1)};
            struct pair_counts counts = ask_pairs(formats, key_counts[n], 60, 5000);
            assert_independent(&counts, "keys that pass two tables");
        }
}

static void block_filter_rate__table_filter_and_blocks_err_independently(void **state)
{
    (void)state;
    struct bb_block_filter_format formats[2] = {format_of(BB_FILTER_RIBBON, 0.125, 5),
                                                format_of(BB_FILTER_RIBBON, 0.125, 5)};
    formats[1].domain = bb_domain(BB_DOMAIN_TABLE, 5);
    struct pair_counts counts = ask_pairs(formats, 300, 60, 5000);
    assert_independent(&counts, "keys that pass table filter and block filter");
    /* The same domain twice: rates do not multiply at all. */
    formats[1] = formats[0];
    counts = ask_pairs(formats, 300, 10, 5000);
    assert_int_equal(counts.both, counts.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_filter_rate__ribbon_meets_every_target),
        cmocka_unit_test(block_filter_rate__ribbon_meets_low_targets),
        cmocka_unit_test(block_filter_rate__shards_meet_the_target),
        cmocka_unit_test(block_filter_rate__bloom_kinds_meet_targets),
        cmocka_unit_test(block_filter_rate__bloom_kinds_stay_below_in_expectation),
        cmocka_unit_test(block_filter_rate__space_at_one_percent),
        cmocka_unit_test(block_filter_rate__seeds_are_independent),
        cmocka_unit_test(block_filter_rate__few_seeds_are_tried),
        cmocka_unit_test(block_filter_rate__slack_saves_seeds),
        cmocka_unit_test(block_filter_rate__tables_err_independently),
        cmocka_unit_test(block_filter_rate__table_filter_and_blocks_err_independently),
    };
    keys_init("block_filter_rate");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
