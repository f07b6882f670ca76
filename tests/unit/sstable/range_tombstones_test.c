/* Goal: fragments agree with the tombstones they were cut from for every key and sequence, and a
 * section has exactly the right content. Method: random tombstones over short keys, each key looked
 * up in the list and in all tombstones one by one; sections damaged byte by byte. */
#include "tests/support/assert_status.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/coding.h"
#include "bb/table.h"
#include "sstable/ranges/range_tombstone_region.h"
#include "sstable/ranges/range_tombstones.h"
#include "tests/support/rng.h"

#define TOMBSTONES_MAX 30
#define KEYS           26

static uint8_t letters[KEYS];
static const struct bb_place place = {.file = "/file", .offset = 1000};

static struct bb_bytes key_of(size_t i)
{
    letters[i] = (uint8_t)('a' + i);
    return bb_bytes_of(&letters[i], 1);
}

static size_t draw(struct bb_rng *rng, struct bb_range_tombstone *tombstones)
{
    size_t count = 1 + bb_rng_below(rng, TOMBSTONES_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t low = bb_rng_below(rng, KEYS - 1);
        size_t high = bb_rng_between(rng, low + 1, KEYS - 1);
        tombstones[i] =
            (struct bb_range_tombstone){key_of(low), key_of(high), 1 + bb_rng_below(rng, 40)};
    }
    return count;
}

static uint64_t covering(const struct bb_range_tombstone *tombstones, size_t count,
                         struct bb_bytes key, uint64_t sequence)
{
    uint64_t greatest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct bb_range_tombstone *t = &tombstones[i];
        if (t->sequence <= sequence && t->sequence > greatest &&
            bb_bytes_compare(t->low, key) <= 0 && bb_bytes_compare(key, t->high) < 0)
            greatest = t->sequence;
    }
    return greatest;
}

static void assert_says(const struct bb_range_tombstones *list,
                        const struct bb_range_tombstone *tombstones, size_t count)
{
    for (size_t i = 0; i < KEYS; i++) {
        for (uint64_t sequence = 0; sequence <= 41; sequence++) {
            struct bb_range_tombstone_region region = {0};
            uint64_t expected = covering(tombstones, count, key_of(i), sequence);
            assert_int_equal(bb_range_tombstones_covering(list, key_of(i), sequence), expected);
            bb_range_tombstone_region_take_list(&region, list, key_of(i), sequence);
            assert_int_equal(region.covering, expected);
            assert_true(bb_range_tombstone_region_contains(&region, NULL, key_of(i)));
            for (size_t j = 0; j < KEYS; j++) {
                if (bb_range_tombstone_region_contains(&region, NULL, key_of(j)))
                    assert_int_equal(covering(tombstones, count, key_of(j), sequence), expected);
            }
        }
    }
}

static void range_tombstones__as_one_by_one(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("range_tombstones_test", 1));
    for (int round = 0; round < 60; round++) {
        struct bb_range_tombstone tombstones[TOMBSTONES_MAX];
        struct bb_range_tombstones *list = NULL;
        struct bb_range_tombstones *found = NULL;
        struct bb_buf section = {0};
        size_t count = draw(&rng, tombstones);
        assert_ok(bb_range_tombstones_create(tombstones, count, NULL, SIZE_MAX, &list));
        assert_says(list, tombstones, count);
        assert_ok(bb_range_tombstones_encode(list, &section));
        assert_ok(bb_range_tombstones_decode(bb_buf_bytes(&section), NULL, place, &found));
        assert_int_equal(found->count, list->count);
        assert_int_equal(found->sequence_count, list->sequence_count);
        assert_says(found, tombstones, count);
        bb_buf_deinit(&section);
        bb_range_tombstones_destroy(found);
        bb_range_tombstones_destroy(list);
    }
}

static void range_tombstones__touching_ones_become_one(void **state)
{
    (void)state;
    const struct bb_range_tombstone cut[] = {{key_of(2), key_of(5), 7}, {key_of(0), key_of(2), 7}};
    struct bb_range_tombstones *list = NULL;
    assert_ok(bb_range_tombstones_create(cut, 2, NULL, SIZE_MAX, &list));
    assert_int_equal(list->count, 1);
    assert_true(bb_bytes_equal(list->fragments[0].high, key_of(5)));
    bb_range_tombstones_destroy(list);
}

static void range_tombstones__too_many_overlaps(void **state)
{
    (void)state;
    struct bb_range_tombstone nested[10];
    struct bb_range_tombstones *list = NULL;
    for (size_t i = 0; i < 10; i++)
        nested[i] = (struct bb_range_tombstone){key_of(0), key_of(i + 1), i + 1};
    assert_status(bb_range_tombstones_create(nested, 10, NULL, 54, &list), BB_TOO_LARGE);
    assert_ok(bb_range_tombstones_create(nested, 10, NULL, 55, &list));
    bb_range_tombstones_destroy(list);
}

/* Of all that cover the key up to a sequence: the one visible at a snapshot, or now. */
static void range_tombstones__what_can_be_seen(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("range_tombstones_test", 2));
    for (int round = 0; round < 60; round++) {
        struct bb_range_tombstone tombstones[TOMBSTONES_MAX];
        struct bb_range_tombstones *list = NULL;
        uint64_t snapshots[3];
        size_t count = draw(&rng, tombstones);
        size_t snapshot_count = bb_rng_below(&rng, 3);
        for (size_t i = 0; i < snapshot_count; i++)
            snapshots[i] = (i == 0 ? 0 : snapshots[i - 1] + 1) + bb_rng_below(&rng, 15);
        snapshots[snapshot_count] = BB_SEQUENCE_MAX;
        assert_ok(bb_range_tombstones_create_seen(tombstones, count, NULL, snapshots,
                                                  snapshot_count, &list));
        for (size_t i = 0; i < list->count; i++)
            assert_in_range(list->fragments[i].count, 1, snapshot_count + 1);
        for (size_t i = 0; i < KEYS * (snapshot_count + 1); i++)
            assert_int_equal(
                bb_range_tombstones_covering(list, key_of(i % KEYS), snapshots[i / KEYS]),
                covering(tombstones, count, key_of(i % KEYS), snapshots[i / KEYS]));
        bb_range_tombstones_destroy(list);
    }
}

/* Nested ones had as many sequences as the square of their number: 800 MB of these. */
static void range_tombstones__ten_thousand_nested_are_ten_thousand(void **state)
{
    (void)state;
    static struct bb_range_tombstone nested[10000];
    static uint8_t keys[20000][2];
    struct bb_range_tombstones *list = NULL;
    for (size_t i = 0; i < 20000; i++) {
        keys[i][0] = (uint8_t)(i >> 8);
        keys[i][1] = (uint8_t)i;
    }
    for (size_t i = 0; i < 10000; i++)
        nested[i] = (struct bb_range_tombstone){bb_bytes_of(keys[i], 2),
                                                bb_bytes_of(keys[19999 - i], 2), i + 1};
    assert_ok(bb_range_tombstones_create_seen(nested, 10000, NULL, NULL, 0, &list));
    assert_int_equal(list->count, 19999);
    assert_int_equal(list->sequence_count, 19999);
    assert_int_equal(bb_range_tombstones_covering(list, bb_bytes_of(keys[9999], 2), 10000), 10000);
    bb_range_tombstones_destroy(list);
}

static void range_tombstones__corrupt(void **state)
{
    (void)state;
    static const char *const sections[] = {
        "",
        "\0",
        "\1",
        "\1\0\1b\0\5",
        "\1\2b\1a\0\5",
        "\1\2a\1a\0\5",
        "\1\2a\1b\1\5\0",
        "\1\2a\1b\1\5\6",
        "\2\2a\1d\0\5\2c\1e\0\5",
        "\1\2a\1b\0\5x",
        "\1\2a\1b\x7f\5",
    };
    static const size_t sizes[] = {0, 1, 1, 6, 7, 7, 8, 8, 13, 8, 7};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(sizes); i++) {
        struct bb_range_tombstones *list = NULL;
        assert_status(
            bb_range_tombstones_decode(bb_bytes_of(sections[i], sizes[i]), NULL, place, &list),
            BB_CORRUPT);
        assert_message("range tombstones");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_tombstones__as_one_by_one),
        cmocka_unit_test(range_tombstones__touching_ones_become_one),
        cmocka_unit_test(range_tombstones__too_many_overlaps),
        cmocka_unit_test(range_tombstones__what_can_be_seen),
        cmocka_unit_test(range_tombstones__ten_thousand_nested_are_ten_thousand),
        cmocka_unit_test(range_tombstones__corrupt),
    };
    return cmocka_run_group_tests_name("range_tombstones", tests, NULL, NULL);
}
