/* Goal: filters of fingerprints keep every member and the target rate while they grow, count their
 * members, and decode only bytes that they encode.
 * Method: the multiset of fingerprints compared with a plain list; rates measured with non-member
 * keys; every bit of an encoded filter flipped, and every length cut; every allocation failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "redis/fingerprint/bit_string.h"
#include "redis/fingerprint/fingerprint_coding.h"
#include "redis/server/redis_module.h"
#include "tests/redis/module_memory.h"
#include "tests/support/rng.h"

/* A uniform hash of a number. */
static uint64_t hash_of(uint64_t set, uint64_t i)
{
    uint64_t h = (set << 40 ^ i) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static struct bb_fingerprint_chain *chain_of(uint64_t capacity, double rate, uint32_t expansion,
                                             bool is_set)
{
    struct bb_fingerprint_options options = {.capacity = capacity,
                                             .rate = rate,
                                             .expansion = expansion,
                                             .is_set = is_set,
                                             .table_limit = BB_FINGERPRINT_CHAIN_TABLES_MAX};
    assert_true(bb_fingerprint_options_are_possible(&options));
    struct bb_fingerprint_chain *chain = bb_fingerprint_chain_create(&options);
    assert_non_null(chain);
    return chain;
}

static void add_members(struct bb_fingerprint_chain *chain, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        enum bb_fingerprint_outcome outcome = bb_fingerprint_chain_add(chain, hash_of(1, i));
        assert_true(outcome == BB_FINGERPRINT_ADDED || outcome == BB_FINGERPRINT_KNOWN);
    }
}

/* --- Strings of bits --- */

#define STRING_BITS_MAX 2048

static void set_bits(uint64_t *words, const uint8_t *bits, size_t count)
{
    memset(words, 0, STRING_BITS_MAX / 8);
    for (size_t i = 0; i < count; i++)
        words[i / 64] |= (uint64_t)bits[i] << (i % 64);
}

static void bit_string__changes_as_a_list_does(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("bit_string", 5));
    for (int turn = 0; turn < 4000; turn++) {
        uint8_t bits[STRING_BITS_MAX] = {0};
        uint64_t words[STRING_BITS_MAX / 64];
        uint64_t expected[STRING_BITS_MAX / 64];
        size_t size = 1 + (size_t)bb_rng_below(&rng, 400);
        uint32_t count = 1 + (uint32_t)bb_rng_below(&rng, BB_BIT_STRING_FIELD_MAX);
        size_t at = (size_t)bb_rng_below(&rng, size + 1);
        uint64_t value = bb_rng_next(&rng) & ((UINT64_C(1) << count) - 1);
        for (size_t i = 0; i < size; i++)
            bits[i] = (uint8_t)bb_rng_below(&rng, 2);
        set_bits(words, bits, size);
        memcpy(expected, words, sizeof(words));
        bb_bit_string_insert(words, size, at, count, value);
        assert_int_equal(bb_bit_string_get(words, at, count), value);
        memmove(bits + at + count, bits + at, size - at);
        for (uint32_t i = 0; i < count; i++)
            bits[at + i] = (uint8_t)(value >> i & 1);
        uint64_t inserted[STRING_BITS_MAX / 64];
        set_bits(inserted, bits, size + count);
        assert_memory_equal(words, inserted, sizeof(words));
        bb_bit_string_remove(words, size + count, at, count);
        assert_memory_equal(words, expected, sizeof(words));
    }
}

static void bit_string__finds_zeros_and_ones(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("bit_string_zeros", 6));
    for (int turn = 0; turn < 300; turn++) {
        uint8_t bits[STRING_BITS_MAX] = {0};
        uint64_t words[STRING_BITS_MAX / 64];
        uint64_t one_in = 1 + bb_rng_below(&rng, 20);
        for (size_t i = 0; i < 1000; i++)
            bits[i] = !bb_rng_one_in(&rng, one_in);
        set_bits(words, bits, 1000);
        uint64_t zeros = 0;
        for (size_t i = 0; i < 1000; i++) {
            uint64_t ones = 0;
            while (bits[i + ones] == 1)
                ones++;
            assert_int_equal(bb_bit_string_ones(words, i), ones);
            if (bits[i] == 0)
                assert_int_equal(bb_bit_string_after_zeros(words, ++zeros), i + 1);
        }
    }
}

/* --- Contents --- */

#define MODEL_KEYS 3000

/* Counts of a few hashes, as a plain array, over many additions and removals. */
static void chain__counts_like_a_list(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("chain_counts", 7));
    /* So low a rate that no two of the hashes have one fingerprint. */
    struct bb_fingerprint_chain *chain = chain_of(600, 1e-11, 2, false);
    uint32_t counts[MODEL_KEYS] = {0};
    uint64_t total = 0;
    for (int turn = 0; turn < 25000; turn++) {
        uint64_t key = bb_rng_below(&rng, MODEL_KEYS);
        uint64_t hash = hash_of(1, key);
        if (bb_rng_one_in(&rng, 2)) {
            assert_int_equal(bb_fingerprint_chain_add(chain, hash), BB_FINGERPRINT_ADDED);
            counts[key]++;
            total++;
        } else {
            assert_int_equal(bb_fingerprint_chain_remove(chain, hash), counts[key] > 0);
            total -= counts[key] > 0;
            counts[key] -= counts[key] > 0;
        }
        assert_int_equal(bb_fingerprint_chain_find(chain, hash), counts[key]);
    }
    for (uint64_t key = 0; key < MODEL_KEYS; key++)
        assert_int_equal(bb_fingerprint_chain_find(chain, hash_of(1, key)), counts[key]);
    assert_int_equal(bb_fingerprint_chain_totals(chain).count, total);
    bb_fingerprint_chain_destroy(chain);
    assert_int_equal(module_memory_live(), 0);
}

/* The measured rate is within four standard errors of the target or below it. */
static void expect_rate(uint64_t capacity, double rate, uint32_t expansion, uint64_t members)
{
    struct bb_fingerprint_chain *chain = chain_of(capacity, rate, expansion, true);
    add_members(chain, members);
    for (uint64_t i = 0; i < members; i++)
        assert_true(bb_fingerprint_chain_contains(chain, hash_of(1, i)));
    struct bb_fingerprint_totals totals = bb_fingerprint_chain_totals(chain);
    uint64_t passed = 0;
    const uint64_t probes = 60000;
    for (uint64_t i = 0; i < probes; i++)
        passed += bb_fingerprint_chain_contains(chain, hash_of(2, i));
    double measured = (double)passed / (double)probes;
    double margin = 4 * __builtin_sqrt(totals.rate / (double)probes);
    print_message("%u tables, %.2f bits per member, rate %.6f, predicted %.6f, target %.6f\n",
                  chain->table_count, 8 * (double)totals.memory / (double)totals.count, measured,
                  totals.rate, rate);
    assert_true(totals.rate <= rate);
    assert_true(measured <= totals.rate + margin);
    assert_true(measured >= totals.rate * 0.9 - margin);
    bb_fingerprint_chain_destroy(chain);
}

static void chain__keeps_its_rate(void **state)
{
    (void)state;
    expect_rate(100, 0.01, 2, 5000);
    expect_rate(10000, 0.01, 2, 40000);
    expect_rate(1000, 0.001, 1, 10000);
    expect_rate(20000, 0.25, 0, 20000);
    expect_rate(20000, 0.02, 0, 20000);
    expect_rate(7, 0.05, 4, 3000);
}

static void chain__of_fixed_size_is_full_at_its_capacity(void **state)
{
    (void)state;
    struct bb_fingerprint_chain *chain = chain_of(3, 0.01, 0, true);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(bb_fingerprint_chain_add(chain, hash_of(1, i)), BB_FINGERPRINT_ADDED);
    assert_int_equal(bb_fingerprint_chain_add(chain, hash_of(1, 0)), BB_FINGERPRINT_KNOWN);
    assert_int_equal(bb_fingerprint_chain_add(chain, hash_of(1, 3)), BB_FINGERPRINT_FULL);
    bb_fingerprint_chain_destroy(chain);
}

/* One item added over and over fills its shard, and then shards of new tables. */
static void chain__takes_one_item_many_times(void **state)
{
    (void)state;
    struct bb_fingerprint_chain *chain = chain_of(100000, 0.01, 1, false);
    for (uint64_t i = 0; i < 3 * BB_FINGERPRINT_SHARD_COUNT_MAX; i++)
        assert_int_equal(bb_fingerprint_chain_add(chain, 12345), BB_FINGERPRINT_ADDED);
    assert_int_equal(chain->table_count, 3);
    assert_int_equal(bb_fingerprint_chain_find(chain, 12345), 3 * BB_FINGERPRINT_SHARD_COUNT_MAX);
    bb_fingerprint_chain_destroy(chain);
}

static void chain__union_has_both(void **state)
{
    (void)state;
    struct bb_fingerprint_chain *first = chain_of(1000, 0.001, 2, true);
    struct bb_fingerprint_chain *second = chain_of(1000, 0.001, 2, true);
    add_members(first, 2500);
    for (uint64_t i = 2000; i < 9000; i++)
        bb_fingerprint_chain_add(second, hash_of(1, i));
    assert_int_equal(bb_fingerprint_chain_unite(first, second), BB_FINGERPRINT_ADDED);
    for (uint64_t i = 0; i < 9000; i++)
        assert_true(bb_fingerprint_chain_contains(first, hash_of(1, i)));
    bb_fingerprint_chain_destroy(first);
    bb_fingerprint_chain_destroy(second);
    assert_int_equal(module_memory_live(), 0);
}

static void options__beyond_the_limits_are_impossible(void **state)
{
    (void)state;
    struct bb_fingerprint_options options = {.capacity = 100, .rate = 0.01, .table_limit = 1};
    assert_true(bb_fingerprint_options_are_possible(&options));
    const double rates[] = {0, -1, 1, 2, 1e-15, __builtin_nan(""), __builtin_inf()};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        options.rate = rates[i];
        assert_false(bb_fingerprint_options_are_possible(&options));
    }
    options.rate = 0.01;
    options.capacity = 0;
    assert_false(bb_fingerprint_options_are_possible(&options));
    options.capacity = BB_FINGERPRINT_TABLE_CAPACITY_MAX + 1;
    assert_false(bb_fingerprint_options_are_possible(&options));
    options.capacity = BB_FINGERPRINT_TABLE_CAPACITY_MAX;
    assert_true(bb_fingerprint_options_are_possible(&options));
    options.rate = 1e-10;
    assert_false(bb_fingerprint_options_are_possible(&options));
}

/* --- Bytes --- */

struct encoded {
    uint8_t header[BB_FINGERPRINT_HEADER_SIZE];
    struct bb_buf chunks[64];
    size_t chunk_count;
};

static void encode(const struct bb_fingerprint_chain *chain, size_t size_max,
                   struct encoded *encoded)
{
    memset(encoded, 0, sizeof(*encoded));
    bb_fingerprint_coding_header(chain, encoded->header);
    uint64_t total = bb_fingerprint_chain_totals(chain).shard_count;
    for (uint64_t at = 0; at < total;) {
        struct bb_buf *chunk = &encoded->chunks[encoded->chunk_count++];
        assert_true(encoded->chunk_count <= 64);
        assert_int_equal(bb_fingerprint_coding_chunk(chain, at, size_max, chunk, &at), BB_OK);
    }
}

static void encoded_deinit(struct encoded *encoded)
{
    for (size_t i = 0; i < encoded->chunk_count; i++)
        bb_buf_deinit(&encoded->chunks[i]);
}

/* NULL: something is refused. */
static struct bb_fingerprint_chain *decode(const struct encoded *encoded)
{
    struct bb_bytes header = {encoded->header, sizeof(encoded->header)};
    struct bb_fingerprint_chain *chain = bb_fingerprint_coding_decode_header(header);
    uint64_t first = 0;
    uint64_t end = 0;
    bool is_whole = chain != NULL;
    for (size_t i = 0; is_whole && i < encoded->chunk_count; i++) {
        struct bb_bytes chunk = {encoded->chunks[i].data, encoded->chunks[i].size};
        uint64_t before = end;
        is_whole =
            bb_fingerprint_coding_decode_chunk(chain, chunk, &first, &end) && first == before;
    }
    if (is_whole && end == bb_fingerprint_chain_totals(chain).shard_count)
        return chain;
    bb_fingerprint_chain_destroy(chain);
    return NULL;
}

static void expect_same(const struct encoded *first, const struct encoded *second)
{
    assert_memory_equal(first->header, second->header, sizeof(first->header));
    assert_int_equal(first->chunk_count, second->chunk_count);
    for (size_t i = 0; i < first->chunk_count; i++) {
        assert_int_equal(first->chunks[i].size, second->chunks[i].size);
        assert_memory_equal(first->chunks[i].data, second->chunks[i].data, first->chunks[i].size);
    }
}

static void coding__round_trip(void **state)
{
    (void)state;
    struct bb_fingerprint_chain *chain = chain_of(20000, 0.001, 2, true);
    add_members(chain, 100000);
    struct encoded encoded;
    struct encoded again;
    encode(chain, 8192, &encoded);
    struct bb_fingerprint_chain *decoded = decode(&encoded);
    assert_non_null(decoded);
    encode(decoded, 8192, &again);
    expect_same(&encoded, &again);
    assert_int_equal(bb_fingerprint_chain_totals(decoded).count,
                     bb_fingerprint_chain_totals(chain).count);
    encoded_deinit(&again);
    struct bb_fingerprint_chain *copy = bb_fingerprint_chain_copy(chain);
    encode(copy, 8192, &again);
    expect_same(&encoded, &again);
    encoded_deinit(&again);
    encoded_deinit(&encoded);
    bb_fingerprint_chain_destroy(copy);
    bb_fingerprint_chain_destroy(decoded);
    bb_fingerprint_chain_destroy(chain);
    assert_int_equal(module_memory_live(), 0);
}

/* The largest empty filter takes little memory, few bytes and no time. */
static void coding__of_an_empty_filter_is_short(void **state)
{
    (void)state;
    struct bb_fingerprint_chain *chain = chain_of(BB_FINGERPRINT_TABLE_CAPACITY_MAX, 0.01, 0, true);
    struct encoded encoded;
    assert_true(bb_fingerprint_chain_totals(chain).memory < 200000);
    encode(chain, 8192, &encoded);
    assert_int_equal(encoded.chunk_count, 1);
    assert_true(encoded.chunks[0].size < 20);
    struct bb_fingerprint_chain *decoded = decode(&encoded);
    assert_non_null(decoded);
    bb_fingerprint_chain_destroy(decoded);
    bb_fingerprint_chain_destroy(chain);
    encoded_deinit(&encoded);
}

/* Decodes damaged bytes: they are refused, or they are the bytes of the filter that they give. */
static bool is_refused_or_kept(const struct encoded *damaged, size_t size_max)
{
    struct bb_fingerprint_chain *decoded = decode(damaged);
    if (decoded == NULL)
        return true;
    struct encoded again;
    encode(decoded, size_max, &again);
    expect_same(damaged, &again);
    encoded_deinit(&again);
    bb_fingerprint_chain_destroy(decoded);
    return false;
}

static void flip_all(bool is_set)
{
    struct bb_fingerprint_chain *chain = chain_of(60, 0.01, 2, is_set);
    struct encoded encoded;
    uint64_t refused = 0;
    uint64_t flips = 0;
    add_members(chain, 300);
    encode(chain, SIZE_MAX, &encoded);
    assert_int_equal(encoded.chunk_count, 1);
    for (size_t bit = 0; bit < 8 * sizeof(encoded.header); bit++) {
        encoded.header[bit / 8] ^= (uint8_t)(1 << bit % 8);
        refused += is_refused_or_kept(&encoded, SIZE_MAX);
        encoded.header[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (; flips < 8 * encoded.chunks[0].size; flips++) {
        encoded.chunks[0].data[flips / 8] ^= (uint8_t)(1 << flips % 8);
        refused += is_refused_or_kept(&encoded, SIZE_MAX);
        encoded.chunks[0].data[flips / 8] ^= (uint8_t)(1 << flips % 8);
    }
    print_message("%llu of %llu flips refused\n", (unsigned long long)refused,
                  (unsigned long long)flips + 8 * sizeof(encoded.header));
    size_t size = encoded.chunks[0].size;
    for (encoded.chunks[0].size = 0; encoded.chunks[0].size < size; encoded.chunks[0].size++)
        assert_null(decode(&encoded));
    encoded_deinit(&encoded);
    bb_fingerprint_chain_destroy(chain);
    assert_int_equal(module_memory_live(), 0);
}

static void coding__refuses_damage(void **state)
{
    (void)state;
    flip_all(true);
    flip_all(false);
}

/* --- Memory --- */

static bool build_and_copy(void)
{
    struct bb_fingerprint_options options = {
        .capacity = 30, .rate = 0.01, .expansion = 2, .is_set = true, .table_limit = 8};
    struct bb_fingerprint_chain *chain = bb_fingerprint_chain_create(&options);
    bool is_done = chain != NULL;
    for (uint64_t i = 0; is_done && i < 100; i++)
        is_done = bb_fingerprint_chain_add(chain, hash_of(3, i)) != BB_FINGERPRINT_NO_MEMORY;
    struct bb_fingerprint_chain *copy = is_done ? bb_fingerprint_chain_copy(chain) : NULL;
    is_done = copy != NULL;
    bb_fingerprint_chain_destroy(copy);
    bb_fingerprint_chain_destroy(chain);
    return is_done;
}

static void chain__without_memory_stays_whole(void **state)
{
    (void)state;
    long n = 1;
    for (;; n++) {
        module_memory_fail(n);
        bool is_done = build_and_copy();
        module_memory_fail(0);
        assert_int_equal(module_memory_live(), 0);
        if (is_done)
            break;
    }
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bit_string__changes_as_a_list_does),
        cmocka_unit_test(bit_string__finds_zeros_and_ones),
        cmocka_unit_test(chain__counts_like_a_list),
        cmocka_unit_test(chain__keeps_its_rate),
        cmocka_unit_test(chain__of_fixed_size_is_full_at_its_capacity),
        cmocka_unit_test(chain__takes_one_item_many_times),
        cmocka_unit_test(chain__union_has_both),
        cmocka_unit_test(options__beyond_the_limits_are_impossible),
        cmocka_unit_test(coding__round_trip),
        cmocka_unit_test(coding__of_an_empty_filter_is_short),
        cmocka_unit_test(coding__refuses_damage),
        cmocka_unit_test(chain__without_memory_stays_whole),
    };
    module_memory_use();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
