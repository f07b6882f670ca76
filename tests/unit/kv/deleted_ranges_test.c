/* Goal: for any range deletions, in any memtable, table and level for tombstones and keys, and any
 * snapshots, all ways of reading agree with a map. Method: many small stores of few keys, so that
 * ends of ranges, keys and borders of tables often coincide; all styles, two comparators; the empty
 * key and keys of maximum size are among the ends.
 *
 * BB_TEST_STORES sets the number of stores (default 24), BB_TEST_SEED the seed.
 */
#include "tests/support/store.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

#define KEYS      26
#define SNAPSHOTS 3
#define STEPS     400

/* By key the number of the write that it has; 0: none. */
struct map {
    uint32_t writes[KEYS];
};

struct held {
    struct bb_snapshot *snapshot; /* NULL: none */
    struct map map;
};

struct test {
    struct store store;
    struct bb_rng rng;
    struct bb_bytes keys[KEYS]; /* ascending under the comparator; owned */
    struct map map;
    struct held held[SNAPSHOTS];
    uint32_t write_count;
    uint32_t value_size_max;
    uint64_t seed;
    uint32_t step;
    uint64_t covered_tables; /* that were removed unread */
};

static int compare_backward(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static const struct bb_comparator backward = {.name = "test.backward", .compare = compare_backward};

/* Ascending bytes: the empty key, short ones, some that share eight bytes, and large ones. */
static struct bb_bytes make_key(uint32_t i, bool has_large)
{
    static const size_t large = BB_KEY_SIZE_MAX;
    bool is_large = has_large && (i == KEYS / 2 || i == KEYS - 1);
    size_t size = i == 0 ? 0 : i % 3 == 0 ? 10 : 1;
    size = is_large ? large : size;
    uint8_t *key = bb_must_realloc(NULL, size + 1);
    memset(key, 'A', size + 1);
    key[0] = (uint8_t)('a' + i);
    return bb_bytes_of(key, size);
}

static void make_keys(struct test *test, bool is_backward)
{
    bool has_large = bb_rng_one_in(&test->rng, 8);
    for (uint32_t i = 0; i < KEYS; i++)
        test->keys[is_backward ? KEYS - 1 - i : i] = make_key(i, has_large);
}

static void differs(const struct test *test, const char *how, size_t key, uint64_t found,
                    uint64_t expected)
{
    print_error("seed %" PRIu64 ", step %u: %s: key %zu has write %" PRIu64 ", expected %" PRIu64
                "\n",
                test->seed, test->step, how, key, found, expected);
    fail();
}

/* The write that a value names. */
static uint32_t write_of(struct bb_bytes value)
{
    uint32_t write = 0;
    assert_true(value.size >= sizeof(write));
    memcpy(&write, value.data, sizeof(write));
    return write;
}

/* ---- reading ---- */

static void check_gets(struct test *test, const struct map *map,
                       const struct bb_get_options *options)
{
    struct bb_buf values[KEYS] = {{0}};
    enum bb_status statuses[KEYS];
    struct bb_buf value = {0};
    assert_ok(bb_db_get_many(test->store.db, options, test->keys, KEYS, values, statuses));
    for (size_t i = 0; i < KEYS; i++) {
        enum bb_status status = bb_db_get(test->store.db, options, test->keys[i], &value);
        uint32_t found = status == BB_OK ? write_of(bb_buf_bytes(&value)) : 0;
        if (status != BB_OK && status != BB_NOT_FOUND)
            assert_ok(status);
        if (found != map->writes[i])
            differs(test, "get", i, found, map->writes[i]);
        found = statuses[i] == BB_OK ? write_of(bb_buf_bytes(&values[i])) : 0;
        if (found != map->writes[i])
            differs(test, "get of many", i, found, map->writes[i]);
        bb_buf_deinit(&values[i]);
    }
    bb_buf_deinit(&value);
}

static size_t index_above(const struct map *map, size_t index)
{
    while (index < KEYS && map->writes[index] == 0)
        index++;
    return index;
}

/* KEYS if none exists. */
static size_t index_below(const struct map *map, size_t index)
{
    while (index-- > 0) {
        if (map->writes[index] != 0)
            return index;
    }
    return KEYS;
}

static void check_place(struct test *test, struct bb_db_iter *iter, const struct map *map,
                        size_t index, const char *how)
{
    if (index == KEYS) {
        assert_ok(bb_db_iter_status(iter));
        if (bb_db_iter_valid(iter))
            differs(test, how, KEYS, write_of(bb_db_iter_value(iter)), 0);
        return;
    }
    if (!bb_db_iter_valid(iter))
        differs(test, how, index, 0, map->writes[index]);
    uint32_t found = write_of(bb_db_iter_value(iter));
    if (found != map->writes[index] || !bb_bytes_equal(bb_db_iter_key(iter), test->keys[index]))
        differs(test, how, index, found, map->writes[index]);
}

/* There and back, with turns and seeks. */
static void check_walk(struct test *test, struct bb_db_iter *iter, const struct map *map)
{
    size_t index = index_above(map, 0);
    bb_db_iter_seek_first(iter);
    check_place(test, iter, map, index, "seek to the first");
    for (int i = 0; i < 40; i++) {
        uint64_t move = bb_rng_below(&test->rng, 8);
        if (move == 0 || index == KEYS) {
            size_t key = (size_t)bb_rng_below(&test->rng, KEYS);
            bb_db_iter_seek(iter, test->keys[key]);
            index = index_above(map, key);
            check_place(test, iter, map, index, "seek");
        } else if (move < 4) {
            bb_db_iter_prev(iter);
            index = index_below(map, index);
            check_place(test, iter, map, index, "step back");
        } else {
            bb_db_iter_next(iter);
            index = index_above(map, index + 1);
            check_place(test, iter, map, index, "step");
        }
    }
    bb_db_iter_seek_last(iter);
    for (index = index_below(map, KEYS); index != KEYS; index = index_below(map, index)) {
        check_place(test, iter, map, index, "backward");
        bb_db_iter_prev(iter);
    }
    check_place(test, iter, map, KEYS, "backward");
}

/* From a low to a high key, without keys outside. */
static void check_range(struct test *test, const struct map *map,
                        const struct bb_get_options *options)
{
    size_t low = (size_t)bb_rng_below(&test->rng, KEYS);
    size_t high = (size_t)bb_rng_between(&test->rng, low, KEYS - 1);
    struct map part = {{0}};
    struct bb_db_iter *iter = NULL;
    struct bb_key_range range = {.low = &test->keys[low], .high = &test->keys[high]};
    for (size_t i = low; i < high; i++)
        part.writes[i] = map->writes[i];
    assert_ok(bb_db_iter_create_range(test->store.db, options, &range, &iter));
    check_walk(test, iter, &part);
    bb_db_iter_destroy(iter);
}

static void check_map(struct test *test, const struct map *map, const struct bb_snapshot *snapshot)
{
    struct bb_get_options options = {.snapshot = snapshot};
    struct bb_db_iter *iter = NULL;
    check_gets(test, map, &options);
    assert_ok(bb_db_iter_create(test->store.db, &options, &iter));
    check_walk(test, iter, map);
    bb_db_iter_destroy(iter);
    check_range(test, map, &options);
}

static void check(struct test *test)
{
    check_map(test, &test->map, NULL);
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        if (test->held[i].snapshot != NULL)
            check_map(test, &test->held[i].map, test->held[i].snapshot);
    }
}

/* ---- writing ---- */

static void add_put(struct test *test, struct bb_batch *batch)
{
    static uint8_t value[4096];
    size_t key = (size_t)bb_rng_below(&test->rng, KEYS);
    uint32_t write = ++test->write_count;
    size_t size = sizeof(write) + (size_t)bb_rng_below(&test->rng, test->value_size_max);
    memcpy(value, &write, sizeof(write));
    bb_rng_bytes(&test->rng, value + sizeof(write), size - sizeof(write));
    assert_ok(bb_batch_put(batch, test->keys[key], bb_bytes_of(value, size)));
    test->map.writes[key] = write;
}

static void add_delete(struct test *test, struct bb_batch *batch)
{
    size_t key = (size_t)bb_rng_below(&test->rng, KEYS);
    assert_ok(bb_batch_delete(batch, test->keys[key]));
    test->map.writes[key] = 0;
}

/* Mostly narrow; some are empty or the wrong way round, and delete nothing. */
static void add_delete_range(struct test *test, struct bb_batch *batch)
{
    size_t low = (size_t)bb_rng_below(&test->rng, KEYS);
    size_t high = low + (size_t)bb_rng_below(&test->rng, bb_rng_one_in(&test->rng, 6) ? KEYS : 4);
    if (high >= KEYS)
        high = (size_t)bb_rng_below(&test->rng, KEYS);
    assert_ok(bb_batch_delete_range(batch, test->keys[low], test->keys[high]));
    for (size_t i = low; i < high; i++)
        test->map.writes[i] = 0;
}

static void write_some(struct test *test)
{
    struct bb_batch *batch = NULL;
    uint64_t count = bb_rng_one_in(&test->rng, 30) ? 60 : bb_rng_between(&test->rng, 1, 4);
    assert_ok(bb_batch_create(&batch));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t kind = bb_rng_below(&test->rng, 8);
        if (kind < 4)
            add_put(test, batch);
        else if (kind == 4)
            add_delete(test, batch);
        else
            add_delete_range(test, batch);
    }
    assert_ok(bb_db_write(test->store.db, NULL, batch));
    bb_batch_destroy(batch);
}

static void release(struct test *test, struct held *held)
{
    if (held->snapshot != NULL)
        bb_snapshot_release(test->store.db, held->snapshot);
    held->snapshot = NULL;
}

static void hold(struct test *test)
{
    struct held *held = &test->held[bb_rng_below(&test->rng, SNAPSHOTS)];
    bool had = held->snapshot != NULL;
    release(test, held);
    if (had && bb_rng_one_in(&test->rng, 2))
        return;
    held->snapshot = store_snapshot(&test->store);
    held->map = test->map;
}

static void compact_some(struct test *test)
{
    size_t low = (size_t)bb_rng_below(&test->rng, KEYS);
    size_t high = (size_t)bb_rng_between(&test->rng, low, KEYS - 1);
    assert_ok(bb_db_compact_range(test->store.db, &test->keys[low], &test->keys[high]));
}

static void take_statistics(struct test *test)
{
    test->covered_tables += store_stats(&test->store).covered_tables;
}

static void reopen(struct test *test)
{
    take_statistics(test);
    for (size_t i = 0; i < SNAPSHOTS; i++)
        release(test, &test->held[i]);
    if (bb_rng_one_in(&test->rng, 2))
        store_kill(&test->store);
    else
        store_reopen(&test->store);
}

static void take_step(struct test *test)
{
    uint64_t kind = bb_rng_below(&test->rng, 100);
    if (kind < 70)
        write_some(test);
    else if (kind < 80)
        assert_ok(bb_db_flush(test->store.db));
    else if (kind < 85)
        compact_some(test);
    else if (kind < 87)
        assert_ok(bb_db_compact(test->store.db));
    else if (kind < 97)
        hold(test);
    else if (kind == 97)
        reopen(test);
    else
        check(test);
}

static void draw_options(struct test *test)
{
    struct bb_db_options *options = &test->store.options;
    options->compaction_style = (enum bb_compaction_style)bb_rng_between(
        &test->rng, BB_COMPACTION_LEVELED, BB_COMPACTION_LAZY_LEVELING);
    options->table_size_bytes = 4096;
    options->level1_size_bytes = 8192;
    options->level_size_ratio = (uint32_t)bb_rng_between(&test->rng, 2, 4);
    options->level0_run_count_compact = (uint32_t)bb_rng_between(&test->rng, 1, 4);
    if (bb_rng_one_in(&test->rng, 2))
        options->comparator = &backward;
}

/* Gives how many tables went unread. */
static uint64_t run_store(uint64_t seed)
{
    struct test test = {.seed = seed};
    bb_rng_init(&test.rng, seed);
    store_init(&test.store);
    draw_options(&test);
    test.value_size_max = bb_rng_one_in(&test.rng, 2) ? 40 : 3000;
    make_keys(&test, test.store.options.comparator != NULL);
    store_open(&test.store);
    for (test.step = 0; test.step < STEPS; test.step++)
        take_step(&test);
    check(&test);
    for (size_t i = 0; i < SNAPSHOTS; i++)
        release(&test, &test.held[i]);
    assert_ok(bb_db_compact(test.store.db));
    check(&test);
    take_statistics(&test);
    store_deinit(&test.store);
    for (size_t i = 0; i < KEYS; i++)
        free((void *)(uintptr_t)test.keys[i].data);
    return test.covered_tables;
}

static void deleted_ranges__every_way_of_reading_shows_the_map(void **state)
{
    (void)state;
    const char *text = getenv("BB_TEST_STORES");
    uint64_t count = text == NULL ? 24 : strtoull(text, NULL, 10);
    uint64_t seed = bb_rng_seed("deleted_ranges_test", 1);
    uint64_t covered_tables = 0;
    for (uint64_t i = 0; i < count; i++)
        covered_tables += run_store(seed + i);
    assert_true(covered_tables >= count);
}

/* The newest version of a key was covered, an older one was kept for a snapshot: a cut after the
 * output's last key was before it. */
static void deleted_ranges__outputs_are_not_cut_before_an_older_version(void **state)
{
    (void)state;
    (void)run_store(1387);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deleted_ranges__every_way_of_reading_shows_the_map),
        cmocka_unit_test(deleted_ranges__outputs_are_not_cut_before_an_older_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
