/* Goal: a stream over a run returns exactly the entries that no range tombstone hides: of the run
 * itself, entries not older than its tombstones, and none covered by newer runs; at any sequence,
 * in both directions, after any seek. Method: two memtables of random entries and range tombstones;
 * the stream compared with a list of all entries, each checked by walking all tombstones. Runs of
 * tables: deleted_ranges_test.c. */
#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "compaction/levels/levels.h"
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_ranges.h"
#include "kv/view/uncovered_iter.h"
#include "kv/view/view.h"
#include "tests/support/rng.h"

#define RUNS   2 /* the active memtable, and a frozen one */
#define KEYS   60
#define WRITES 200 /* in each run */

static uint8_t letters[KEYS];

static struct bb_bytes key_of(size_t i)
{
    letters[i] = (uint8_t)('A' + i);
    return bb_bytes_of(&letters[i], 1);
}

struct test {
    struct bb_write_buffer buffers[RUNS];
    struct bb_view view;
    struct bb_range_tombstone_array ranges[RUNS];
};

static void fill(struct test *test, struct bb_rng *rng, size_t run)
{
    struct bb_memtable *memtable = test->buffers[run].memtable;
    uint64_t one_range_in = bb_rng_between(rng, 3, 100);
    for (uint64_t i = 1; i <= WRITES; i++) {
        size_t key = bb_rng_below(rng, KEYS);
        struct bb_entry entry = {
            .key = key_of(key), .kind = BB_ENTRY_PUT, .sequence = (RUNS - 1 - run) * WRITES + i};
        if (bb_rng_one_in(rng, one_range_in)) {
            entry.kind = BB_ENTRY_DELETE_RANGE;
            entry.value = key_of(bb_rng_between(rng, key, KEYS - 1));
        }
        assert_ok(bb_memtable_add(memtable, &entry, 0));
    }
    assert_ok(bb_memtable_ranges_list(memtable, &test->ranges[run]));
}

static void test_init(struct test *test, struct bb_rng *rng)
{
    *test = (struct test){.view = {.buffers = {&test->buffers[0], &test->buffers[1]}}};
    test->view.buffer_count = RUNS;
    assert_ok(bb_levels_create_empty(NULL, &test->view.levels));
    for (size_t run = 0; run < RUNS; run++) {
        assert_ok(bb_memtable_create(NULL, 1 << 20, &test->buffers[run].memtable));
        fill(test, rng, run);
    }
}

static void test_deinit(struct test *test)
{
    for (size_t run = 0; run < RUNS; run++) {
        bb_memtable_destroy(test->buffers[run].memtable);
        bb_range_tombstone_array_deinit(&test->ranges[run]);
    }
    bb_levels_unref(test->view.levels);
}

static uint64_t covering(const struct bb_range_tombstone_array *array, struct bb_bytes key,
                         uint64_t sequence)
{
    uint64_t greatest = 0;
    for (size_t i = 0; i < array->count; i++) {
        const struct bb_range_tombstone *t = &array->tombstones[i];
        if (t->sequence <= sequence && t->sequence > greatest &&
            bb_bytes_compare(t->low, key) <= 0 && bb_bytes_compare(key, t->high) < 0)
            greatest = t->sequence;
    }
    return greatest;
}

static bool is_hidden(const struct test *test, size_t run, const struct bb_entry *entry,
                      uint64_t sequence)
{
    for (size_t newer = 0; newer < run; newer++) {
        if (covering(&test->ranges[newer], entry->key, sequence) > 0)
            return true;
    }
    return covering(&test->ranges[run], entry->key, sequence) > entry->sequence;
}

static size_t list_shown(const struct test *test, size_t run, uint64_t sequence,
                         struct bb_entry *shown)
{
    size_t count = 0;
    struct bb_iter *iter = NULL;
    assert_ok(bb_memtable_iter_create(test->buffers[run].memtable, &iter));
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter)) {
        if (!is_hidden(test, run, &iter->entry, sequence))
            shown[count++] = iter->entry;
    }
    bb_iter_destroy(iter);
    return count;
}

static void assert_shows(const struct bb_iter *iter, const struct bb_entry *shown, size_t count,
                         size_t index)
{
    assert_ok(iter->status);
    assert_int_equal(iter->is_valid, index < count);
    if (index < count) {
        assert_true(bb_bytes_equal(iter->entry.key, shown[index].key));
        assert_int_equal(iter->entry.sequence, shown[index].sequence);
    }
}

static void check_seeks(struct bb_iter *iter, struct bb_rng *rng, const struct bb_entry *shown,
                        size_t count)
{
    for (int i = 0; i < 30; i++) {
        struct bb_bytes key = key_of(bb_rng_below(rng, KEYS));
        size_t index = 0;
        while (index < count && bb_bytes_compare(shown[index].key, key) < 0)
            index++;
        bb_iter_seek(iter, key, BB_SEQUENCE_MAX);
        assert_shows(iter, shown, count, index);
        for (int step = 0; step < 6 && iter->is_valid; step++) {
            bool is_forward = bb_rng_one_in(rng, 2);
            is_forward ? bb_iter_next(iter) : bb_iter_prev(iter);
            index = is_forward ? index + 1 : index == 0 ? count : index - 1;
            assert_shows(iter, shown, count, index);
        }
    }
}

static void check(const struct test *test, struct bb_rng *rng, size_t run, uint64_t sequence)
{
    struct bb_entry shown[WRITES];
    struct bb_range_tombstone_cover cover = {.view = &test->view, .sequence = sequence, .run = run};
    struct bb_iter *iter = NULL;
    size_t count = list_shown(test, run, sequence, shown);
    size_t index = 0;
    if (!bb_range_tombstone_cover_is_needed(&cover)) {
        assert_int_equal(test->ranges[0].count + (run == 0 ? 0 : test->ranges[run].count), 0);
        return;
    }
    assert_ok(bb_memtable_iter_create(test->buffers[run].memtable, &iter));
    assert_ok(bb_uncovered_iter_create(iter, bb_memtable_iter_approach, &cover, &iter));
    for (bb_iter_seek_first(iter); index < count; bb_iter_next(iter))
        assert_shows(iter, shown, count, index++);
    assert_shows(iter, shown, count, count);
    for (bb_iter_seek_last(iter); index > 0; bb_iter_prev(iter))
        assert_shows(iter, shown, count, --index);
    assert_shows(iter, shown, count, count);
    check_seeks(iter, rng, shown, count);
    bb_iter_destroy(iter);
}

static void uncovered_iter__shows_what_is_not_hidden(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("uncovered_iter_test", 1));
    for (int round = 0; round < 60; round++) {
        struct test test;
        test_init(&test, &rng);
        for (size_t run = 0; run < RUNS; run++) {
            check(&test, &rng, run, BB_SEQUENCE_MAX);
            check(&test, &rng, run, bb_rng_between(&rng, 1, RUNS * WRITES));
        }
        test_deinit(&test);
    }
}

/* A search result is kept only for its region. */
static void range_cover__region_has_one_answer(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("uncovered_iter_test", 2));
    for (int round = 0; round < 60; round++) {
        struct test test;
        uint64_t sequence = bb_rng_between(&rng, 1, RUNS * WRITES);
        struct bb_range_tombstone_cover cover = {
            .view = &test.view, .sequence = sequence, .run = 1};
        test_init(&test, &rng);
        for (int i = 0; i < 100; i++) {
            struct bb_bytes key = key_of(bb_rng_below(&rng, KEYS));
            assert_ok(bb_range_tombstone_cover_find(&cover, key));
            assert_true(bb_range_tombstone_region_contains(&cover.region, NULL, key));
            assert_int_equal(cover.region.covering, covering(&test.ranges[0], key, sequence));
            assert_int_equal(cover.own, covering(&test.ranges[1], key, sequence));
        }
        test_deinit(&test);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uncovered_iter__shows_what_is_not_hidden),
        cmocka_unit_test(range_cover__region_has_one_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
