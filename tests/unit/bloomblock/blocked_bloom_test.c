/* Goal: a blocked Bloom filter rules out no member, stays inside one line per key, and passes
 * non-member keys at the rate of the binomial mixture; all forms of the probe agree and read only
 * the lines. Method: all members probed; set bits counted by line; the mean rate over many filters
 * compared with rate.h; lines of any fill and alignment, after an unreadable page and before
 * one. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bloomblock/bloom/blocked_bloom_probe.h"
#include "bloomblock/bloom/bloom.h"
#include "bloomblock/sizing/rate.h"

#define LINES_MAX 64

static uint8_t payload[LINES_MAX * BB_LINE_SIZE];

static void blocked_bloom__no_member_is_denied(void **state)
{
    (void)state;
    for (uint32_t probes = 1; probes <= BB_BLOOM_PROBES_MAX; probes++)
        for (uint32_t lines = 1; lines <= LINES_MAX; lines += 1 + lines / 2) {
            memset(payload, 0, sizeof(payload));
            for (uint64_t i = 0; i < lines * 60; i++)
                bb_blocked_bloom_add(payload, lines, probes, member_hash(probes, i));
            for (uint64_t i = 0; i < lines * 60; i++)
                assert_true(
                    bb_blocked_bloom_may_contain(payload, lines, probes, member_hash(probes, i)));
        }
}

static uint32_t assert_forms(const uint8_t *bytes, uint32_t lines, uint32_t probes, uint64_t hash)
{
    bool expected = bb_blocked_bloom_may_contain(bytes, lines, probes, hash);
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        if (bb_cpu_has(cpu))
            assert_int_equal(
                bb_blocked_bloom_probe_of(cpu)->may_contain(bytes, lines, probes, hash), expected);
    bb_blocked_bloom_probe_prefetch(bytes, lines, hash);
    return expected;
}

static void blocked_bloom__all_forms_answer_alike(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct guarded space = guarded_copy(payload, sizeof(payload));
    uint64_t yes = 0, asked = 0;
    bb_rng_init(&rng, key_seed);
    for (uint32_t probes = 1; probes <= BB_BLOOM_PROBES_MAX; probes++)
        for (uint32_t lines = 1; lines <= 16; lines++) {
            size_t size = (size_t)lines * BB_LINE_SIZE;
            uint8_t *places[] = {space.start, space.data + sizeof(payload) - size,
                                 space.start + lines * 7 + probes};
            memset(payload, 0, size);
            uint64_t keys = lines * bb_rng_between(&rng, 1, 2000 / probes);
            for (uint64_t i = 0; i < keys; i++)
                bb_blocked_bloom_add(payload, lines, probes, member_hash(i, i));
            for (size_t place = 0; place < 3; place++) {
                memcpy(places[place], payload, size);
                for (uint32_t i = 0; i < 100; i++, asked++)
                    yes += assert_forms(places[place], lines, probes, bb_rng_next(&rng));
            }
        }
    assert_in_range(yes, asked / 20, asked - asked / 20);
    guarded_free(&space);
}

static void blocked_bloom__a_key_sets_bits_of_its_line_alone(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t hash = member_hash(0, i);
        memset(payload, 0, sizeof(payload));
        bb_blocked_bloom_add(payload, LINES_MAX, 12, hash);
        size_t line = (size_t)bb_blocked_bloom_line(hash, LINES_MAX) * BB_LINE_SIZE;
        uint64_t set = bb_bloom_set_count(payload + line, BB_LINE_SIZE);
        assert_in_range(set, 6, 12);
        assert_int_equal(bb_bloom_set_count(payload, sizeof(payload)), set);
    }
}

static void blocked_bloom__positions_are_even(void **state)
{
    (void)state;
    uint64_t counts[BB_LINE_BITS] = {0};
    const uint64_t keys = 20000, probes = 14;
    for (uint64_t i = 0; i < keys; i++) {
        struct bb_blocked_bloom_line_probes sequence =
            bb_blocked_bloom_line_probes(member_hash(1, i));
        for (uint64_t j = 0; j < probes; j++)
            counts[bb_blocked_bloom_line_probes_next(&sequence)]++;
    }
    for (size_t i = 0; i < BB_LINE_BITS; i++)
        assert_rate(counts[i], keys * probes, 1.0 / BB_LINE_BITS, "share of a position");
}

static void assert_mixture(uint64_t key_count, uint32_t lines, uint32_t probes)
{
    struct bb_rate_line line;
    double predicted = 0, squares = 0;
    uint64_t passed = 0;
    const uint64_t filters = 2000, questions = 100;
    bb_rate_line_init(&line, probes, UINT64_MAX);
    for (uint64_t f = 0; f < filters; f++) {
        memset(payload, 0, sizeof(payload));
        for (uint64_t i = 0; i < key_count; i++)
            bb_blocked_bloom_add(payload, lines, probes, member_hash(f, i));
        double rate = bb_blocked_bloom_rate(payload, lines, probes);
        predicted += rate;
        squares += rate * rate;
        for (uint64_t i = 0; i < questions; i++)
            passed += bb_blocked_bloom_may_contain(payload, lines, probes,
                                                   absent_hash(f * questions + i));
    }
    double mean = predicted / (double)filters;
    double deviation = sqrt(squares / (double)filters - mean * mean) / sqrt((double)filters);
    double expected = bb_rate_blocked_bloom(&line, key_count, lines);
    if (fabs(mean - expected) > BAND * deviation) {
        print_error("n=%llu lines=%u k=%u: mean rate of the set bits %.6g, mixture %.6g\n",
                    (unsigned long long)key_count, lines, probes, mean, expected);
        fail();
    }
    assert_rate(passed, filters * questions, mean, "non-member keys against set bits");
}

static void blocked_bloom__rate_is_the_mixture(void **state)
{
    (void)state;
    assert_mixture(50, 1, 7);
    assert_mixture(100, 2, 7);
    assert_mixture(300, 6, 6);
    assert_mixture(1000, 19, 7);
    assert_mixture(700, 2, 1);
    assert_mixture(300, 10, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_bloom__no_member_is_denied),
        cmocka_unit_test(blocked_bloom__all_forms_answer_alike),
        cmocka_unit_test(blocked_bloom__a_key_sets_bits_of_its_line_alone),
        cmocka_unit_test(blocked_bloom__positions_are_even),
        cmocka_unit_test(blocked_bloom__rate_is_the_mixture),
    };
    keys_init("blocked_bloom");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
