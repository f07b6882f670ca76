/* Goal: the classic Bloom filter rules out no member, uses exactly its bits, and passes non-member
 * keys at the exact rate, also for a handful of keys, where double hashing fails. Method: all
 * members probed for exact and odd numbers of bits; memory after the last bit guarded; the mean
 * share of passed keys over many small filters compared with rate.h. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bloomblock/bloom/bloom.h"
#include "bloomblock/sizing/rate.h"

static void bloom__no_member_is_denied(void **state)
{
    (void)state;
    static uint8_t bits[4096];
    for (uint32_t probes = 1; probes <= BB_BLOOM_PROBES_MAX; probes++)
        for (uint64_t bit_count = 1; bit_count < 3000; bit_count += 1 + bit_count / 3) {
            uint64_t n = bit_count / probes + 2;
            memset(bits, 0, sizeof(bits));
            for (uint64_t i = 0; i < n; i++)
                bb_bloom_add(bits, bit_count, probes, member_hash(bit_count, i));
            for (uint64_t i = 0; i < n; i++)
                assert_true(
                    bb_bloom_may_contain(bits, bit_count, probes, member_hash(bit_count, i)));
        }
}

static void bloom__bits_after_the_last_are_not_touched(void **state)
{
    (void)state;
    static const uint8_t zeros[64];
    for (uint64_t bit_count = 1; bit_count <= 512; bit_count++) {
        size_t size = bb_bloom_size(bit_count);
        struct guarded bits = guarded_copy(zeros, size);
        for (uint64_t i = 0; i < 300; i++)
            bb_bloom_add(bits.data, bit_count, 5, member_hash(0, i));
        assert_int_equal(bb_bloom_set_count(bits.data, size),
                         bit_count < 100 ? bit_count : bb_bloom_set_count(bits.data, size));
        if (bit_count % 8 != 0)
            assert_int_equal(bits.data[size - 1] >> (bit_count % 8), 0);
        guarded_free(&bits);
    }
}

static void assert_exact_rate(uint64_t key_count, uint64_t bit_count, uint32_t probes)
{
    static uint8_t bits[4096];
    double predicted = 0, squares = 0;
    uint64_t passed = 0;
    const uint64_t filters = 3000, questions = 100;
    for (uint64_t f = 0; f < filters; f++) {
        memset(bits, 0, sizeof(bits));
        for (uint64_t i = 0; i < key_count; i++)
            bb_bloom_add(bits, bit_count, probes, member_hash(f, i));
        double fill = (double)bb_bloom_set_count(bits, bb_bloom_size(bit_count));
        double rate = pow(fill / (double)bit_count, probes);
        predicted += rate;
        squares += rate * rate;
        for (uint64_t i = 0; i < questions; i++)
            passed += bb_bloom_may_contain(bits, bit_count, probes, absent_hash(f * questions + i));
    }
    double mean = predicted / (double)filters;
    double deviation = sqrt(squares / (double)filters - mean * mean) / sqrt((double)filters);
    double exact = bb_rate_bloom(key_count, bit_count, probes);
    if (fabs(mean - exact) > BAND * deviation) {
        print_error("n=%llu m=%llu k=%u: mean rate of the set bits %.6g, exact %.6g\n",
                    (unsigned long long)key_count, (unsigned long long)bit_count, probes, mean,
                    exact);
        fail();
    }
    assert_rate(passed, filters * questions, mean, "non-member keys against set bits");
}

static void bloom__probes_are_independent_in_small_filters(void **state)
{
    (void)state;
    assert_exact_rate(20, 194, 6);
    assert_exact_rate(20, 320, 11); /* double hashing modulo m: 11 times the rate */
    assert_exact_rate(7, 67, 7);
    assert_exact_rate(100, 1600, 11);
    assert_exact_rate(100, 145, 1);
    assert_exact_rate(300, 2876, 7);
}

static void bloom__set_count_counts_every_byte(void **state)
{
    (void)state;
    uint8_t bytes[40];
    memset(bytes, 0x81, sizeof(bytes));
    for (size_t size = 0; size <= sizeof(bytes); size++) {
        struct guarded copy = guarded_copy(bytes, size);
        assert_int_equal(bb_bloom_set_count(copy.data, size), 2 * size);
        guarded_free(&copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bloom__no_member_is_denied),
        cmocka_unit_test(bloom__bits_after_the_last_are_not_touched),
        cmocka_unit_test(bloom__probes_are_independent_in_small_filters),
        cmocka_unit_test(bloom__set_count_counts_every_byte),
    };
    keys_init("bloom");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
