/* Goal: the tests' random numbers are the same everywhere and reach every documented value. Method:
 * first numbers of the published generator; limits; counts over many draws. */
#include "tests/support/assert_status.h"

#include <string.h>

#include "tests/support/rng.h"

static void rng__stream_is_pinned(void **state)
{
    (void)state;
    /* xoshiro256** from the state 1, 2, 3, 4: the reference implementation's first numbers. */
    static const uint64_t expected[] = {UINT64_C(11520), UINT64_C(0), UINT64_C(1509978240),
                                        UINT64_C(1215971899390074240)};
    struct bb_rng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < 4; i++)
        assert_true(bb_rng_next(&rng) == expected[i]);
}

static void rng__ranges_are_reached_and_kept(void **state)
{
    (void)state;
    struct bb_rng rng;
    unsigned below[7] = {0};
    unsigned between[3] = {0};
    unsigned one_in = 0;
    bb_rng_init(&rng, 1);
    for (int i = 0; i < 7000; i++) {
        below[bb_rng_below(&rng, 7)]++;
        between[bb_rng_between(&rng, 10, 12) - 10]++;
        one_in += bb_rng_one_in(&rng, 10);
        assert_int_equal(bb_rng_below(&rng, 1), 0);
        assert_true(bb_rng_between(&rng, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
        assert_true(bb_rng_below(&rng, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63);
    }
    for (size_t i = 0; i < 7; i++)
        assert_in_range(below[i], 800, 1200);
    for (size_t i = 0; i < 3; i++)
        assert_in_range(between[i], 2000, 2700);
    assert_in_range(one_in, 550, 850);
}

static void rng__skewed_reaches_every_magnitude(void **state)
{
    (void)state;
    struct bb_rng rng;
    unsigned magnitudes[65] = {0};
    bb_rng_init(&rng, 2);
    for (int i = 0; i < 20000; i++) {
        uint64_t drawn = bb_rng_skewed(&rng, UINT64_MAX);
        magnitudes[drawn == 0 ? 0 : 64 - __builtin_clzll(drawn)]++;
        assert_true(bb_rng_skewed(&rng, 100) <= 100);
        assert_int_equal(bb_rng_skewed(&rng, 0), 0);
    }
    for (size_t i = 0; i <= 64; i++)
        assert_true(magnitudes[i] > 50);
}

static void rng__bytes_fill_to_the_last(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    for (size_t size = 0; size < 20; size++) {
        uint8_t seen[21] = {0};
        for (int i = 0; i < 20; i++) {
            uint8_t bytes[21] = {0};
            bb_rng_bytes(&rng, bytes, size);
            for (size_t j = 0; j < 21; j++)
                seen[j] |= bytes[j];
        }
        for (size_t j = 0; j < 21; j++)
            assert_int_equal(seen[j] != 0, j < size);
    }
}

static void rng__keys_repeat_and_are_bounded(void **state)
{
    (void)state;
    struct bb_rng rng;
    uint8_t key[64];
    unsigned empty = 0;
    unsigned full = 0;
    unsigned with_nul = 0;
    bb_rng_init(&rng, 4);
    for (int i = 0; i < 5000; i++) {
        size_t size_max = (size_t)bb_rng_below(&rng, sizeof(key) + 1);
        size_t size = bb_rng_key(&rng, key, size_max);
        assert_true(size <= size_max);
        empty += size == 0;
        full += size == size_max;
        with_nul += size > 0 && memchr(key, 0, size) != NULL;
    }
    assert_true(empty > 100 && full > 100 && with_nul > 100);
}

static void rng__shuffle_is_a_permutation(void **state)
{
    (void)state;
    struct bb_rng rng;
    uint32_t numbers[50];
    unsigned seen[50] = {0};
    unsigned moved = 0;
    bb_rng_init(&rng, 5);
    for (uint32_t i = 0; i < 50; i++)
        numbers[i] = i;
    bb_rng_shuffle(&rng, numbers, 50);
    for (uint32_t i = 0; i < 50; i++) {
        seen[numbers[i]]++;
        moved += numbers[i] != i;
    }
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(seen[i], 1);
    assert_true(moved > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rng__stream_is_pinned),
        cmocka_unit_test(rng__ranges_are_reached_and_kept),
        cmocka_unit_test(rng__skewed_reaches_every_magnitude),
        cmocka_unit_test(rng__bytes_fill_to_the_last),
        cmocka_unit_test(rng__keys_repeat_and_are_bounded),
        cmocka_unit_test(rng__shuffle_is_a_permutation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
