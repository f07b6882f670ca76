/* Goal: a full cache admits a block at its second miss, if that is recent, and blocks that it
 * displaces are few. Method: readers that insert only accepted blocks; scans, circles and random
 * requests. */
#include "tests/unit/sstable/block_cache_fixture.h"

#include <stdlib.h>

#include "tests/support/rng.h"

#define CHARGE 1000

static void item_destroy(struct bb_cache_item *item)
{
    free(item);
}

static struct bb_cache_item *item_create(uint64_t charge)
{
    struct bb_cache_item *item = calloc(1, sizeof(*item));
    assert_non_null(item);
    bb_block_cache_item_init(item, item_destroy, charge);
    return item;
}

/* Like a reader: inserts only accepted blocks. */
static bool ask_for(struct bb_block_cache *cache, uint64_t offset, uint64_t charge)
{
    bool is_wanted = false;
    struct bb_cache_item *item = bb_block_cache_find_or_judge(cache, 1, offset, charge, &is_wanted);
    bool is_hit = item != NULL;
    if (!is_hit && is_wanted)
        item = bb_block_cache_insert(cache, 1, offset, item_create(charge));
    bb_block_cache_item_unref(item);
    return is_hit;
}

static bool ask(struct bb_block_cache *cache, uint64_t offset)
{
    return ask_for(cache, offset, CHARGE);
}

static void block_cache_admission__full_takes_what_is_missed_twice(void **state)
{
    (void)state;
    enum { CAPACITY = 100 };
    struct bb_block_cache *cache = cache_of(CAPACITY * CHARGE + 4096);
    for (uint64_t i = 0; i < CAPACITY + 10; i++)
        assert_false(ask(cache, i)); /* with space left it takes everything */
    assert_int_equal(stats_of(cache).evictions, 0);
    uint64_t used = stats_of(cache).used_bytes;
    assert_true(used >= CAPACITY * CHARGE - 4096 && used <= CAPACITY * CHARGE + 4096);
    assert_false(ask(cache, 5000));
    assert_int_equal(stats_of(cache).used_bytes, used);
    assert_false(ask(cache, 5000));
    assert_true(ask(cache, 5000));
    assert_true(stats_of(cache).used_bytes >= used);
    assert_int_equal(stats_of(cache).misses, CAPACITY + 10 + 2);
    bb_block_cache_destroy(cache);
}

static void block_cache_admission__takes_the_block_that_fills_it(void **state)
{
    (void)state;
    enum { CAPACITY = 4, UNIT = 4096 };
    struct bb_block_cache *cache = cache_of(CAPACITY * UNIT); /* one shard */
    for (uint64_t i = 0; i < CAPACITY + 1; i++)
        assert_false(ask_for(cache, i, UNIT));
    assert_int_equal(stats_of(cache).used_bytes, CAPACITY * UNIT);
    assert_int_equal(stats_of(cache).evictions, 0);
    bb_block_cache_destroy(cache);
}

/* A circle of blocks that is larger than the cache, but smaller than the marks of 4 KiB pieces. */
static void block_cache_admission__large_blocks_do_not_displace_each_other_forever(void **state)
{
    (void)state;
    enum { CAPACITY = 64, CIRCLE = 4 * CAPACITY, CHARGE_LARGE = 66000 };
    struct bb_block_cache *cache = cache_of(CAPACITY * CHARGE_LARGE);
    for (uint64_t i = 0; i < 10 * CIRCLE; i++)
        (void)ask_for(cache, i % CIRCLE, CHARGE_LARGE);
    struct bb_block_cache_stats stats = stats_of(cache);
    assert_true(stats.evictions < stats.misses / 4);
    assert_true(stats.hits > CIRCLE / 2);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(ask_for(cache, 90000, CHARGE_LARGE), i == 2); /* the second miss enters */
    bb_block_cache_destroy(cache);
}

static uint64_t count_held(struct bb_block_cache *cache, uint64_t count)
{
    uint64_t held = 0;
    for (uint64_t i = 0; i < count; i++)
        held += contains(cache, 1, i);
    return held;
}

/* Requests that are spread evenly over ten times the cache: few should enter, because a block is
 * worth no more than another. */
static void block_cache_admission__even_requests_displace_little(void **state)
{
    (void)state;
    enum { CAPACITY = 1000, REQUESTS = 100000 };
    static const uint64_t charges[] = {4096, 66000};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("block_cache_admission__even_requests_displace_little", 1));
    for (size_t c = 0; c < sizeof(charges) / sizeof(charges[0]); c++) {
        struct bb_block_cache *cache = cache_of(CAPACITY * charges[c]);
        for (int i = 0; i < REQUESTS; i++)
            (void)ask_for(cache, bb_rng_below(&rng, 10 * CAPACITY), charges[c]);
        struct bb_block_cache_stats stats = stats_of(cache);
        assert_true(stats.hits > REQUESTS * 8 / 100);
        assert_in_range(stats.evictions, REQUESTS * 35 / 1000, REQUESTS * 65 / 1000);
        bb_block_cache_destroy(cache);
    }
}

/* Blocks of any size: those larger than a mark's unit leave larger gaps. */
static void block_cache_admission__a_scan_evicts_next_to_nothing(void **state)
{
    (void)state;
    enum { CAPACITY = 100 };
    static const uint64_t charges[] = {CHARGE, 4200, 16500, 66000};
    for (size_t c = 0; c < sizeof(charges) / sizeof(charges[0]); c++) {
        struct bb_block_cache *cache = cache_of(CAPACITY * charges[c]);
        for (uint64_t i = 0; i < 5 * CAPACITY; i++) /* until every shard is full */
            (void)ask_for(cache, i, charges[c]);
        uint64_t held = count_held(cache, 5 * CAPACITY);
        assert_true(held > CAPACITY / 2);
        for (uint64_t i = 0; i < 30 * CAPACITY; i++)
            assert_false(ask_for(cache, 10000 + i, charges[c]));
        assert_true(count_held(cache, 5 * CAPACITY) * 10 >= held * 9);
        bb_block_cache_destroy(cache);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_cache_admission__full_takes_what_is_missed_twice),
        cmocka_unit_test(block_cache_admission__takes_the_block_that_fills_it),
        cmocka_unit_test(block_cache_admission__large_blocks_do_not_displace_each_other_forever),
        cmocka_unit_test(block_cache_admission__even_requests_displace_little),
        cmocka_unit_test(block_cache_admission__a_scan_evicts_next_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
