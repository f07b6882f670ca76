/* Goal: an attacker who knows one store's secret and collects keys that its filter passes gains no
 * advantage over a filter under another secret. Method: for each kind, keys that pass a filter
 * under the first secret are probed in a filter of the same members, size and salt under a second
 * one; at most 1.1 times the predicted rate may pass. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/hash.h"
#include "bb/filter.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"

#define MEMBERS 1000
/* At 1 % and 120,000 keys the standard deviation of the measured rate is 3 % of it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ATTACKS 20000
#define BOUND   1.4
#else
#define ATTACKS 120000
#define BOUND   1.1
#endif

static uint64_t seed;

static uint64_t key_hash(const struct bb_hash_secret *secret, uint64_t number)
{
    uint8_t key[24];
    memset(key, 'k', sizeof(key));
    memcpy(key + 4, &number, sizeof(number));
    return bb_hash_key(secret, (struct bb_bytes){key, sizeof(key)});
}

static void build(enum bb_filter_kind kind, const struct bb_hash_secret *secret,
                  struct bb_buf *envelope)
{
    struct bb_filter_options options = {.kind = kind, .target_rate = 0.01};
    struct bb_filter_builder *builder = NULL;
    assert_ok(bb_filter_builder_create(&options, &builder));
    for (uint64_t i = 0; i < MEMBERS; i++)
        assert_ok(bb_filter_builder_add(builder, key_hash(secret, i)));
    assert_ok(bb_filter_builder_finish(builder, envelope));
    bb_filter_builder_destroy(builder);
}

/* Of ATTACKS non-member keys that the first filter passes, the number that the second one also
 * passes. */
static uint64_t count_passed_by_both(const struct bb_filter_view views[2],
                                     const struct bb_hash_secret secrets[2])
{
    uint64_t passed = 0;
    uint64_t number = UINT64_C(1) << 40;
    for (uint64_t collected = 0; collected < ATTACKS; number++) {
        if (!bb_filter_may_contain(&views[0], key_hash(&secrets[0], number)))
            continue;
        collected++;
        passed += bb_filter_may_contain(&views[1], key_hash(&secrets[1], number));
    }
    return passed;
}

static void hash_flood__keys_collected_under_one_secret_are_random_to_another(void **state)
{
    static const enum bb_filter_kind kinds[] = {BB_FILTER_RIBBON, BB_FILTER_BLOCKED_BLOOM,
                                                BB_FILTER_BLOOM, BB_FILTER_SPLIT_BLOCK,
                                                BB_FILTER_PARTITIONED};
    struct bb_hash_secret secrets[2];
    (void)state;
    bb_hash_secret_from_seed(seed, &secrets[0]);
    bb_hash_secret_from_seed(seed + 1, &secrets[1]);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(kinds); i++) {
        struct bb_buf envelopes[2] = {{0}};
        struct bb_filter_view views[2];
        struct bb_filter_info info;
        for (int which = 0; which < 2; which++) {
            build(kinds[i], &secrets[which], &envelopes[which]);
            assert_ok(bb_filter_view_init(&views[which], bb_buf_bytes(&envelopes[which])));
        }
        assert_ok(bb_filter_info(bb_buf_bytes(&envelopes[1]), &info));
        uint64_t passed = count_passed_by_both(views, secrets);
        printf("%s: %" PRIu64 " of %d pass, predicted %.1f\n", bb_filter_kind_name(kinds[i]),
               passed, ATTACKS, info.predicted_rate * ATTACKS);
        assert_true((double)passed <= BOUND * info.predicted_rate * ATTACKS);
        bb_buf_deinit(&envelopes[0]);
        bb_buf_deinit(&envelopes[1]);
    }
}

int main(void)
{
    seed = bb_rng_seed("hash_flood_test", 20261121);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_flood__keys_collected_under_one_secret_are_random_to_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
