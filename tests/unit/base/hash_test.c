/* Goal: the key hash and the checksum never change, because files keep them forever; secrets have
 * the documented values. Method: fixed values at every length where XXH3 changes its algorithm, and
 * agreement with the separately built shared library at every length to 1100, for each form that
 * the processor has; the statistics of the helpers over random numbers. */
#include "tests/support/assert_status.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/hash_wide.h"
#include "tests/support/rng.h"

#define INPUT_SIZE 1100

static void fill_input(uint8_t input[INPUT_SIZE])
{
    for (size_t i = 0; i < INPUT_SIZE; i++)
        input[i] = (uint8_t)(i * 7 + 3);
}

static void hash__values_are_pinned(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        uint64_t bytes;
        uint64_t key; /* under the secret from seed 42 */
    } cases[] = {
        {0, UINT64_C(0x2d06800538d394c2), UINT64_C(0xe89cde0de9282c31)},
        {1, UINT64_C(0x13e608bc156defed), UINT64_C(0x703e9f7a59364f79)},
        {3, UINT64_C(0xa9088dda485b481c), UINT64_C(0x4b4cf856e092c618)},
        {4, UINT64_C(0x6d9253b16c8b1ed3), UINT64_C(0x918ead4be0c9eb3d)},
        {8, UINT64_C(0x60539db630471163), UINT64_C(0xb9fb29c4bd56cbd7)},
        {9, UINT64_C(0xfeff668361d723a8), UINT64_C(0x894fd6e7b1fbb0bb)},
        {16, UINT64_C(0xb8c859b0f030b585), UINT64_C(0x5cc4a6bc59f5cad6)},
        {17, UINT64_C(0x714a04408e79b80f), UINT64_C(0x63dd354b2609dfe8)},
        {128, UINT64_C(0x67425a03650261bf), UINT64_C(0x59e2bacf1dbb7894)},
        {129, UINT64_C(0xc664bf3311c6abc4), UINT64_C(0x35ac891fb1557c0f)},
        {240, UINT64_C(0x64556dc6b462a6cf), UINT64_C(0x921b3cb53444e4ed)},
        {241, UINT64_C(0x8beadd3a8874fe17), UINT64_C(0xa1528af63293d8eb)},
        {512, UINT64_C(0xf58202b8d9019d1d), UINT64_C(0x172dc655a50eb63e)},
        {1000, UINT64_C(0x6c4f14bd97bd9e82), UINT64_C(0x6c0ae397733a8e69)},
    };
    uint8_t input[INPUT_SIZE];
    fill_input(input);
    struct bb_hash_secret secret;
    bb_hash_secret_from_seed(42, &secret);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(bb_hash_bytes(input, cases[i].size) == cases[i].bytes);
        assert_true(bb_hash_key(&secret, bb_bytes_of(input, cases[i].size)) == cases[i].key);
    }
}

static void hash__agrees_with_the_library_at_every_length(void **state)
{
    struct bb_rng *rng = *state;
    for (size_t size = 0; size <= INPUT_SIZE; size++) {
        uint8_t *input =
            malloc(size == 0 ? 1 : size); /* exact: the sanitizer sees a wide load past the end */
        assert_non_null(input);
        bb_rng_bytes(rng, input, size);
        struct bb_hash_secret secret;
        bb_hash_secret_from_seed(size, &secret);
        uint64_t expected = XXH3_64bits_withSecret(input, size, secret.bytes, BB_HASH_SECRET_SIZE);
        assert_true(bb_hash_key(&secret, bb_bytes_of(input, size)) == expected);
        assert_true(bb_hash_bytes(input, size) == XXH3_64bits(input, size));
        free(input);
    }
    assert_true(bb_hash_bytes(NULL, 0) == XXH3_64bits("", 0));
}

#if BB_HASH_WIDE
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f");
}

/* Lengths around the stripes of 64 bytes and the blocks of 1,024; at every alignment. */
static void check_form(uint64_t (*hash)(const void *data, size_t size), struct bb_rng *rng)
{
    for (size_t size = 0; size <= 3 * INPUT_SIZE; size += size < INPUT_SIZE ? 1 : 13) {
        size_t skipped = size % 64;
        uint8_t *input = malloc(skipped + size + (size == 0)); /* exact, as above */
        assert_non_null(input);
        bb_rng_bytes(rng, input, skipped + size);
        assert_true(hash(input + skipped, size) == XXH3_64bits(input + skipped, size));
        free(input);
    }
}

static void hash__wide_forms_agree_with_the_library(void **state)
{
    static const struct {
        bool (*is_there)(void);
        uint64_t (*hash)(const void *data, size_t size);
    } forms[] = {{has_avx2, bb_hash_bytes_avx2}, {has_avx512, bb_hash_bytes_avx512}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (forms[i].is_there())
            check_form(forms[i].hash, *state);
        else
            print_message("form %zu: not on this processor\n", i);
    }
}
#endif

static void hash__secret_from_seed_is_splitmix64(void **state)
{
    (void)state;
    /* First numbers of the published generator for seeds 0 and 42. */
    static const uint8_t seed_0[] = {0xaf, 0xcd, 0x1d, 0x7b, 0x39, 0xa8,
                                     0x20, 0xe2, 0xf4, 0x65, 0xb9, 0xa1};
    static const uint8_t seed_42[] = {0x95, 0x6e, 0xeb, 0x2f, 0x26, 0x32,
                                      0xd7, 0xbd, 0x03, 0xf1, 0x66, 0xb2};
    struct bb_hash_secret secret;
    bb_hash_secret_from_seed(0, &secret);
    assert_memory_equal(secret.bytes, seed_0, sizeof(seed_0));
    bb_hash_secret_from_seed(42, &secret);
    assert_memory_equal(secret.bytes, seed_42, sizeof(seed_42));
}

static void hash__another_secret_is_another_hash(void **state)
{
    (void)state;
    struct bb_hash_secret a;
    struct bb_hash_secret b;
    bb_hash_secret_from_seed(1, &a);
    bb_hash_secret_from_seed(2, &b);
    size_t equal = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        struct bb_bytes key = bb_bytes_of(&i, sizeof(i));
        equal += bb_hash_key(&a, key) == bb_hash_key(&b, key);
    }
    assert_int_equal(equal, 0);
}

static void hash__random_secrets_differ(void **state)
{
    (void)state;
    struct bb_hash_secret a = {{0}};
    struct bb_hash_secret b = {{0}};
    assert_ok(bb_hash_secret_random(&a));
    assert_ok(bb_hash_secret_random(&b));
    /* Every eighth of each is its own: a generator that fills only a part is found. */
    for (size_t i = 0; i < BB_HASH_SECRET_SIZE; i += BB_HASH_SECRET_SIZE / 8)
        assert_memory_not_equal(a.bytes + i, b.bytes + i, BB_HASH_SECRET_SIZE / 8);
}

static uint64_t unmix(uint64_t x)
{
    const uint64_t inverse = UINT64_C(0xcfee444d8b59a89b); /* of the multiplier, modulo 2^64 */
    for (int step = 0; step < 2; step++) {
        x ^= x >> 32;
        x *= inverse;
    }
    return x ^ x >> 32;
}

static void hash__mix_is_a_bijection_that_spreads_every_bit(void **state)
{
    struct bb_rng *rng = *state;
    for (unsigned bit = 0; bit < 64; bit++) {
        unsigned changed = 0;
        for (int round = 0; round < 200; round++) {
            uint64_t x = bb_rng_next(rng);
            assert_true(unmix(bb_hash_mix(x)) == x);
            assert_true(bb_hash_unmix(bb_hash_mix(x)) == x);
            changed += (unsigned)__builtin_popcountll(bb_hash_mix(x) ^
                                                      bb_hash_mix(x ^ UINT64_C(1) << bit));
        }
        /* 32 of 64 bits on average; 200 rounds of standard deviation 4 give 0.28, so 2 is 7 of
         * them. */
        assert_in_range(changed, 200 * 30, 200 * 34);
    }
}

static void hash__range_is_bounded_and_even(void **state)
{
    struct bb_rng *rng = *state;
    assert_int_equal(bb_hash_range(UINT64_MAX, 1), 0);
    assert_int_equal(bb_hash_range(UINT64_MAX, 1000), 999);
    assert_int_equal(bb_hash_range(0, 1000), 0);
    assert_int_equal(bb_hash_range(UINT64_MAX, UINT32_MAX), UINT32_MAX - 1);

    uint32_t counts[10] = {0};
    for (int i = 0; i < 100000; i++)
        counts[bb_hash_range(bb_rng_next(rng), 10)]++;
    for (size_t i = 0; i < 10; i++) /* standard deviation 95 */
        assert_in_range(counts[i], 10000 - 700, 10000 + 700);
}

int main(void)
{
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("hash_test", 5));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash__values_are_pinned),
        cmocka_unit_test_prestate(hash__agrees_with_the_library_at_every_length, &rng),
#if BB_HASH_WIDE
        cmocka_unit_test_prestate(hash__wide_forms_agree_with_the_library, &rng),
#endif
        cmocka_unit_test(hash__secret_from_seed_is_splitmix64),
        cmocka_unit_test(hash__another_secret_is_another_hash),
        cmocka_unit_test(hash__random_secrets_differ),
        cmocka_unit_test_prestate(hash__mix_is_a_bijection_that_spreads_every_bit, &rng),
        cmocka_unit_test_prestate(hash__range_is_bounded_and_even, &rng),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
