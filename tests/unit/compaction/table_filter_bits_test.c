/* Goal: table filters of small runs get more bits than those for the largest, if the runs have
 * them; for any runs, a lookup of an absent key passes about as many table filters per run as its
 * share of keys. Method: the formula at its limits; drawn stores; random runs. */
#include "tests/unit/compaction/drawing.h"

#include <math.h>

#include "compaction/rates/table_filter_bits.h"
#include "tests/support/rng.h"

static const struct bb_shape shape = {
    .level0_run_count = 4, .level1_size_bytes = 4 * DRAWN_BYTES, .level_size_ratio = 10};

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", found, expected);
}

static void table_filter_bits__of_a_run(void **state)
{
    (void)state;
    assert_near(bb_table_filter_bits(4, 1000, 1000, 0.01), 4);
    assert_near(bb_table_filter_bits(4, 1000, 125, 0.001), 7);
    assert_near(bb_table_filter_bits(2.5, 1000, 500, 0.001), 3.5);
    /* Within the bits of the run. */
    assert_near(bb_table_filter_bits(4, 1000, 125, 1.0 / 64), 6);
    assert_near(bb_table_filter_bits(4, 1000, 1000, 0.25), 2);
    assert_true(bb_table_filter_bits(4, 1000, 125, 1) == 0);
    /* A run larger than the previous largest. */
    assert_near(bb_table_filter_bits(4, 1000, 3000, 0.01), 4);
    assert_near(bb_table_filter_bits(4, 0, 10, 0.01), 4);
    assert_near(bb_table_filter_bits(4, 1000, 0, 0.01), 4);
    /* All bits for the largest: all for the others too. */
    assert_near(bb_table_filter_bits(24, 1000, 10, 0.01), -log2(0.01));
}

static double bits_in(const char *drawing, int level, uint64_t units, const struct bb_shape *of)
{
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, drawing);
    struct bb_rate_request request = {.levels = levels,
                                      .output_level = level,
                                      .output_keys = units * DRAWN_KEYS,
                                      .shape = of,
                                      .target = 0.01};
    double bits = bb_table_filter_bits_for_run(&request, 1e-6, 4);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
    return bits;
}

static void table_filter_bits__of_new_tables(void **state)
{
    (void)state;
    assert_near(bits_in("", 0, 1, &shape), 4);
    assert_near(bits_in("0: 3[a-z] 2[a-z]", 0, 1, &shape), 4);
    assert_near(bits_in("2: 1[a-z]*64", 0, 2, &shape), 4 + 5);
    assert_near(bits_in("0: 3[a-z]\n2: 1[a-z]*64", 0, 2, &shape), 4 + 5);
    /* A part of a level's run counts as the whole run. */
    assert_near(bits_in("1: 2[a-d]*3\n2: 1[a-z]*64", 1, 1, &shape), 4 + 4);
    assert_near(bits_in("2: 1[a-d]*64", 2, 64, &shape), 4);
    /* Level 1 will be the largest for as long as a new level 2 has less. */
    assert_near(bits_in("1: 2[a-z]*4", 2, 1, &shape), 4 + 2);
    assert_near(bits_in("", 3, 100, NULL), 4);
}

static void table_filter_bits__each_run_lets_pass_in_proportion(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("table_filter_bits__each_run_lets_pass_in_proportion", 2));
    for (int i = 0; i < 1000; i++) {
        double largest = (double)(1000 + bb_rng_below(&rng, 1000000));
        double run = largest * (double)(1 + bb_rng_below(&rng, 1000)) / 1000;
        double rate = 0.01 * run / largest;
        double bits = bb_table_filter_bits(4, largest, run, rate);
        assert_true(bits >= 4 && bits <= -log2(rate) + 1e-9);
        assert_near(exp2(-bits) / run, exp2(-4) / largest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_filter_bits__of_a_run),
        cmocka_unit_test(table_filter_bits__of_new_tables),
        cmocka_unit_test(table_filter_bits__each_run_lets_pass_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
