/* Goal: the mathematics of the kinds that are only standalone is right, and their sizes keep the
 * targets without holes. Method: published and manually computed values; every size at n = 0 ...
 * 4096 over a grid of targets down to 2^-24. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "bloomblock/sizing/rate.h"
#include "standalone/sizing/rate_partitioned.h"
#include "standalone/sizing/rate_split_block.h"

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

/* --- Partitioned Bloom --- */

static void rate__partitioned_is_a_product_of_slices(void **state)
{
    (void)state;
    assert_close(bb_rate_partitioned(1, 10, 3), 1e-3, 1e-12);
    assert_close(bb_rate_partitioned(2, 10, 1), 0.19, 1e-12);
    assert_close(bb_rate_partitioned(5, 1, 4), 1, 0);
    assert_close(bb_rate_partitioned(0, 1, 4), 0, 0);
    /* Many keys: the textbook. A little above the classic filter for few. */
    assert_close(bb_rate_partitioned(1000000, 10000000 / 7, 7), pow(-expm1(-0.7), 7), 1e-5);
    assert_true(bb_rate_partitioned(30, 290 / 7 + 1, 7) > bb_rate_bloom(30, 294, 7));
}

static void rate__partitioned_sizes_meet_targets_without_holes(void **state)
{
    (void)state;
    for (int i = 0; i < TARGET_COUNT; i += 4) {
        double target = target_of(i);
        uint64_t previous = 0;
        for (uint64_t n = 0; n <= 4096; n += 1 + n / 64) {
            uint64_t width = 0;
            uint32_t probes = bb_rate_partitioned_best_probes(n, target, &width);
            assert_true(bb_rate_partitioned(n, width, probes) <= target);
            assert_true(width == 1 || bb_rate_partitioned(n, width - 1, probes) > target);
            assert_true(width * probes >= previous);
            previous = width * probes;
            assert_true(n == 0 || (double)previous >= (double)n * bb_rate_limit(target));
        }
    }
}

/* --- Split-block Bloom --- */

static void rate__split_block_is_the_binomial_mixture(void **state)
{
    (void)state;
    double one = ldexp(1, -40), two = pow(1 - 31.0 * 31 / 1024, 8);
    assert_close(bb_rate_split_block(1, 1), one, 1e-12);
    assert_close(bb_rate_split_block(2, 1), two, 1e-12);
    assert_close(bb_rate_split_block(2, 4), 6.0 / 16 * one + 1.0 / 16 * two, 1e-12);
    assert_close(bb_rate_split_block(0, 3), 0, 0);
    assert_true(bb_rate_split_block(1000000, 10) == 1);
    /* The table of the format's page and of other studies, from 4 to 41 bits per key. */
    assert_close(bb_rate_split_block(64000000, 1000000), 0.326, 2e-3);
    assert_close(bb_rate_split_block(25600000, 1000000), 0.0126, 5e-3);
    assert_close(bb_rate_split_block(16000000, 1000000), 0.00132, 5e-3);
}

static void rate__split_block_sizes_meet_targets_without_holes(void **state)
{
    (void)state;
    for (int i = 0; i < TARGET_COUNT; i += 8) {
        double target = target_of(i);
        uint64_t previous = 0;
        for (uint64_t n = 0; n <= 4096; n += 1 + n / 64) {
            uint64_t blocks = bb_rate_split_block_count(n, target);
            assert_true(blocks >= 1 && blocks >= previous);
            assert_true(bb_rate_split_block(n, blocks) <= target);
            assert_true(blocks == 1 || bb_rate_split_block(n, blocks - 1) > target);
            previous = blocks;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate__partitioned_is_a_product_of_slices),
        cmocka_unit_test(rate__partitioned_sizes_meet_targets_without_holes),
        cmocka_unit_test(rate__split_block_is_the_binomial_mixture),
        cmocka_unit_test(rate__split_block_sizes_meet_targets_without_holes),
    };
    keys_init("rate_kinds");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
