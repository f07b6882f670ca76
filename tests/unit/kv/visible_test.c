/* Goal: the visible keys at a sequence are exactly a map's newest versions, in both directions and
 * across turns, and a stream's failure is never mistaken for its end. Method: random streams of
 * versions in memory (tests/support/array_iter, which releases the current entry at every move), a
 * brute-force model of the visible keys, random walks over both; and streams in which each single
 * move fails. */
#include "tests/support/assert_status.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "kv/read/visible.h"
#include "tests/support/array_iter.h"
#include "tests/support/rng.h"

#define ENTRIES_MAX 60
#define KEY_COUNT   14

/* Every version, and the visible ones at a sequence. */
struct world {
    const struct bb_comparator *comparator;
    struct bb_entry entries[ENTRIES_MAX];
    size_t entry_count;
    uint64_t sequence;
    struct bb_entry shown[ENTRIES_MAX];
    size_t shown_count;
};

/* Short ones that are prefixes of others, NULs, high bytes, and the empty key. */
static const struct bb_bytes keys[KEY_COUNT] = {
    {NULL, 0},
    {(const uint8_t *)"\0", 1},
    {(const uint8_t *)"\0\0", 2},
    {(const uint8_t *)"A", 1},
    {(const uint8_t *)"a", 1},
    {(const uint8_t *)"a\0", 2},
    {(const uint8_t *)"aa", 2},
    {(const uint8_t *)"ab", 2},
    {(const uint8_t *)"b", 1},
    {(const uint8_t *)"bbbbbbbbbbbbbbbbbbbb", 20},
    {(const uint8_t *)"bbbbbbbbbbbbbbbbbbbbb", 21},
    {(const uint8_t *)"c", 1},
    {(const uint8_t *)"\xff", 1},
    {(const uint8_t *)"\xff\xff", 2},
};

static const char values[] = "the values are pieces of this text, from nothing to all of it";

static int compare_reverse(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static const struct bb_comparator reverse = {.name = "reverse", .compare = compare_reverse};

/* Only the first byte counts, and the empty key is a separate one. */
static int compare_first_byte(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    int left = a.size == 0 ? -1 : a.data[0];
    int right = b.size == 0 ? -1 : b.data[0];
    return (left > right) - (left < right);
}

static const struct bb_comparator first_byte = {
    .name = "first-byte", .compare = compare_first_byte, .equates_different_bytes = true};

static bool is_taken(const struct world *world, const struct bb_entry *entry)
{
    for (size_t i = 0; i < world->entry_count; i++) {
        const struct bb_entry *other = &world->entries[i];
        if (other->sequence == entry->sequence &&
            bb_key_compare(world->comparator, other->key, entry->key) == 0)
            return true;
    }
    return false;
}

/* Few sequences, so that several keys share them as the operations of a batch never would: visible
 * does not care. */
static void draw_entries(struct world *world, struct bb_rng *rng, uint64_t sequence_max)
{
    size_t wanted = bb_rng_below(rng, ENTRIES_MAX + 1);
    uint64_t delete_one_in = bb_rng_between(rng, 1, 5);
    for (size_t tries = 0; tries < 3 * wanted && world->entry_count < wanted; tries++) {
        struct bb_entry entry = {.key = keys[bb_rng_below(rng, KEY_COUNT)],
                                 .sequence = bb_rng_between(rng, 0, sequence_max),
                                 .kind = BB_ENTRY_PUT};
        if (bb_rng_one_in(rng, delete_one_in))
            entry.kind = BB_ENTRY_DELETE;
        else
            entry.value = bb_bytes_of(values, bb_rng_below(rng, sizeof(values)));
        if (!is_taken(world, &entry))
            world->entries[world->entry_count++] = entry;
    }
    bb_array_iter_sort(world->entries, world->entry_count, world->comparator);
}

/* The model: the first version of each key that is not above the sequence, if it is a put. */
static void find_shown(struct world *world)
{
    const struct bb_entry *decided = NULL;
    world->shown_count = 0;
    for (size_t i = 0; i < world->entry_count; i++) {
        const struct bb_entry *entry = &world->entries[i];
        if (entry->sequence > world->sequence)
            continue;
        if (decided != NULL && bb_key_compare(world->comparator, decided->key, entry->key) == 0)
            continue;
        decided = entry;
        if (entry->kind == BB_ENTRY_PUT)
            world->shown[world->shown_count++] = *entry;
    }
}

static void draw_world(struct world *world, struct bb_rng *rng)
{
    static const struct bb_comparator *const comparators[] = {NULL, NULL, &reverse, &first_byte};
    uint64_t sequence_max = bb_rng_one_in(rng, 8) ? BB_SEQUENCE_MAX : bb_rng_between(rng, 1, 30);
    *world = (struct world){.comparator = comparators[bb_rng_below(rng, 4)]};
    draw_entries(world, rng, sequence_max);
    world->sequence =
        bb_rng_one_in(rng, 4) ? BB_SEQUENCE_MAX : bb_rng_between(rng, 0, sequence_max);
    find_shown(world);
}

static void init_visible(const struct world *world, struct bb_visible *visible)
{
    bb_visible_init(visible,
                    bb_array_iter_create(world->entries, world->entry_count, world->comparator),
                    world->comparator, world->sequence);
}

static void assert_bytes(struct bb_bytes found, struct bb_bytes expected)
{
    assert_int_equal(found.size, expected.size);
    assert_true(bb_bytes_equal(found, expected));
}

/* position: in shown, or anything beyond for "not valid". */
static void assert_shows(const struct world *world, const struct bb_visible *visible,
                         size_t position)
{
    assert_ok(bb_visible_status(visible));
    assert_int_equal(visible->is_valid, position < world->shown_count);
    if (!visible->is_valid)
        return;
    assert_bytes(bb_visible_key(visible), world->shown[position].key);
    assert_bytes(bb_visible_value(visible), world->shown[position].value);
}

static size_t first_at(const struct world *world, struct bb_bytes key)
{
    size_t position = 0;
    while (position < world->shown_count &&
           bb_key_compare(world->comparator, world->shown[position].key, key) < 0)
        position++;
    return position;
}

static void visible__forward(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("visible_test forward", 1));
    for (int round = 0; round < 2000; round++) {
        struct world world;
        struct bb_visible visible;
        draw_world(&world, &rng);
        init_visible(&world, &visible);
        bb_visible_seek_first(&visible);
        for (size_t i = 0; i < world.shown_count; i++) {
            assert_shows(&world, &visible, i);
            bb_visible_next(&visible);
        }
        assert_shows(&world, &visible, SIZE_MAX);
        bb_visible_deinit(&visible);
    }
}

static void visible__backward(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("visible_test backward", 2));
    for (int round = 0; round < 2000; round++) {
        struct world world;
        struct bb_visible visible;
        draw_world(&world, &rng);
        init_visible(&world, &visible);
        bb_visible_seek_last(&visible);
        for (size_t i = world.shown_count; i > 0; i--) {
            assert_shows(&world, &visible, i - 1);
            bb_visible_prev(&visible);
        }
        assert_shows(&world, &visible, SIZE_MAX);
        bb_visible_deinit(&visible);
    }
}

static void visible__seek_every_key(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("visible_test seek", 3));
    for (int round = 0; round < 500; round++) {
        struct world world;
        struct bb_visible visible;
        draw_world(&world, &rng);
        init_visible(&world, &visible);
        for (size_t i = 0; i < KEY_COUNT; i++) {
            bb_visible_seek(&visible, keys[i]);
            assert_shows(&world, &visible, first_at(&world, keys[i]));
        }
        bb_visible_deinit(&visible);
    }
}

/* Positions come and go as the model's; counts how often the direction was turned. */
static size_t walk(const struct world *world, struct bb_visible *visible, struct bb_rng *rng)
{
    size_t position = SIZE_MAX;
    size_t turns = 0;
    bool was_backward = false;
    for (int step = 0; step < 200; step++) {
        if (position >= world->shown_count || bb_rng_one_in(rng, 20)) {
            struct bb_bytes key = keys[bb_rng_below(rng, KEY_COUNT)];
            uint64_t which = bb_rng_below(rng, 3);
            position = which == 0 ? 0 : which == 1 ? world->shown_count - 1 : first_at(world, key);
            was_backward = which == 1;
            if (which == 0)
                bb_visible_seek_first(visible);
            else if (which == 1)
                bb_visible_seek_last(visible);
            else
                bb_visible_seek(visible, key);
        } else {
            bool is_backward = bb_rng_one_in(rng, 2);
            turns += is_backward != was_backward;
            was_backward = is_backward;
            if (is_backward)
                bb_visible_prev(visible);
            else
                bb_visible_next(visible);
            position = is_backward ? position - 1 : position + 1;
        }
        assert_shows(world, visible, position);
    }
    return turns;
}

static void visible__random_walk(void **state)
{
    (void)state;
    struct bb_rng rng;
    size_t turns = 0;
    bb_rng_init(&rng, bb_rng_seed("visible_test walk", 4));
    for (int round = 0; round < 1000; round++) {
        struct world world;
        struct bb_visible visible;
        draw_world(&world, &rng);
        init_visible(&world, &visible);
        turns += walk(&world, &visible, &rng);
        bb_visible_deinit(&visible);
    }
    assert_true(turns > 20000);
}

static void visible__seek_to_the_key_it_shows(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("visible_test itself", 5));
    for (int round = 0; round < 300; round++) {
        struct world world;
        struct bb_visible visible;
        draw_world(&world, &rng);
        init_visible(&world, &visible);
        bb_visible_seek_last(&visible);
        for (size_t i = world.shown_count; i > 0; i--) {
            bb_visible_seek(&visible, bb_visible_key(&visible));
            assert_shows(&world, &visible, i - 1);
            bb_visible_prev(&visible);
        }
        bb_visible_deinit(&visible);
    }
}

/* Walks over everything like a caller: all returned keys are right. Returns their number. */
static size_t scan(const struct world *world, struct bb_visible *visible, int direction)
{
    size_t count = 0;
    if (direction > 0)
        bb_visible_seek_first(visible);
    else
        bb_visible_seek_last(visible);
    while (visible->is_valid) {
        assert_shows(world, visible, direction > 0 ? count : world->shown_count - 1 - count);
        count++;
        if (direction > 0)
            bb_visible_next(visible);
        else
            bb_visible_prev(visible);
    }
    return count;
}

/* A key of three versions, each a put or a deletion, as of every sequence. */
static void visible__every_history_of_three_versions(void **state)
{
    (void)state;
    for (unsigned kinds = 0; kinds < 8; kinds++) {
        struct world world = {.entry_count = 5};
        struct bb_visible visible;
        world.entries[0] = (struct bb_entry){.key = keys[3], .kind = BB_ENTRY_PUT};
        for (unsigned i = 0; i < 3; i++) {
            bool is_put = (kinds >> i & 1) != 0;
            world.entries[1 + i] =
                (struct bb_entry){.key = keys[4],
                                  .sequence = 3 - i,
                                  .kind = is_put ? BB_ENTRY_PUT : BB_ENTRY_DELETE,
                                  .value = bb_bytes_of(values, is_put ? 1 + i : 0)};
        }
        world.entries[4] = (struct bb_entry){.key = keys[8], .kind = BB_ENTRY_PUT};
        for (; world.sequence <= 4; world.sequence++) {
            find_shown(&world);
            init_visible(&world, &visible);
            assert_int_equal(scan(&world, &visible, 1), world.shown_count);
            assert_int_equal(scan(&world, &visible, -1), world.shown_count);
            bb_visible_deinit(&visible);
        }
    }
}

/* Lets each single move of a scan fail one by one. */
static void assert_each_failure_is_reported(const struct world *world, int direction)
{
    bool was_hit = true;
    for (uint64_t nth = 1; was_hit; nth++) {
        struct bb_visible visible;
        init_visible(world, &visible);
        bb_array_iter_fail(visible.stream, nth, BB_IO);
        size_t count = scan(world, &visible, direction);
        was_hit = bb_array_iter_moves(visible.stream) >= nth;
        if (was_hit) {
            assert_status(bb_visible_status(&visible), BB_IO);
            assert_message("the test lets move");
            /* The next scan starts afresh. */
            count = scan(world, &visible, direction);
        }
        assert_ok(bb_visible_status(&visible));
        assert_int_equal(count, world->shown_count);
        bb_visible_deinit(&visible);
    }
}

static void visible__a_failing_stream_is_no_end(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("visible_test failures", 6));
    for (int round = 0; round < 100; round++) {
        struct world world;
        draw_world(&world, &rng);
        assert_each_failure_is_reported(&world, 1);
        assert_each_failure_is_reported(&world, -1);
    }
}

/* A seek, steps and turns; every result without a failure is right. True when it failed. */
static bool turn_over_failures(const struct world *world, struct bb_visible *visible,
                               struct bb_bytes key)
{
    static const int moves[] = {1, -1, -1, 1, 1};
    size_t position = first_at(world, key);
    bb_visible_seek(visible, key);
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        if (!visible->is_valid && bb_visible_status(visible) != BB_OK)
            return true;
        assert_shows(world, visible, position);
        if (!visible->is_valid)
            return false;
        if (moves[i] > 0)
            bb_visible_next(visible);
        else
            bb_visible_prev(visible);
        position += (size_t)moves[i];
    }
    return false;
}

static void visible__a_failing_turn_is_no_end(void **state)
{
    (void)state;
    struct bb_rng rng;
    size_t failures = 0;
    bb_rng_init(&rng, bb_rng_seed("visible_test turns", 7));
    for (int round = 0; round < 500; round++) {
        struct world world;
        struct bb_visible visible;
        draw_world(&world, &rng);
        init_visible(&world, &visible);
        for (size_t i = 0; i < 4 * KEY_COUNT; i++) {
            bb_array_iter_fail(visible.stream, bb_rng_between(&rng, 1, 12), BB_CORRUPT);
            failures += turn_over_failures(&world, &visible, keys[i % KEY_COUNT]);
        }
        bb_visible_deinit(&visible);
    }
    assert_true(failures > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visible__forward),
        cmocka_unit_test(visible__backward),
        cmocka_unit_test(visible__seek_every_key),
        cmocka_unit_test(visible__random_walk),
        cmocka_unit_test(visible__seek_to_the_key_it_shows),
        cmocka_unit_test(visible__every_history_of_three_versions),
        cmocka_unit_test(visible__a_failing_stream_is_no_end),
        cmocka_unit_test(visible__a_failing_turn_is_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
