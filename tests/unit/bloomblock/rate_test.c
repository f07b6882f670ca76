/* Goal: the mathematics is right, sizes keep their targets, and the mapping from (keys, target) to
 * parameters is monotone and has no holes. Method: an independent computation of the exact Bloom
 * rate (distribution of the number of set bits, ball by ball); published and manually computed
 * values; every size of every kind at n = 0 ... 4096 over a grid of targets down to 2^-24. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bloomblock/bloom/blocked_bloom.h"
#include "bloomblock/bloom/bloom.h"
#include "bloomblock/ribbon/ribbon_shape.h"
#include "bloomblock/sizing/rate.h"
#include "bloomblock/ribbon/ribbon.h"
#include "bloomblock/ribbon/ribbon_rows.h"
#include "tests/support/must_alloc.h"

static void assert_close(double found, double expected, double relative)
{
    if (fabs(found - expected) <= relative * fabs(expected))
        return;
    print_error("found %.12g, expected %.12g\n", found, expected);
    fail();
}

/* Targets from 1/2 down to 2^-24, four to an octave, powers of two among them. */
#define TARGET_COUNT 93

static double target_of(int i)
{
    return exp2(-1 - i / 4.0);
}

static void rate__limit_is_the_information_in_a_rejection(void **state)
{
    (void)state;
    assert_close(bb_rate_limit(0.5), 1, 1e-15);
    assert_close(bb_rate_limit(0.01), 6.643856189774724, 1e-14);
}

/* --- Ribbon --- */

static void rate__ribbon_bits_are_the_last_that_do_not_undercut(void **state)
{
    (void)state;
    for (int i = 0; i < TARGET_COUNT; i++) {
        double target = i % 4 == 0 ? ldexp(1, -1 - i / 4) : target_of(i);
        uint32_t fingerprint_bits = bb_rate_ribbon_fingerprint_bits(target);
        assert_in_range(fingerprint_bits, 1, 24);
        assert_true(bb_rate_ribbon(fingerprint_bits) >= target);
        assert_true(bb_rate_ribbon(fingerprint_bits + 1) < target);
    }
    assert_int_equal(bb_rate_ribbon_fingerprint_bits(0.01), 6);
    assert_int_equal(bb_rate_ribbon_fingerprint_bits(0.5), 1);
    assert_int_equal(bb_rate_ribbon_fingerprint_bits(BB_FILTER_RATE_MIN), 24);
}

static uint32_t slots_of(struct bb_ribbon_shape shape)
{
    return shape.bit_exact ? shape.size : shape.size * BB_RIBBON_GROUP_ROWS;
}

static void rate__ribbon_shapes_are_monotone_and_hold_their_keys(void **state)
{
    (void)state;
    for (uint32_t fingerprint_bits = 1; fingerprint_bits <= BB_RIBBON_FINGERPRINT_BITS_MAX;
         fingerprint_bits++) {
        size_t previous = 0;
        for (uint32_t n = 1; n <= BB_RIBBON_KEYS_MAX; n++) {
            struct bb_ribbon_shape shape = bb_ribbon_shape_for(n, fingerprint_bits, 0);
            size_t size = bb_ribbon_shape_size(shape, fingerprint_bits);
            assert_true(shape.size >= (shape.bit_exact ? 1 : BB_RIBBON_GROUPS_MIN));
            assert_true(shape.size <= 255);
            assert_true(slots_of(shape) >= n);
            assert_true(size >= previous);
            previous = size;
        }
    }
}

static void rate__ribbon_shapes_can_grow_once(void **state)
{
    (void)state;
    for (uint32_t fingerprint_bits = 1; fingerprint_bits <= BB_RIBBON_FINGERPRINT_BITS_MAX;
         fingerprint_bits++)
        for (uint32_t n = 1; n <= BB_RIBBON_KEYS_MAX; n++) {
            struct bb_ribbon_shape shape = bb_ribbon_shape_for(n, fingerprint_bits, 0);
            struct bb_ribbon_shape larger = bb_ribbon_shape_larger(shape);
            assert_true(larger.size >= 1 && larger.size <= 255);
            assert_true(slots_of(larger) > slots_of(shape));
        }
    struct bb_ribbon_shape last = {.size = BB_RIBBON_GROUPS_MAX};
    assert_int_equal(bb_ribbon_shape_larger(last).size, 0);
}

static void rate__ribbon_slack_is_what_was_asked_for(void **state)
{
    (void)state;
    static const double slacks[] = {0, 0.001, 0.03, 0.06, 0.1, BB_FILTER_SLACK_MAX};
    for (uint32_t fingerprint_bits = 1; fingerprint_bits <= BB_RIBBON_FINGERPRINT_BITS_MAX;
         fingerprint_bits += 6)
        for (uint32_t n = 1; n <= BB_RIBBON_KEYS_MAX; n++) {
            uint32_t previous = slots_of(bb_ribbon_shape_for(n, fingerprint_bits, 0));
            for (size_t i = 0; i < BB_ARRAY_LENGTH(slacks); i++) {
                struct bb_ribbon_shape shape = bb_ribbon_shape_for(n, fingerprint_bits, slacks[i]);
                uint32_t slots = slots_of(shape);
                double wanted = fmin(n * (1 + slacks[i]), BB_RIBBON_SLOTS_MAX - 8);
                assert_true(slots >= previous && slots > wanted - 1e-6);
                assert_true(slots < fmax(wanted, n + 20) + 8 || slots == 64);
                assert_true(slots_of(bb_ribbon_shape_larger(shape)) > slots);
                previous = slots;
            }
        }
}

static void rate__ribbon_layout_is_the_smaller_one(void **state)
{
    (void)state;
    struct bb_ribbon_shape small = bb_ribbon_shape_for(30, 7, 0);
    assert_true(small.bit_exact);
    assert_int_equal(bb_ribbon_shape_size(small, 7), 27); /* 30 slots: 26.25 bytes */
    assert_int_equal(small.size, 30);
    small = bb_ribbon_shape_for(30, 1, 0); /* 30 bits, and two that the bytes have space for */
    assert_int_equal(small.size, 32);
    struct bb_ribbon_shape tie = bb_ribbon_shape_for(64, 7, 0); /* 56 bytes in both layouts */
    assert_false(tie.bit_exact);
    assert_int_equal(tie.size, 8);
    struct bb_ribbon_shape large = bb_ribbon_shape_for(1000, 7, 0);
    assert_false(large.bit_exact);
    assert_int_equal(large.size, 126);
}

/* --- Classic Bloom --- */

/* The expectation of (X / m)^k over the number X of set bits after n * k balls. */
static double occupancy_rate(uint32_t n, uint32_t m, uint32_t k)
{
    double *p = bb_must_alloc_zeroed((m + 2) * sizeof(p[0]));
    p[0] = 1;
    for (uint32_t ball = 0; ball < n * k; ball++)
        for (uint32_t x = m; x + 1 > 0; x--)
            p[x] = p[x] * x / m + (x > 0 ? p[x - 1] * (m - x + 1) / m : 0);
    double rate = 0;
    for (uint32_t x = 0; x <= m; x++)
        rate += p[x] * pow((double)x / m, k);
    free(p);
    return rate;
}

static void rate__bloom_agrees_with_the_distribution_of_set_bits(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, m, k;
    } cells[] = {{0, 10, 3},     {1, 1, 1},    {1, 10, 7},     {2, 13, 5},    {20, 194, 6},
                 {20, 320, 11},  {64, 614, 7}, {65, 623, 7},   {100, 967, 7}, {100, 1600, 11},
                 {70, 2450, 24}, {200, 97, 1}, {300, 2880, 7}, {66, 1000, 3}, {80, 300, 5}};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(cells); i++)
        assert_close(bb_rate_bloom(cells[i].n, cells[i].m, cells[i].k),
                     occupancy_rate(cells[i].n, cells[i].m, cells[i].k), 1e-5);
    /* The first that is not computed exactly, at the most probes of a target. */
    assert_close(bb_rate_bloom(25, 890, 25), occupancy_rate(25, 890, 25), 1e-4);
    assert_close(bb_rate_bloom(25, 245, 7), occupancy_rate(25, 245, 7), 1e-6);
    assert_close(bb_rate_bloom(20, 194, 6), 0.0100, 0.01); /* 0.00963 in the textbook */
}

static void rate__bloom_agrees_with_the_textbook_for_many_keys(void **state)
{
    (void)state;
    for (uint64_t n = 1000000; n <= BB_FILTER_KEY_COUNT_MAX; n *= 64) {
        double textbook = pow(-expm1(-7.0 / 9.6), 7);
        assert_close(bb_rate_bloom(n, n * 96 / 10, 7), textbook, 30.0 / (double)n);
    }
}

static void rate__bloom_sizes_meet_targets_without_holes(void **state)
{
    (void)state;
    for (int i = 0; i < TARGET_COUNT; i += 4) {
        double target = target_of(i);
        uint32_t probes = bb_rate_bloom_probes(target);
        uint64_t previous = 0;
        for (uint64_t n = 0; n <= 4096; n++) {
            uint64_t bits = bb_rate_bloom_bits(n, probes, target);
            assert_true(bits >= 1 && bits >= previous);
            assert_true(bb_rate_bloom(n, bits, probes) <= target);
            assert_true(bits == 1 || bb_rate_bloom(n, bits - 1, probes) > target);
            previous = bits;
        }
    }
}

static void rate__bloom_sizes_are_monotone_in_the_target(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 5, 9, 17, 30, 64, 65, 100, 1000, 4096};
    for (size_t c = 0; c < BB_ARRAY_LENGTH(counts); c++) {
        uint64_t previous = 0;
        for (int i = 0; i < TARGET_COUNT; i++) {
            uint64_t bits = 0;
            uint32_t probes = bb_rate_bloom_best_probes(counts[c], target_of(i), &bits);
            assert_true(bb_rate_bloom(counts[c], bits, probes) <= target_of(i));
            assert_true(bits >= previous);
            previous = bits;
        }
    }
}

static void rate__bloom_best_probes_are_the_best(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 5, 9, 17, 30, 64, 300};
    for (size_t c = 0; c < BB_ARRAY_LENGTH(counts); c++)
        for (int i = 0; i < TARGET_COUNT; i += 4) {
            uint64_t bits = 0;
            bb_rate_bloom_best_probes(counts[c], target_of(i), &bits);
            for (uint32_t probes = 1; probes <= BB_BLOOM_PROBES_MAX; probes++)
                assert_true(bb_rate_bloom_bits(counts[c], probes, target_of(i)) >= bits);
        }
}

static void rate__bloom_costs_44_percent_over_the_limit(void **state)
{
    (void)state;
    uint64_t bits = 0;
    assert_int_equal(bb_rate_bloom_best_probes(1000000, 0.01, &bits), 7);
    assert_close((double)bits / 1e6, 9.585, 1e-3);
}

/* --- Blocked Bloom --- */

static void rate__line_agrees_with_the_distribution_of_set_bits(void **state)
{
    (void)state;
    struct bb_rate_line line;
    static const uint32_t probes[] = {1, 6, 7, 13};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(probes); i++) {
        bb_rate_line_init(&line, probes[i], UINT64_MAX);
        assert_true(line.rate[0] == 0);
        for (uint32_t keys = 1; keys < 200; keys += 33)
            assert_close(line.rate[keys], occupancy_rate(keys, BB_LINE_BITS, probes[i]), 1e-9);
    }
}

static void rate__blocked_bloom_is_the_binomial_mixture(void **state)
{
    (void)state;
    struct bb_rate_line line;
    bb_rate_line_init(&line, 7, UINT64_MAX);
    assert_close(bb_rate_blocked_bloom(&line, 30, 1), line.rate[30], 1e-12);
    /* Two lines and three keys: 1/8, 3/8, 3/8, 1/8. */
    double mixture = (3 * line.rate[1] + 3 * line.rate[2] + line.rate[3]) / 8;
    assert_close(bb_rate_blocked_bloom(&line, 3, 2), mixture, 1e-12);
    assert_close(bb_rate_blocked_bloom(&line, 0, 5), 0, 0);
    assert_true(bb_rate_blocked_bloom(&line, 1000000, 10) == 1);
    /* 10 bits per key: published values for lines of 512 bits are 1.14 to 1.2 times the classic. */
    double blocked = bb_rate_blocked_bloom(&line, 51200000, 1000000);
    assert_close(blocked / pow(-expm1(-0.7), 7), 1.17, 0.05);
}

static void rate__blocked_bloom_sizes_meet_targets_without_holes(void **state)
{
    (void)state;
    struct bb_rate_line line;
    for (int i = 0; i < TARGET_COUNT; i += 4) {
        double target = target_of(i);
        uint64_t previous = 0;
        bb_rate_line_init(&line, bb_rate_blocked_bloom_probes(target), UINT64_MAX);
        for (uint64_t n = 0; n <= 4096; n++) {
            uint64_t lines = bb_rate_blocked_bloom_lines(&line, n, target);
            assert_true(lines >= 1 && lines >= previous);
            assert_true(bb_rate_blocked_bloom(&line, n, lines) <= target);
            assert_true(lines == 1 || bb_rate_blocked_bloom(&line, n, lines - 1) > target);
            previous = lines;
        }
    }
}

static void rate__blocked_bloom_probes_need_the_fewest_lines(void **state)
{
    (void)state;
    struct bb_rate_line line;
    const uint64_t n = 10000000;
    for (int i = 0; i < TARGET_COUNT; i += 5) {
        uint32_t best = bb_rate_blocked_bloom_probes(target_of(i));
        bb_rate_line_init(&line, best, UINT64_MAX);
        double lines = (double)bb_rate_blocked_bloom_lines(&line, n, target_of(i));
        for (uint32_t other = best > 1 ? best - 1 : 1; other <= best + 1; other++) {
            bb_rate_line_init(&line, other, UINT64_MAX);
            /* The thresholds are rounded: a tie may go either way. */
            assert_true((double)bb_rate_blocked_bloom_lines(&line, n, target_of(i)) >=
                        lines * 0.998);
        }
    }
}

static void rate__blocked_bloom_best_probes_are_the_best(void **state)
{
    (void)state;
    struct bb_rate_line line;
    static const uint64_t counts[] = {1, 2, 9, 20, 30, 64, 100, 300, 1000, 100000};
    for (size_t c = 0; c < BB_ARRAY_LENGTH(counts); c++)
        for (int i = 0; i < TARGET_COUNT; i += 5) {
            uint64_t lines = 0;
            uint32_t best = bb_rate_blocked_bloom_best_probes(counts[c], target_of(i), &lines);
            for (uint32_t probes = 1; probes <= BB_BLOOM_PROBES_MAX; probes += 1 + probes / 9) {
                bb_rate_line_init(&line, probes, counts[c]);
                uint64_t other = bb_rate_blocked_bloom_lines(&line, counts[c], target_of(i));
                assert_true(probes == best ? other == lines : other >= lines);
            }
        }
}

/* The steps of the table of probes are at multiples of 0.05 bits: no other values change there. */
static void rate__blocked_bloom_sizes_do_not_shrink_where_probes_change(void **state)
{
    (void)state;
    for (int step = 21; step < 480; step++) {
        uint64_t before = 0, after = 0;
        bb_rate_blocked_bloom_best_probes(10000000, exp2(-0.05 * step + 1e-10), &before);
        bb_rate_blocked_bloom_best_probes(10000000, exp2(-0.05 * step - 1e-10), &after);
        assert_true(after >= before && after <= before + before / 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate__limit_is_the_information_in_a_rejection),
        cmocka_unit_test(rate__ribbon_bits_are_the_last_that_do_not_undercut),
        cmocka_unit_test(rate__ribbon_shapes_are_monotone_and_hold_their_keys),
        cmocka_unit_test(rate__ribbon_shapes_can_grow_once),
        cmocka_unit_test(rate__ribbon_slack_is_what_was_asked_for),
        cmocka_unit_test(rate__ribbon_layout_is_the_smaller_one),
        cmocka_unit_test(rate__bloom_agrees_with_the_distribution_of_set_bits),
        cmocka_unit_test(rate__bloom_agrees_with_the_textbook_for_many_keys),
        cmocka_unit_test(rate__bloom_sizes_meet_targets_without_holes),
        cmocka_unit_test(rate__bloom_sizes_are_monotone_in_the_target),
        cmocka_unit_test(rate__bloom_best_probes_are_the_best),
        cmocka_unit_test(rate__bloom_costs_44_percent_over_the_limit),
        cmocka_unit_test(rate__line_agrees_with_the_distribution_of_set_bits),
        cmocka_unit_test(rate__blocked_bloom_is_the_binomial_mixture),
        cmocka_unit_test(rate__blocked_bloom_sizes_meet_targets_without_holes),
        cmocka_unit_test(rate__blocked_bloom_probes_need_the_fewest_lines),
        cmocka_unit_test(rate__blocked_bloom_best_probes_are_the_best),
        cmocka_unit_test(rate__blocked_bloom_sizes_do_not_shrink_where_probes_change),
    };
    keys_init("rate");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
