/* Goal: deleted ranges follow the store's order, for any order: backward, or one in which different
 * bytes are one key, whose ends may be spelled differently than the keys between. Method: random
 * operations on few keys compared with an array of versions; every way to read, at random
 * moments. */
#include "tests/support/store.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tests/support/rng.h"

#define LETTERS   5
#define KEYS      (LETTERS * LETTERS)
#define OPS       1500
#define SNAPSHOTS 3

static int compare_backwards(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static int compare_letters(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    for (size_t i = 0; i < a.size && i < b.size; i++) {
        int order = tolower(a.data[i]) - tolower(b.data[i]);
        if (order != 0)
            return order;
    }
    return (a.size > b.size) - (a.size < b.size);
}

static const struct bb_comparator orders[] = {
    {.name = "bytes", .compare = NULL},
    {.name = "backwards", .compare = compare_backwards},
    {.name = "letters", .compare = compare_letters, .equates_different_bytes = true},
};

struct world {
    struct store store;
    struct bb_rng rng;
    bool is_backwards;
    bool has_spellings;
    uint32_t values[KEYS]; /* by place in the order; 0: absent */
    uint32_t value;        /* the last one */
    struct bb_snapshot *snapshots[SNAPSHOTS];
    uint32_t values_then[SNAPSHOTS][KEYS];
};

/* The key at a place in the order, spelled in any of its ways. */
static struct bb_bytes key_at(struct world *world, uint32_t place, char text[3])
{
    uint32_t number = world->is_backwards ? KEYS - 1 - place : place;
    text[0] = (char)('a' + number / LETTERS);
    text[1] = (char)('a' + number % LETTERS);
    text[2] = 0;
    for (size_t i = 0; i < 2 && world->has_spellings; i++)
        text[i] = (char)(bb_rng_one_in(&world->rng, 2) ? toupper(text[i]) : text[i]);
    return bb_bytes_of_text(text);
}

static uint32_t place_of(const struct world *world, struct bb_bytes key)
{
    assert_int_equal(key.size, 2);
    uint32_t number =
        (uint32_t)((tolower(key.data[0]) - 'a') * LETTERS + tolower(key.data[1]) - 'a');
    return world->is_backwards ? KEYS - 1 - number : number;
}

static uint32_t number_of(struct bb_bytes value)
{
    return (uint32_t)strtoul((const char *)value.data, NULL, 10);
}

/* ---- writing ---- */

static void put(struct world *world)
{
    char key[3];
    char value[400];
    uint32_t place = (uint32_t)bb_rng_below(&world->rng, KEYS);
    bb_rng_bytes(&world->rng, (uint8_t *)value, sizeof(value)); /* nothing to compress */
    snprintf(value, sizeof(value), "%u", ++world->value);
    assert_ok(bb_db_put(world->store.db, NULL, key_at(world, place, key),
                        bb_bytes_of(value, sizeof(value))));
    world->values[place] = world->value;
}

static void delete_range(struct world *world)
{
    char low[3];
    char high[3];
    uint32_t first = (uint32_t)bb_rng_below(&world->rng, KEYS);
    uint32_t end = (uint32_t)bb_rng_below(&world->rng, KEYS);
    assert_ok(bb_db_delete_range(world->store.db, NULL, key_at(world, first, low),
                                 key_at(world, end, high)));
    for (uint32_t place = first; place < end; place++)
        world->values[place] = 0;
}

/* ---- reading ---- */

static void check_get(struct world *world, const struct bb_snapshot *snapshot,
                      const uint32_t *expected, uint32_t place)
{
    char key[3];
    struct bb_get_options options = {.snapshot = snapshot};
    struct bb_buf value = {0};
    enum bb_status status = bb_db_get(world->store.db, &options, key_at(world, place, key), &value);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    uint32_t found = status == BB_OK ? number_of(bb_buf_bytes(&value)) : 0;
    assert_int_equal(found, expected[place]);
    bb_buf_deinit(&value);
}

static void check_get_many(struct world *world, const struct bb_snapshot *snapshot,
                           const uint32_t *expected)
{
    char texts[KEYS][3];
    struct bb_bytes keys[KEYS];
    enum bb_status statuses[KEYS];
    struct bb_get_options options = {.snapshot = snapshot};
    for (uint32_t i = 0; i < KEYS; i++)
        keys[i] = key_at(world, i, texts[i]);
    assert_ok(bb_db_get_many(world->store.db, &options, keys, KEYS, NULL, statuses));
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(statuses[i], expected[i] == 0 ? BB_NOT_FOUND : BB_OK);
}

/* The first place from `place` to the end, or back to low, that has a value; KEYS without one. */
static uint32_t next_value(const uint32_t *expected, uint32_t place, uint32_t end)
{
    while (place < end && expected[place] == 0)
        place++;
    return place < end ? place : KEYS;
}

static uint32_t value_before(const uint32_t *expected, uint32_t place, uint32_t low)
{
    while (place > low && expected[place - 1] == 0)
        place--;
    return place > low ? place - 1 : KEYS;
}

static void check_at(const struct world *world, struct bb_db_iter *iter, const uint32_t *expected,
                     uint32_t place)
{
    assert_int_equal(bb_db_iter_valid(iter), place != KEYS);
    if (place == KEYS)
        return;
    assert_int_equal(place_of(world, bb_db_iter_key(iter)), place);
    assert_int_equal(number_of(bb_db_iter_value(iter)), expected[place]);
}

/* Forward to some place, back from there, or from the end. */
static void check_walk(struct world *world, const struct bb_snapshot *snapshot,
                       const uint32_t *expected)
{
    char low_text[3];
    char high_text[3];
    struct bb_db_iter *iter = NULL;
    struct bb_get_options options = {.snapshot = snapshot};
    uint32_t low = (uint32_t)bb_rng_below(&world->rng, KEYS);
    uint32_t high = low + (uint32_t)bb_rng_below(&world->rng, KEYS - low);
    struct bb_bytes low_key = key_at(world, low, low_text);
    struct bb_bytes high_key = key_at(world, high, high_text);
    struct bb_key_range range = {.low = &low_key, .high = &high_key};
    assert_ok(bb_db_iter_create_range(world->store.db, &options, &range, &iter));
    uint32_t place = next_value(expected, low, high);
    bb_db_iter_seek_first(iter);
    check_at(world, iter, expected, place);
    while (place != KEYS && !bb_rng_one_in(&world->rng, 8)) {
        place = next_value(expected, place + 1, high);
        bb_db_iter_next(iter);
        check_at(world, iter, expected, place);
    }
    if (place == KEYS) {
        place = value_before(expected, high, low);
        bb_db_iter_seek_last(iter);
        check_at(world, iter, expected, place);
    }
    while (place != KEYS) {
        place = value_before(expected, place, low);
        bb_db_iter_prev(iter);
        check_at(world, iter, expected, place);
    }
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
}

static void check_as(struct world *world, const struct bb_snapshot *snapshot,
                     const uint32_t *expected)
{
    for (uint32_t place = 0; place < KEYS; place++)
        check_get(world, snapshot, expected, place);
    check_get_many(world, snapshot, expected);
    for (int i = 0; i < 4; i++)
        check_walk(world, snapshot, expected);
}

static void check(struct world *world)
{
    check_as(world, NULL, world->values);
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        if (world->snapshots[i] != NULL)
            check_as(world, world->snapshots[i], world->values_then[i]);
    }
}

/* ---- the rest ---- */

static void exchange_snapshot(struct world *world, bool takes_new)
{
    size_t i = (size_t)bb_rng_below(&world->rng, SNAPSHOTS);
    if (world->snapshots[i] != NULL)
        bb_snapshot_release(world->store.db, world->snapshots[i]);
    world->snapshots[i] = takes_new ? store_snapshot(&world->store) : NULL;
    memcpy(world->values_then[i], world->values, sizeof(world->values));
}

static void release_snapshots(struct world *world)
{
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        if (world->snapshots[i] != NULL)
            bb_snapshot_release(world->store.db, world->snapshots[i]);
        world->snapshots[i] = NULL;
    }
}

static void compact_part(struct world *world)
{
    char texts[2][3];
    uint32_t first = (uint32_t)bb_rng_below(&world->rng, KEYS);
    uint32_t end = first + (uint32_t)bb_rng_below(&world->rng, KEYS - first);
    struct bb_bytes low = key_at(world, first, texts[0]);
    struct bb_bytes high = key_at(world, end, texts[1]);
    assert_ok(bb_db_compact_range(world->store.db, &low, &high));
}

static void reopen(struct world *world)
{
    release_snapshots(world);
    store_close(&world->store);
    (void)store_verify(&world->store);
    store_open(&world->store);
}

static void step(struct world *world)
{
    uint64_t draw = bb_rng_below(&world->rng, 100);
    if (draw < 60)
        put(world);
    else if (draw < 78)
        delete_range(world);
    else if (draw < 86)
        exchange_snapshot(world, draw < 83);
    else if (draw < 92)
        assert_ok(bb_db_flush(world->store.db));
    else if (draw < 95)
        compact_part(world);
    else if (draw < 96)
        reopen(world);
    else
        check(world);
}

static void delete_range__in_any_order(void **state)
{
    uint64_t seed = *(uint64_t *)*state;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        struct world world = {.is_backwards = i == 1, .has_spellings = i == 2};
        bb_rng_init(&world.rng, seed + i);
        store_init(&world.store);
        world.store.options.comparator = i == 0 ? NULL : &orders[i];
        world.store.options.table_size_bytes = 4096;
        world.store.options.write_buffer_bytes = 64 * 1024;
        store_open(&world.store);
        for (int op = 0; op < OPS; op++)
            step(&world);
        check(&world);
        release_snapshots(&world);
        assert_ok(bb_db_compact(world.store.db));
        check(&world);
        store_deinit(&world.store);
    }
}

int main(void)
{
    uint64_t seed = bb_rng_seed("range_orders", 5);
    void *state = &seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(delete_range__in_any_order, state),
    };
    return cmocka_run_group_tests_name("range_orders", tests, NULL, NULL);
}
