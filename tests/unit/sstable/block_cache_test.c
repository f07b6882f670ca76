/* Goal: the block cache finds inserted items, evicts unused items in the order of a clock, never
 * frees a pinned one, and its sums are right. Method: small scenes; a random run compared with a
 * model that is a plain list; four threads that hammer a cache smaller than their keys and check
 * that each item is the right one and alive (the thread sanitizer's and the address sanitizer's
 * builds find the rest). */
#include "tests/unit/sstable/block_cache_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/sync.h"
#include "tests/support/rng.h"

#define CHARGE 1000

/* A cached item: identifies itself, and counts destructions. */
struct thing {
    struct bb_cache_item item; /* first */
    uint64_t owner;
    uint64_t offset;
    _Atomic int *deaths;
};

static void thing_destroy(struct bb_cache_item *item)
{
    struct thing *thing = (struct thing *)item;
    if (thing->deaths != NULL)
        (*thing->deaths)++;
    memset(thing, 0xdd, sizeof(*thing));
    free(thing);
}

static struct bb_cache_item *thing_create(uint64_t owner, uint64_t offset, uint64_t charge,
                                          _Atomic int *deaths)
{
    struct thing *thing = calloc(1, sizeof(*thing));
    assert_non_null(thing);
    bb_block_cache_item_init(&thing->item, thing_destroy, charge);
    thing->owner = owner;
    thing->offset = offset;
    thing->deaths = deaths;
    return &thing->item;
}

static void put(struct bb_block_cache *cache, uint64_t owner, uint64_t offset, _Atomic int *deaths)
{
    struct bb_cache_item *item = thing_create(owner, offset, CHARGE, deaths);
    bb_block_cache_item_unref(bb_block_cache_insert(cache, owner, offset, item));
}

static bool touch(struct bb_block_cache *cache, uint64_t owner, uint64_t offset)
{
    struct bb_cache_item *item = bb_block_cache_find(cache, owner, offset);
    if (item == NULL)
        return false;
    assert_int_equal(((struct thing *)item)->owner, owner);
    assert_int_equal(((struct thing *)item)->offset, offset);
    bb_block_cache_item_unref(item);
    return true;
}

static void block_cache__finds_what_was_put_in(void **state)
{
    (void)state;
    struct bb_block_cache *cache = cache_of(1 << 20);
    uint64_t a = bb_block_cache_new_owner(cache);
    uint64_t b = bb_block_cache_new_owner(cache);
    assert_int_not_equal(a, b);
    assert_false(touch(cache, a, 0));
    put(cache, a, 0, NULL);
    put(cache, a, 4096, NULL);
    put(cache, b, 0, NULL);
    assert_true(touch(cache, a, 0));
    assert_true(touch(cache, a, 4096));
    assert_true(touch(cache, b, 0));
    assert_false(touch(cache, b, 4096));
    struct bb_block_cache_stats stats = stats_of(cache);
    assert_int_equal(stats.hits, 3);
    assert_int_equal(stats.misses, 2);
    assert_int_equal(stats.used_bytes, 3 * CHARGE);
    assert_int_equal(stats.capacity_bytes, 1 << 20);
    bb_block_cache_destroy(cache);
}

static void block_cache__evicts_the_oldest_that_is_not_used(void **state)
{
    (void)state;
    struct bb_block_cache *cache = cache_of(4 * CHARGE);
    for (uint64_t i = 0; i < 4; i++)
        put(cache, 1, i, NULL);
    assert_true(touch(cache, 1, 0)); /* saves it once */
    put(cache, 1, 4, NULL);
    assert_false(contains(cache, 1, 1));
    assert_true(contains(cache, 1, 0));
    put(cache, 1, 5, NULL);
    assert_false(contains(cache, 1, 2));
    assert_int_equal(stats_of(cache).evictions, 2);
    put(cache, 1, 6, NULL);
    put(cache, 1, 7, NULL);
    assert_true(contains(cache, 1, 0));
    put(cache, 1, 8, NULL);
    assert_false(contains(cache, 1, 0));
    assert_int_equal(stats_of(cache).used_bytes, 4 * CHARGE);
    bb_block_cache_destroy(cache);
}

static void block_cache__refuses_what_would_fill_a_shard(void **state)
{
    (void)state;
    struct bb_block_cache *small = cache_of(100 * CHARGE);
    struct bb_block_cache *large = cache_of(UINT64_C(64) << 20);
    assert_true(bb_block_cache_takes(small, 50 * CHARGE));
    assert_false(bb_block_cache_takes(small, 50 * CHARGE + 1));
    assert_true(bb_block_cache_takes(large, 512 * 1024));
    assert_false(bb_block_cache_takes(large, 512 * 1024 + 1));
    bb_block_cache_destroy(small);
    bb_block_cache_destroy(large);
}

static void block_cache__peek_changes_nothing(void **state)
{
    (void)state;
    struct bb_block_cache *cache = cache_of(2 * CHARGE);
    put(cache, 1, 0, NULL);
    put(cache, 1, 1, NULL);
    assert_true(contains(cache, 1, 0));
    assert_false(contains(cache, 1, 2));
    assert_int_equal(stats_of(cache).hits + stats_of(cache).misses, 0);
    put(cache, 1, 2, NULL);
    assert_false(contains(cache, 1, 0));
    bb_block_cache_destroy(cache);
}

static void block_cache__keeps_pinned_items_over_its_share(void **state)
{
    (void)state;
    struct bb_block_cache *cache = cache_of(2 * CHARGE);
    struct bb_cache_item *pinned[5];
    for (uint64_t i = 0; i < 5; i++)
        pinned[i] = bb_block_cache_insert(cache, 1, i, thing_create(1, i, CHARGE, NULL));
    assert_int_equal(stats_of(cache).used_bytes, 5 * CHARGE);
    for (uint64_t i = 0; i < 5; i++)
        assert_true(touch(cache, 1, i)); /* a second pin */
    bb_block_cache_clear(cache);
    assert_int_equal(stats_of(cache).used_bytes, 5 * CHARGE);
    for (uint64_t i = 0; i < 5; i++)
        bb_block_cache_item_unref(pinned[i]);
    assert_int_equal(stats_of(cache).used_bytes, 2 * CHARGE);
    assert_true(contains(cache, 1, 4));
    bb_block_cache_destroy(cache);
}

/* One eviction passes fewer used items than there are. */
static void block_cache__marks_do_not_keep_a_surplus(void **state)
{
    (void)state;
    enum { ITEMS = 400, LARGE = 100 };
    struct bb_block_cache *cache = cache_of(ITEMS * CHARGE);
    for (uint64_t i = 0; i < ITEMS; i++)
        put(cache, 1, i, NULL);
    for (uint64_t large = 0; large < 20; large++) {
        for (uint64_t i = 0; i < ITEMS; i++)
            (void)touch(cache, 1, i);
        bb_block_cache_item_unref(
            bb_block_cache_insert(cache, 2, large, thing_create(2, large, LARGE * CHARGE, NULL)));
        assert_true(stats_of(cache).used_bytes <= ITEMS * CHARGE);
    }
    bb_block_cache_destroy(cache);
}

/* Pins of more than the capacity: an eviction ends at some of them, and a later one continues. */
static void block_cache__only_pins_keep_a_surplus(void **state)
{
    (void)state;
    enum { PINNED = 200, OTHERS = 2000 };
    struct bb_cache_item *pinned[PINNED];
    struct bb_block_cache *cache = cache_of(100 * CHARGE);
    for (uint64_t i = 0; i < PINNED; i++)
        pinned[i] = bb_block_cache_insert(cache, 1, i, thing_create(1, i, CHARGE, NULL));
    for (uint64_t i = 0; i < OTHERS; i++) {
        put(cache, 2, i, NULL);
        assert_true(stats_of(cache).used_bytes <= (PINNED + PINNED / 8) * CHARGE);
    }
    for (uint64_t i = 0; i < PINNED; i++)
        bb_block_cache_item_unref(pinned[i]);
    assert_true(stats_of(cache).used_bytes <= 100 * CHARGE);
    bb_block_cache_destroy(cache);
}

static void block_cache__item_beyond_the_capacity_goes_with_its_pin(void **state)
{
    (void)state;
    _Atomic int deaths = 0;
    struct bb_block_cache *cache = cache_of(2 * CHARGE);
    struct bb_cache_item *item =
        bb_block_cache_insert(cache, 1, 0, thing_create(1, 0, 1000 * CHARGE, &deaths));
    assert_true(contains(cache, 1, 0));
    assert_int_equal(deaths, 0);
    bb_block_cache_item_unref(item);
    assert_int_equal(deaths, 1);
    assert_int_equal(stats_of(cache).used_bytes, 0);
    bb_block_cache_destroy(cache);
}

static void block_cache__second_insert_gives_the_first_item(void **state)
{
    (void)state;
    _Atomic int deaths = 0;
    struct bb_block_cache *cache = cache_of(1 << 20);
    struct bb_cache_item *first =
        bb_block_cache_insert(cache, 1, 0, thing_create(1, 0, CHARGE, NULL));
    struct bb_cache_item *second =
        bb_block_cache_insert(cache, 1, 0, thing_create(1, 0, CHARGE, &deaths));
    assert_ptr_equal(first, second);
    assert_int_equal(deaths, 1);
    assert_int_equal(stats_of(cache).used_bytes, CHARGE);
    bb_block_cache_item_unref(first);
    bb_block_cache_clear(cache);
    assert_int_equal(stats_of(cache).used_bytes, CHARGE);
    bb_block_cache_item_unref(second);
    bb_block_cache_clear(cache);
    assert_int_equal(stats_of(cache).used_bytes, 0);
    bb_block_cache_destroy(cache);
}

static void block_cache__drops_an_owner(void **state)
{
    (void)state;
    _Atomic int deaths = 0;
    struct bb_block_cache *cache = cache_of(64 << 20);
    for (uint64_t i = 0; i < 5000; i++) {
        put(cache, 1, i * 4096, &deaths);
        put(cache, 2, i * 4096, NULL);
    }
    bb_block_cache_drop_owner(cache, 1);
    assert_int_equal(deaths, 5000);
    for (uint64_t i = 0; i < 5000; i++) {
        assert_false(contains(cache, 1, i * 4096));
        assert_true(contains(cache, 2, i * 4096));
    }
    assert_int_equal(stats_of(cache).used_bytes, 5000 * CHARGE);
    assert_int_equal(stats_of(cache).evictions, 0);
    bb_block_cache_destroy(cache);
}

static void block_cache__dropped_item_lives_until_its_last_pin(void **state)
{
    (void)state;
    _Atomic int deaths = 0;
    struct bb_block_cache *cache = cache_of(1 << 20);
    struct bb_cache_item *item =
        bb_block_cache_insert(cache, 1, 0, thing_create(1, 0, CHARGE, &deaths));
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(bb_block_cache_find(cache, 1, 0), item);
    bb_block_cache_drop_owner(cache, 1);
    assert_int_equal(stats_of(cache).used_bytes, 0);
    assert_null(bb_block_cache_find(cache, 1, 0));
    put(cache, 1, 0, NULL); /* the same place, another item */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(deaths, 0);
        bb_block_cache_item_unref(item);
    }
    assert_int_equal(deaths, 1);
    assert_true(touch(cache, 1, 0));
    bb_block_cache_destroy(cache);
}

static void block_cache__clear_empties_it(void **state)
{
    (void)state;
    _Atomic int deaths = 0;
    struct bb_block_cache *cache = cache_of(64 << 20);
    for (uint64_t i = 0; i < 1000; i++)
        put(cache, 1, i, &deaths);
    bb_block_cache_clear(cache);
    assert_int_equal(deaths, 1000);
    assert_int_equal(stats_of(cache).used_bytes, 0);
    assert_int_equal(stats_of(cache).evictions, 0);
    put(cache, 1, 1, NULL);
    assert_true(touch(cache, 1, 1));
    bb_block_cache_destroy(cache);
}

static void block_cache__item_without_a_cache(void **state)
{
    (void)state;
    _Atomic int deaths = 0;
    bb_block_cache_item_unref(NULL);
    bb_block_cache_item_unref(thing_create(0, 0, CHARGE, &deaths));
    assert_int_equal(deaths, 1);
}

static void block_cache__grows_to_many_items(void **state)
{
    (void)state;
    struct bb_block_cache *cache = cache_of(256 << 20);
    for (uint64_t i = 0; i < 100000; i++)
        put(cache, 1 + i % 7, i * 512, NULL);
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(touch(cache, 1 + i % 7, i * 512));
    assert_int_equal(stats_of(cache).used_bytes, 100000 * CHARGE);
    bb_block_cache_destroy(cache);
}

/* ---- comparison with a model ---- */

#define MODEL_SLOTS 24

/* One shard's items, the oldest first. */
struct model {
    struct {
        uint64_t offset;
        bool is_used;
    } items[MODEL_SLOTS + 1];
    size_t count;
};

/* Moves the oldest item to the newest end, or drops it. */
static bool model_turn(struct model *model)
{
    uint64_t offset = model->items[0].offset;
    bool is_kept = model->items[0].is_used;
    memmove(model->items, model->items + 1, --model->count * sizeof(model->items[0]));
    if (is_kept) {
        model->items[model->count].offset = offset;
        model->items[model->count++].is_used = false;
    }
    return is_kept;
}

static void model_put(struct model *model, uint64_t offset)
{
    model->items[model->count].offset = offset;
    model->items[model->count++].is_used = false;
    if (model->count > MODEL_SLOTS)
        while (model_turn(model)) {
        }
}

static bool model_touch(struct model *model, uint64_t offset)
{
    for (size_t i = 0; i < model->count; i++) {
        if (model->items[i].offset == offset)
            return model->items[i].is_used = true;
    }
    return false;
}

static void block_cache__agrees_with_a_list(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("block_cache__agrees_with_a_list", 4711));
    struct bb_block_cache *cache = cache_of(MODEL_SLOTS * CHARGE); /* one shard */
    struct model model = {0};
    uint64_t hits = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t offset = bb_rng_skewed(&rng, 60);
        bool is_there = model_touch(&model, offset);
        assert_int_equal(contains(cache, 1, offset), is_there);
        assert_int_equal(touch(cache, 1, offset), is_there);
        hits += is_there;
        if (is_there)
            continue;
        put(cache, 1, offset, NULL);
        model_put(&model, offset);
    }
    assert_int_equal(stats_of(cache).hits, hits);
    assert_int_equal(stats_of(cache).misses, 100000 - hits);
    assert_int_equal(stats_of(cache).used_bytes, model.count * CHARGE);
    assert_true(hits > 10000 && hits < 99000);
    bb_block_cache_destroy(cache);
}

/* ---- threads ---- */

#define THREADS       4
#define STRESS_KEYS   400
#define STRESS_ROUNDS 30000
#define PINS          6

struct stress {
    struct bb_block_cache *cache;
    _Atomic int deaths;
    _Atomic int births;
};

struct stress_thread {
    struct stress *stress;
    uint64_t seed;
};

static struct bb_cache_item *load(struct stress *stress, uint64_t owner, uint64_t offset)
{
    struct bb_cache_item *item = bb_block_cache_find(stress->cache, owner, offset);
    if (item != NULL)
        return item;
    stress->births++;
    item = thing_create(owner, offset, CHARGE, &stress->deaths);
    return bb_block_cache_insert(stress->cache, owner, offset, item);
}

static void stress_step(struct stress *stress, struct bb_rng *rng, struct bb_cache_item **pin)
{
    if (*pin != NULL) {
        struct thing *thing = (struct thing *)*pin;
        BB_ASSERT(thing->owner < 4 && thing->offset < STRESS_KEYS);
        bb_block_cache_item_unref(*pin);
        *pin = NULL;
    }
    if (bb_rng_one_in(rng, 2000)) {
        bb_block_cache_drop_owner(stress->cache, bb_rng_below(rng, 4));
    } else if (bb_rng_one_in(rng, 5000)) {
        bb_block_cache_clear(stress->cache);
    } else {
        uint64_t owner = bb_rng_below(rng, 4);
        uint64_t offset = bb_rng_skewed(rng, STRESS_KEYS - 1);
        *pin = load(stress, owner, offset);
        struct thing *thing = (struct thing *)*pin;
        BB_ASSERT(thing->owner == owner && thing->offset == offset);
    }
}

static void stress_run(void *argument)
{
    struct stress_thread *self = argument;
    struct bb_cache_item *pins[PINS] = {NULL};
    struct bb_rng rng;
    bb_rng_init(&rng, self->seed);
    for (int i = 0; i < STRESS_ROUNDS; i++)
        stress_step(self->stress, &rng, &pins[bb_rng_below(&rng, PINS)]);
    for (size_t i = 0; i < PINS; i++)
        bb_block_cache_item_unref(pins[i]);
}

static void block_cache__threads_share_it(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("block_cache__threads_share_it", 99);
    struct stress stress = {.cache = cache_of(600 * CHARGE)};
    struct stress_thread arguments[THREADS];
    struct bb_thread threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        arguments[i] = (struct stress_thread){&stress, seed + i};
        assert_ok(bb_thread_create(&threads[i], stress_run, &arguments[i]));
    }
    for (size_t i = 0; i < THREADS; i++)
        bb_thread_join(&threads[i]);
    struct bb_block_cache_stats stats = stats_of(stress.cache);
    assert_true(stats.used_bytes <= 600 * CHARGE);
    assert_true(stats.hits > 0 && stats.misses > 0 && stats.evictions > 0);
    assert_int_equal(stress.births - stress.deaths, stats.used_bytes / CHARGE);
    bb_block_cache_clear(stress.cache);
    assert_int_equal(stress.births, stress.deaths);
    bb_block_cache_destroy(stress.cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_cache__finds_what_was_put_in),
        cmocka_unit_test(block_cache__evicts_the_oldest_that_is_not_used),
        cmocka_unit_test(block_cache__refuses_what_would_fill_a_shard),
        cmocka_unit_test(block_cache__peek_changes_nothing),
        cmocka_unit_test(block_cache__keeps_pinned_items_over_its_share),
        cmocka_unit_test(block_cache__marks_do_not_keep_a_surplus),
        cmocka_unit_test(block_cache__only_pins_keep_a_surplus),
        cmocka_unit_test(block_cache__item_beyond_the_capacity_goes_with_its_pin),
        cmocka_unit_test(block_cache__second_insert_gives_the_first_item),
        cmocka_unit_test(block_cache__drops_an_owner),
        cmocka_unit_test(block_cache__dropped_item_lives_until_its_last_pin),
        cmocka_unit_test(block_cache__clear_empties_it),
        cmocka_unit_test(block_cache__item_without_a_cache),
        cmocka_unit_test(block_cache__grows_to_many_items),
        cmocka_unit_test(block_cache__agrees_with_a_list),
        cmocka_unit_test(block_cache__threads_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
