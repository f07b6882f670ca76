/* Goal: the partitioned Bloom filter rules out no member, uses exactly its bits, sets one bit of
 * each slice per key, and passes non-member keys at the exact rate, also in very small sets.
 * Method: all members probed for many widths; memory after the last bit guarded; the mean over many
 * small filters compared with rate.h. */
#include "tests/support/filter_keys.h"
#include "tests/support/guarded.h"

#include "bloomblock/bloom/bloom.h"
#include "standalone/bloom/partitioned_bloom.h"
#include "standalone/sizing/rate_partitioned.h"

static void partitioned_bloom__no_member_is_denied(void **state)
{
    (void)state;
    static const uint8_t zeros[16384];
    for (uint32_t probes = 1; probes <= BB_BLOOM_PROBES_MAX; probes += 1 + probes / 5)
        for (uint64_t width = 1; width < 1000; width += 1 + width / 3) {
            struct guarded bits = guarded_copy(zeros, bb_bloom_size(width * probes));
            uint64_t n = width / 2 + 2;
            for (uint64_t i = 0; i < n; i++)
                bb_partitioned_bloom_add(bits.data, width, probes, member_hash(width, i));
            for (uint64_t i = 0; i < n; i++)
                assert_true(bb_partitioned_bloom_may_contain(bits.data, width, probes,
                                                             member_hash(width, i)));
            guarded_free(&bits);
        }
}

static bool is_set(const uint8_t *bits, uint64_t bit)
{
    return (bits[bit / 8] >> (bit % 8) & 1) != 0;
}

static void partitioned_bloom__a_key_sets_a_bit_of_each_slice(void **state)
{
    (void)state;
    static const uint32_t probes = 7;
    for (uint64_t width = 1; width < 100; width++) {
        uint8_t bits[100] = {0};
        bb_partitioned_bloom_add(bits, width, probes, member_hash(width, 0));
        for (uint32_t slice = 0; slice < probes; slice++) {
            uint32_t count = 0;
            for (uint64_t i = 0; i < width; i++)
                count += is_set(bits, slice * width + i);
            assert_int_equal(count, 1);
        }
        assert_int_equal(bb_bloom_set_count(bits, sizeof(bits)), probes);
        double rate = bb_partitioned_bloom_rate(bits, width, probes);
        assert_true(fabs(rate / pow(1 / (double)width, probes) - 1) < 1e-12);
    }
}

static void assert_exact_rate(uint64_t key_count, uint64_t width, uint32_t probes)
{
    static uint8_t bits[4096];
    double predicted = 0, squares = 0;
    uint64_t passed = 0;
    const uint64_t filters = 3000, questions = 100;
    for (uint64_t f = 0; f < filters; f++) {
        memset(bits, 0, sizeof(bits));
        for (uint64_t i = 0; i < key_count; i++)
            bb_partitioned_bloom_add(bits, width, probes, member_hash(f, i));
        double rate = bb_partitioned_bloom_rate(bits, width, probes);
        predicted += rate;
        squares += rate * rate;
        for (uint64_t i = 0; i < questions; i++)
            passed += bb_partitioned_bloom_may_contain(bits, width, probes,
                                                       absent_hash(f * questions + i));
    }
    double mean = predicted / (double)filters;
    double deviation = sqrt(squares / (double)filters - mean * mean) / sqrt((double)filters);
    double exact = bb_rate_partitioned(key_count, width, probes);
    if (fabs(mean - exact) > BAND * deviation) {
        print_error("n=%llu w=%llu k=%u: mean rate of the set bits %.6g, exact %.6g\n",
                    (unsigned long long)key_count, (unsigned long long)width, probes, mean, exact);
        fail();
    }
    assert_rate(passed, filters * questions, mean, "non-member keys against set bits");
}

static void partitioned_bloom__rate_is_exact_in_small_filters(void **state)
{
    (void)state;
    assert_exact_rate(1, 3, 2);
    assert_exact_rate(7, 10, 6);
    assert_exact_rate(20, 28, 7);
    assert_exact_rate(20, 29, 11);
    assert_exact_rate(100, 137, 7);
    assert_exact_rate(300, 411, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitioned_bloom__no_member_is_denied),
        cmocka_unit_test(partitioned_bloom__a_key_sets_a_bit_of_each_slice),
        cmocka_unit_test(partitioned_bloom__rate_is_exact_in_small_filters),
    };
    keys_init("partitioned_bloom");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
