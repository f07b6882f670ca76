/* Goal: however the bits are split, the two rates multiply to the whole, both can be built, and the
 * blocks' bits are a whole number. Method: rates and wishes all over their ranges. */
#include "tests/support/assert_status.h"

#include <math.h>

#include "sstable/filter/filter_split.h"

static bool is_rate(double rate)
{
    return rate == 1 || (rate >= BB_FILTER_RATE_MIN && rate <= BB_FILTER_RATE_MAX);
}

static void filter_split__every_rate(void **state)
{
    (void)state;
    for (double rate = BB_FILTER_RATE_MAX; rate >= BB_FILTER_RATE_MIN; rate *= 0.93)
        for (double bits = BB_TABLE_FILTER_BITS_MIN; bits <= BB_TABLE_FILTER_BITS_MAX;
             bits += 0.25) {
            struct bb_filter_split split = bb_filter_split(rate, bits);
            assert_true(split.table_filter_rate * split.block_rate == rate);
            assert_true(rate / split.table_filter_rate == split.block_rate);
            assert_true(is_rate(split.table_filter_rate) && is_rate(split.block_rate));
            assert_true(split.table_filter_rate < 1);
            double block_bits = -log2(split.block_rate);
            assert_true(block_bits == floor(block_bits));
            assert_true(block_bits == 0 || block_bits >= BB_BLOCK_FILTER_BITS_MIN);
            double table_filter_bits = -log2(split.table_filter_rate);
            if (block_bits > 0 && bits > 2)
                assert_true(fabs(table_filter_bits - bits) <= 0.5 + 1e-9);
        }
}

static void assert_possible(double rate, double bits)
{
    struct bb_filter_split split = bb_filter_split(rate, bits);
    assert_true(split.table_filter_rate * split.block_rate == rate);
    assert_true(is_rate(split.table_filter_rate) && is_rate(split.block_rate));
}

/* There the logarithm is rounded to a whole number of bits. */
static void filter_split__beside_powers_of_two(void **state)
{
    (void)state;
    for (int power = 2; power < 24; power++)
        for (double bits = BB_TABLE_FILTER_BITS_MIN; bits <= BB_TABLE_FILTER_BITS_MAX;
             bits += 0.25) {
            double rate = ldexp(1, -power);
            assert_possible(nextafter(rate, 0), bits);
            assert_possible(rate, bits);
            assert_possible(nextafter(rate, 1), bits);
        }
}

static void assert_split(double rate, double bits, double table_filter_rate, double block_rate)
{
    struct bb_filter_split split = bb_filter_split(rate, bits);
    assert_true(split.table_filter_rate == table_filter_rate);
    assert_true(split.block_rate == block_rate);
}

static void filter_split__known(void **state)
{
    (void)state;
    assert_split(0.01, 4, 0.08, 0.125);
    assert_split(0.01, 5, 0.04, 0.25);
    assert_split(0.01, 5.2, 0.01, 1); /* one bit remains */
    assert_split(0.01, 1, 0.32, 0.03125);
    assert_split(0.01, 24, 0.01, 1);
    assert_split(0.1, 4, 0.1, 1);
    assert_split(0.5, 1, 0.5, 1);
    assert_split(0x1p-8, 4, 0x1p-4, 0x1p-4);
    assert_split(BB_FILTER_RATE_MIN, 4, 0x1p-4, 0x1p-20);
    assert_split(BB_FILTER_RATE_MIN, BB_TABLE_FILTER_ALL, BB_FILTER_RATE_MIN, 1);
    assert_split(0.01, BB_TABLE_FILTER_NONE, 1, 0.01);
    assert_split(1, BB_TABLE_FILTER_NONE, 1, 1);
    assert_split(1, BB_TABLE_FILTER_ALL, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_split__every_rate),
        cmocka_unit_test(filter_split__beside_powers_of_two),
        cmocka_unit_test(filter_split__known),
    };
    return cmocka_run_group_tests_name("filter_split", tests, NULL, NULL);
}
