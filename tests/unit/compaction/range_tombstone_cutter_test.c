/* Goal: the written pieces together equal the original tombstones, each within its cuts; tombstones
 * without effect are dropped only if no snapshot can see a difference. Method: random tombstones
 * over short keys, cut at random keys, each key checked at each snapshot; a table in a level below,
 * which part of the ranges overlap. */
#include "tests/unit/compaction/shelf.h"

#include "base/bytes.h"
#include "compaction/merge/range_tombstone_cutter.h"

#define KEYS       26
#define TOMBSTONES 20

static uint8_t letters[KEYS];

static struct bb_bytes key_of(size_t i)
{
    letters[i] = (uint8_t)('a' + i);
    return bb_bytes_of(&letters[i], 1);
}

struct cutting {
    struct bb_range_tombstone tombstones[TOMBSTONES];
    uint64_t snapshots[3];
    size_t snapshot_count;
    struct bb_levels *levels;
    struct bb_plan plan; /* to level 1 */
    struct bb_retain retain;
    struct bb_range_tombstone_cutter cutter;
    struct bb_range_tombstone_array written;
};

static uint64_t covering(const struct bb_range_tombstone *tombstones, size_t count, size_t key,
                         uint64_t sequence)
{
    uint64_t greatest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct bb_range_tombstone *t = &tombstones[i];
        if (t->sequence <= sequence && t->sequence > greatest &&
            bb_bytes_compare(t->low, key_of(key)) <= 0 &&
            bb_bytes_compare(key_of(key), t->high) < 0)
            greatest = t->sequence;
    }
    return greatest;
}

static void begin(struct cutting *cutting, struct bb_rng *rng)
{
    *cutting = (struct cutting){.plan = {.output_level = 1}};
    for (size_t i = 0; i < TOMBSTONES; i++) {
        size_t low = bb_rng_below(rng, KEYS - 1);
        cutting->tombstones[i] = (struct bb_range_tombstone){
            key_of(low), key_of(bb_rng_between(rng, low + 1, KEYS - 1)), i + 1};
    }
    cutting->snapshot_count = bb_rng_below(rng, 3);
    for (size_t i = 0; i < cutting->snapshot_count; i++)
        cutting->snapshots[i] = (i + 1) * 6;
    cutting->snapshots[cutting->snapshot_count] = BB_SEQUENCE_MAX;
    bb_retain_init(&cutting->retain, cutting->snapshots, cutting->snapshot_count, NULL);
    assert_ok(bb_levels_create_empty(NULL, &cutting->levels));
    assert_ok(bb_range_tombstones_create(cutting->tombstones, TOMBSTONES, NULL, SIZE_MAX,
                                         &cutting->cutter.list));
}

static void end(struct cutting *cutting)
{
    bb_range_tombstone_cutter_deinit(&cutting->cutter);
    bb_range_tombstone_array_deinit(&cutting->written);
    bb_levels_unref(cutting->levels);
    bb_retain_deinit(&cutting->retain);
}

/* One table in level 2, from key to key. */
static void put_below(struct cutting *cutting, struct shelf *shelf, size_t first, size_t last)
{
    struct bb_table_file *file = NULL;
    struct bb_levels *next = NULL;
    struct bb_entry_array run = {0};
    bb_entry_array_add(&run, &(struct bb_entry){.key = key_of(first), .sequence = 1});
    bb_entry_array_add(&run, &(struct bb_entry){.key = key_of(last), .sequence = 1});
    bb_entry_array_sort(&run);
    assert_int_equal(shelf_put_run(shelf, &run, run.count + 1, &file), 1);
    struct bb_level_change change = {.level = 2, .file = file};
    assert_ok(bb_levels_apply(cutting->levels, NULL, 0, &change, 1, &next));
    bb_levels_unref(cutting->levels);
    cutting->levels = next;
    bb_table_file_unref(file);
    bb_entry_array_deinit(&run);
}

static void take(struct cutting *cutting, const struct bb_bytes *low, const struct bb_bytes *high)
{
    struct bb_range_tombstone_array part = {0};
    assert_ok(bb_range_tombstone_cutter_take(&cutting->cutter, high, cutting->levels,
                                             &cutting->plan, &cutting->retain, &part));
    for (size_t i = 0; i < part.count; i++) {
        struct bb_range_tombstone *t = &part.tombstones[i];
        assert_true(bb_bytes_compare(t->low, t->high) < 0);
        assert_true(low == NULL || bb_bytes_compare(*low, t->low) <= 0);
        assert_true(high == NULL || bb_bytes_compare(t->high, *high) <= 0);
        /* The keys are the cutter's until the next cut. */
        assert_ok(
            bb_range_tombstone_array_add(&cutting->written, key_of((size_t)(t->low.data[0] - 'a')),
                                         key_of((size_t)(t->high.data[0] - 'a')), t->sequence));
    }
    bb_range_tombstone_array_deinit(&part);
}

static void cut_all(struct cutting *cutting, struct bb_rng *rng)
{
    struct bb_bytes low = {0};
    bool has_low = false;
    for (size_t key = bb_rng_below(rng, 6); key < KEYS; key += bb_rng_below(rng, 9)) {
        struct bb_bytes high = key_of(key);
        take(cutting, has_low ? &low : NULL, &high);
        assert_ok(bb_range_tombstone_cutter_cut(&cutting->cutter, high));
        low = high;
        has_low = true;
        if (bb_rng_one_in(rng, 8))
            break;
    }
    take(cutting, has_low ? &low : NULL, NULL);
    assert_ok(bb_range_tombstone_cutter_cut(&cutting->cutter, key_of(KEYS - 1)));
    assert_true(bb_range_tombstone_cutter_is_done(&cutting->cutter));
}

/* True when the tombstone is older than all snapshots, so that no reader can see an older
 * version. */
static bool is_oldest(const struct cutting *cutting, uint64_t sequence)
{
    return sequence <= cutting->snapshots[0];
}

static void range_tombstone_cutter__parts_are_the_whole(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct shelf shelf;
    bb_rng_init(&rng, bb_rng_seed("range_cutter_test", 1));
    shelf_init(&shelf, NULL);
    for (int round = 0; round < 100; round++) {
        struct cutting cutting;
        begin(&cutting, &rng);
        put_below(&cutting, &shelf, 0, KEYS - 1);
        cut_all(&cutting, &rng);
        for (size_t key = 0; key < KEYS; key++) {
            for (size_t i = 0; i <= cutting.snapshot_count; i++)
                assert_int_equal(
                    covering(cutting.written.tombstones, cutting.written.count, key,
                             cutting.snapshots[i]),
                    covering(cutting.tombstones, TOMBSTONES, key, cutting.snapshots[i]));
        }
        end(&cutting);
    }
    shelf_deinit(&shelf);
}

/* Where the table below has keys, tombstones stay; elsewhere tombstones visible to every reader are
 * dropped. */
static void range_tombstone_cutter__hides_what_is_below(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct shelf shelf;
    bb_rng_init(&rng, bb_rng_seed("range_cutter_test", 2));
    shelf_init(&shelf, NULL);
    for (int round = 0; round < 100; round++) {
        struct cutting cutting;
        size_t first = bb_rng_below(&rng, KEYS - 1);
        size_t last = bb_rng_between(&rng, first + 1, KEYS - 1);
        begin(&cutting, &rng);
        put_below(&cutting, &shelf, first, last);
        cut_all(&cutting, &rng);
        for (size_t key = 0; key < KEYS; key++) {
            for (size_t i = 0; i <= cutting.snapshot_count; i++) {
                uint64_t expected =
                    covering(cutting.tombstones, TOMBSTONES, key, cutting.snapshots[i]);
                uint64_t found = covering(cutting.written.tombstones, cutting.written.count, key,
                                          cutting.snapshots[i]);
                bool may_go = is_oldest(&cutting, expected) && (key < first || key > last);
                assert_true(found == expected || (may_go && found == 0));
            }
        }
        end(&cutting);
    }
    shelf_deinit(&shelf);
}

static void range_tombstone_cutter__nothing_below_leaves_what_snapshots_need(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("range_cutter_test", 3));
    for (int round = 0; round < 100; round++) {
        struct cutting cutting;
        begin(&cutting, &rng);
        cut_all(&cutting, &rng);
        for (size_t i = 0; i < cutting.written.count; i++)
            assert_false(is_oldest(&cutting, cutting.written.tombstones[i].sequence));
        end(&cutting);
    }
}

/* The tombstones that begin before the key, and at or after the last cut. */
static void range_tombstone_cutter__counts_what_it_passes(void **state)
{
    (void)state;
    struct bb_range_tombstone tombstones[] = {
        {key_of(1), key_of(3), 5}, {key_of(4), key_of(9), 6}, {key_of(12), key_of(14), 7}};
    const uint64_t one = 2 + sizeof(uint64_t);
    struct bb_range_tombstone_cutter cutter = {0};
    assert_int_equal(bb_range_tombstone_cutter_pass(&cutter, key_of(20)), 0);
    assert_ok(bb_range_tombstones_create(tombstones, 3, NULL, SIZE_MAX, &cutter.list));
    assert_int_equal(bb_range_tombstone_cutter_pass(&cutter, key_of(1)), 0);
    assert_int_equal(bb_range_tombstone_cutter_pass(&cutter, key_of(2)), one);
    assert_int_equal(bb_range_tombstone_cutter_pass(&cutter, key_of(6)), 2 * one);
    assert_ok(bb_range_tombstone_cutter_cut(&cutter, key_of(6)));
    assert_int_equal(bb_range_tombstone_cutter_pass(&cutter, key_of(7)),
                     one); /* the rest of the second */
    assert_int_equal(bb_range_tombstone_cutter_pass(&cutter, key_of(20)), 2 * one);
    bb_range_tombstone_cutter_deinit(&cutter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_tombstone_cutter__parts_are_the_whole),
        cmocka_unit_test(range_tombstone_cutter__hides_what_is_below),
        cmocka_unit_test(range_tombstone_cutter__nothing_below_leaves_what_snapshots_need),
        cmocka_unit_test(range_tombstone_cutter__counts_what_it_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
