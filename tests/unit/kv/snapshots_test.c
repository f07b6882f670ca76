/* Goal: the list of snapshots has their sequences in order without duplicates, for any order of
 * releases. Method: hand-made cases, and random adding and removing compared with a plain array. */
#include "tests/support/assert_status.h"

#include "base/alloc.h"
#include "kv/view/snapshots.h"
#include "tests/support/rng.h"

#define ALIVE_MAX 64

static void assert_list(const struct bb_snapshots *snapshots, const uint64_t *expected,
                        size_t count)
{
    uint64_t *found = NULL;
    size_t found_count = 99;
    assert_ok(bb_snapshots_list(snapshots, &found, &found_count));
    assert_int_equal(found_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(found[i], expected[i]);
    if (count == 0)
        assert_null(found);
    bb_free(found);
}

static struct bb_snapshot *add(struct bb_snapshots *snapshots, uint64_t sequence)
{
    struct bb_snapshot *snapshot = NULL;
    assert_ok(bb_snapshots_add(snapshots, sequence, &snapshot));
    assert_int_equal(snapshot->sequence, sequence);
    return snapshot;
}

static void snapshots__none(void **state)
{
    (void)state;
    struct bb_snapshots snapshots;
    bb_snapshots_init(&snapshots);
    assert_int_equal(snapshots.count, 0);
    assert_list(&snapshots, NULL, 0);
}

static void snapshots__sequence_zero(void **state)
{
    (void)state;
    struct bb_snapshots snapshots;
    bb_snapshots_init(&snapshots);
    struct bb_snapshot *zero = add(&snapshots, 0);
    assert_list(&snapshots, (uint64_t[]){0}, 1);
    bb_snapshots_remove(&snapshots, zero);
    assert_list(&snapshots, NULL, 0);
}

static void snapshots__equal_ones_are_listed_once(void **state)
{
    (void)state;
    struct bb_snapshots snapshots;
    bb_snapshots_init(&snapshots);
    struct bb_snapshot *first = add(&snapshots, 5);
    struct bb_snapshot *second = add(&snapshots, 5);
    struct bb_snapshot *third = add(&snapshots, 9);
    assert_ptr_not_equal(first, second);
    assert_int_equal(snapshots.count, 3);
    assert_list(&snapshots, (uint64_t[]){5, 9}, 2);
    /* The other one still stands for the sequence. */
    bb_snapshots_remove(&snapshots, first);
    assert_list(&snapshots, (uint64_t[]){5, 9}, 2);
    bb_snapshots_remove(&snapshots, second);
    assert_list(&snapshots, (uint64_t[]){9}, 1);
    bb_snapshots_remove(&snapshots, third);
    assert_list(&snapshots, NULL, 0);
}

static void snapshots__released_in_any_order(void **state)
{
    (void)state;
    static const size_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t order = 0; order < 6; order++) {
        struct bb_snapshots snapshots;
        struct bb_snapshot *handles[3];
        bb_snapshots_init(&snapshots);
        for (size_t i = 0; i < 3; i++)
            handles[i] = add(&snapshots, 10 + i);
        bb_snapshots_remove(&snapshots, handles[orders[order][0]]);
        uint64_t left[2];
        size_t count = 0;
        for (size_t i = 0; i < 3; i++) {
            if (i != orders[order][0])
                left[count++] = 10 + i;
        }
        assert_list(&snapshots, left, 2);
        bb_snapshots_remove(&snapshots, handles[orders[order][1]]);
        assert_list(&snapshots, (uint64_t[]){10 + orders[order][2]}, 1);
        bb_snapshots_remove(&snapshots, handles[orders[order][2]]);
        assert_list(&snapshots, NULL, 0);
    }
}

/* The plain array: handles in the order of their making. */
struct alive {
    struct bb_snapshot *handles[ALIVE_MAX];
    size_t count;
};

static void remove_at(struct bb_snapshots *snapshots, struct alive *alive, size_t index)
{
    bb_snapshots_remove(snapshots, alive->handles[index]);
    alive->count--;
    for (size_t i = index; i < alive->count; i++)
        alive->handles[i] = alive->handles[i + 1];
}

static void assert_like(const struct bb_snapshots *snapshots, const struct alive *alive)
{
    uint64_t sequences[ALIVE_MAX];
    size_t count = 0;
    for (size_t i = 0; i < alive->count; i++) {
        uint64_t sequence = alive->handles[i]->sequence;
        if (count == 0 || sequences[count - 1] != sequence)
            sequences[count++] = sequence;
    }
    assert_int_equal(snapshots->count, alive->count);
    assert_list(snapshots, sequences, count);
}

static void snapshots__as_an_array(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct bb_snapshots snapshots;
    struct alive alive = {.count = 0};
    uint64_t sequence = 0;
    bb_rng_init(&rng, bb_rng_seed("snapshots_test", 1));
    bb_snapshots_init(&snapshots);
    for (int step = 0; step < 20000; step++) {
        sequence += bb_rng_below(&rng, 3);
        if (alive.count < ALIVE_MAX && bb_rng_one_in(&rng, 2))
            alive.handles[alive.count++] = add(&snapshots, sequence);
        else if (alive.count > 0)
            remove_at(&snapshots, &alive, bb_rng_below(&rng, alive.count));
        assert_like(&snapshots, &alive);
    }
    while (alive.count > 0)
        remove_at(&snapshots, &alive, 0);
    assert_list(&snapshots, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots__none),
        cmocka_unit_test(snapshots__sequence_zero),
        cmocka_unit_test(snapshots__equal_ones_are_listed_once),
        cmocka_unit_test(snapshots__released_in_any_order),
        cmocka_unit_test(snapshots__as_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
