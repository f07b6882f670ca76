/* Goal: a pinned value stays readable and unchanged after any change of its source, and a store
 * with pinned values is not closed. Method: values from memtables and from tables, with a cache, a
 * tiny one, none and bypassing it, held while everything is overwritten, flushed, compacted,
 * evicted and its files are removed; the address sanitizer finds errors that the bytes do not show.
 * Threads that pin and release while others write. */
#include "tests/support/store.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "base/sync.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define KEYS 1000

static void put(struct store *store, uint32_t i, uint32_t version)
{
    char key[16];
    char value[128];
    snprintf(key, sizeof(key), "key%05" PRIu32, i);
    snprintf(value, sizeof(value), "%" PRIu32 " of %" PRIu32 " %0100d", version, i, (int)i);
    store_put(store, key, value);
}

static void put_all(struct store *store, uint32_t version)
{
    for (uint32_t i = 0; i < KEYS; i++)
        put(store, i, version);
}

static enum bb_status pin(struct bb_db *db, uint32_t i, const struct bb_get_options *options,
                          struct bb_pinned *pinned)
{
    char key[16];
    snprintf(key, sizeof(key), "key%05" PRIu32, i);
    return bb_db_get_pinned(db, options, bb_bytes_of_text(key), pinned);
}

static void assert_pinned(const struct bb_pinned *pinned, uint32_t i, uint32_t version)
{
    char expected[128];
    snprintf(expected, sizeof(expected), "%" PRIu32 " of %" PRIu32 " %0100d", version, i, (int)i);
    assert_true(bb_bytes_equal(pinned->bytes, bb_bytes_of_text(expected)));
}

static void pin_all(struct store *store, const struct bb_get_options *options,
                    struct bb_pinned *pins, uint32_t version)
{
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_ok(pin(store->db, i, options, &pins[i]));
        assert_pinned(&pins[i], i, version);
    }
}

static void release_all(struct bb_pinned *pins, uint32_t version)
{
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_pinned(&pins[i], i, version);
        bb_pinned_release(&pins[i]);
        assert_null(pins[i].bytes.data);
    }
}

/* All that can happen to a place: twice, so that memory that became free is used again. */
static void turn_over(struct store *store)
{
    for (uint32_t version = 10; version < 12; version++) {
        put_all(store, version);
        assert_ok(bb_db_flush(store->db));
        assert_ok(bb_db_compact(store->db));
        bb_db_clear_cache(store->db);
        for (uint32_t i = 0; i < KEYS; i++) {
            struct bb_pinned now = {0};
            assert_ok(pin(store->db, i, NULL, &now));
            assert_pinned(&now, i, version);
            bb_pinned_release(&now);
        }
    }
}

static void pinned__values_of_tables_outlive_their_files(void **state)
{
    (void)state;
    static const struct {
        uint64_t cache_bytes;
        bool cache_off;
        bool bypass_fill;
    } cases[] = {{0, false, false}, {64 * 1024, false, false}, {0, true, false}, {0, false, true}};
    static struct bb_pinned pins[KEYS];
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct store store;
        struct bb_get_options options = {.bypass_fill = cases[c].bypass_fill};
        store_init(&store);
        store.options.cache_bytes = cases[c].cache_bytes;
        store.options.cache_off = cases[c].cache_off;
        store_open(&store);
        put_all(&store, 1);
        assert_ok(bb_db_compact(store.db));
        pin_all(&store, &options, pins, 1);
        turn_over(&store);
        release_all(pins, 1);
        struct bb_db_stats stats = store_stats(&store);
        assert_true(stats.cache.used_bytes <= stats.cache.capacity_bytes);
        store_deinit(&store);
    }
}

static void pinned__values_of_memtables_outlive_the_flush(void **state)
{
    (void)state;
    static struct bb_pinned pins[KEYS];
    struct store store;
    store_init(&store);
    store.options.write_buffer_bytes = 1024 * 1024;
    store_open(&store);
    put_all(&store, 1);
    pin_all(&store, NULL, pins, 1);
    turn_over(&store);
    release_all(pins, 1);
    store_deinit(&store);
}

static void pinned__a_value_is_that_of_its_snapshot(void **state)
{
    (void)state;
    struct store store;
    struct bb_pinned old = {0};
    struct bb_pinned new = {0};
    store_init(&store);
    store_open(&store);
    put(&store, 1, 1);
    struct bb_snapshot *snapshot = store_snapshot(&store);
    put(&store, 1, 2);
    assert_ok(pin(store.db, 1, &(struct bb_get_options){.snapshot = snapshot}, &old));
    assert_ok(pin(store.db, 1, NULL, &new));
    bb_snapshot_release(store.db, snapshot);
    assert_pinned(&old, 1, 1);
    assert_pinned(&new, 1, 2);
    bb_pinned_release(&old);
    bb_pinned_release(&new);
    store_deinit(&store);
}

static void pinned__what_is_not_there_leaves_the_pin_alone(void **state)
{
    (void)state;
    static const uint8_t long_key[BB_KEY_SIZE_MAX + 1];
    struct store store;
    struct bb_pinned pinned = {.bytes = {.data = long_key, .size = 3}};
    store_init(&store);
    store_open(&store);
    put(&store, 1, 1);
    store_delete(&store, "key00001");
    assert_status(pin(store.db, 1, NULL, &pinned), BB_NOT_FOUND);
    assert_ok(bb_db_flush(store.db));
    assert_status(pin(store.db, 1, NULL, &pinned), BB_NOT_FOUND);
    assert_status(pin(store.db, 2, NULL, &pinned), BB_NOT_FOUND);
    assert_status(
        bb_db_get_pinned(store.db, NULL, bb_bytes_of(long_key, sizeof(long_key)), &pinned),
        BB_TOO_LARGE);
    assert_ptr_equal(pinned.bytes.data, long_key);
    assert_int_equal(pinned.bytes.size, 3);
    store_deinit(&store);
}

static void pinned__close_is_refused_while_a_value_is_pinned(void **state)
{
    (void)state;
    struct store store;
    struct bb_pinned in_memory = {0};
    struct bb_pinned in_table = {0};
    store_init(&store);
    store_open(&store);
    put(&store, 1, 1);
    assert_ok(bb_db_flush(store.db));
    put(&store, 2, 1);
    assert_ok(pin(store.db, 1, NULL, &in_table));
    assert_ok(pin(store.db, 2, NULL, &in_memory));
    assert_status(bb_db_close(store.db), BB_BUSY);
    assert_message("pinned values: 2");
    bb_pinned_release(&in_memory);
    assert_status(bb_db_close(store.db), BB_BUSY);
    /* It is open as before. */
    put(&store, 2, 2);
    assert_pinned(&in_table, 1, 1);
    /* Moved, and released twice. */
    struct bb_pinned moved = in_table;
    bb_pinned_release(&moved);
    bb_pinned_release(&moved);
    bb_pinned_release(NULL);
    store_deinit(&store);
}

/* The view is released immediately, and with it the files of tables. */
static void pinned__a_pin_keeps_no_file_of_a_table(void **state)
{
    (void)state;
    struct store store;
    struct bb_pinned pinned = {0};
    struct bb_db_table_list list = {0};
    store_init(&store);
    store_open(&store);
    put_all(&store, 1);
    assert_ok(bb_db_compact(store.db));
    assert_ok(pin(store.db, 7, NULL, &pinned));
    assert_ok(bb_db_tables(store.db, &list));
    assert_true(list.count > 0);
    put_all(&store, 2);
    assert_ok(bb_db_compact(store.db));
    for (size_t i = 0; i < list.count; i++) {
        struct bb_file_system *fs = store.options.file_system;
        bool is_directory = false;
        uint64_t size = 0;
        assert_status(fs->ops->status(fs, list.tables[i].path, &is_directory, &size), BB_NOT_FOUND);
    }
    bb_db_table_list_deinit(&list);
    assert_pinned(&pinned, 7, 1);
    bb_pinned_release(&pinned);
    store_deinit(&store);
}

static void pinned__into_fixed_memory(void **state)
{
    (void)state;
    struct store store;
    char space[8] = "-------";
    size_t size = 99;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "abcde");
    store_put(&store, "empty", "");
    for (int in_table = 0; in_table < 2; in_table++) {
        struct bb_bytes a = bb_bytes_of_text("a");
        memset(space, '-', sizeof(space));
        assert_ok(bb_db_get_into(store.db, NULL, a, space, 3, &size));
        assert_int_equal(size, 5);
        assert_memory_equal(space, "abc-", 4);
        assert_ok(bb_db_get_into(store.db, NULL, a, space, 7, &size));
        assert_int_equal(size, 5);
        assert_memory_equal(space, "abcde-", 6);
        assert_ok(bb_db_get_into(store.db, NULL, a, NULL, 0, &size));
        assert_int_equal(size, 5);
        assert_ok(bb_db_get_into(store.db, NULL, bb_bytes_of_text("empty"), space, 7, &size));
        assert_int_equal(size, 0);
        size = 99;
        assert_status(bb_db_get_into(store.db, NULL, bb_bytes_of_text("b"), space, 7, &size),
                      BB_NOT_FOUND);
        assert_int_equal(size, 99);
        assert_ok(bb_db_flush(store.db));
    }
    store_deinit(&store);
}

/* ---- threads ---- */

#define THREADS 3
#define ROUNDS  12
#define HELD    8

struct member {
    struct bb_thread thread;
    struct store *store;
    uint64_t seed;
    _Atomic bool *is_over;
    uint64_t bad;
};

/* "<version> of <number> ...": is it a value that was put for the key? */
static bool is_value_of(struct bb_bytes value, uint32_t i)
{
    char text[128];
    uint32_t version = 0;
    uint32_t number = 0;
    if (value.size >= sizeof(text))
        return false;
    memcpy(text, value.data, value.size);
    text[value.size] = 0;
    return sscanf(text, "%" SCNu32 " of %" SCNu32, &version, &number) == 2 && number == i;
}

static void pin_often(void *argument)
{
    struct member *member = argument;
    struct bb_pinned held[HELD] = {0};
    uint32_t numbers[HELD] = {0};
    struct bb_rng rng;
    bb_rng_init(&rng, member->seed);
    while (!*member->is_over) {
        size_t at = bb_rng_below(&rng, HELD);
        if (held[at].bytes.data != NULL && !is_value_of(held[at].bytes, numbers[at]))
            member->bad++;
        bb_pinned_release(&held[at]);
        numbers[at] = (uint32_t)bb_rng_below(&rng, KEYS);
        struct bb_get_options options = {.bypass_fill = bb_rng_one_in(&rng, 4)};
        if (pin(member->store->db, numbers[at], &options, &held[at]) != BB_OK ||
            !is_value_of(held[at].bytes, numbers[at]))
            member->bad++;
    }
    for (size_t at = 0; at < HELD; at++) {
        if (held[at].bytes.data != NULL && !is_value_of(held[at].bytes, numbers[at]))
            member->bad++;
        bb_pinned_release(&held[at]);
    }
}

static void pinned__threads_pin_and_release_while_all_is_rewritten(void **state)
{
    (void)state;
    struct store store;
    struct member members[THREADS];
    _Atomic bool is_over = false;
    store_init(&store);
    store.options.deterministic = false;
    store.options.cache_bytes = 64 * 1024;
    store_open(&store);
    put_all(&store, 1);
    for (uint32_t i = 0; i < THREADS; i++) {
        members[i] = (struct member){.store = &store, .seed = i, .is_over = &is_over};
        assert_ok(bb_thread_create(&members[i].thread, pin_often, &members[i]));
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        put_all(&store, round);
        assert_ok(round % 4 == 3 ? bb_db_compact(store.db) : bb_db_flush(store.db));
    }
    is_over = true;
    for (uint32_t i = 0; i < THREADS; i++) {
        bb_thread_join(&members[i].thread);
        assert_int_equal(members[i].bad, 0);
    }
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test(pinned__threads_pin_and_release_while_all_is_rewritten),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned__values_of_tables_outlive_their_files),
        cmocka_unit_test(pinned__values_of_memtables_outlive_the_flush),
        cmocka_unit_test(pinned__a_value_is_that_of_its_snapshot),
        cmocka_unit_test(pinned__what_is_not_there_leaves_the_pin_alone),
        cmocka_unit_test(pinned__close_is_refused_while_a_value_is_pinned),
        cmocka_unit_test(pinned__a_pin_keeps_no_file_of_a_table),
        cmocka_unit_test(pinned__into_fixed_memory),
    };
    int failed = cmocka_run_group_tests(threaded, NULL, NULL);
    if (!bb_test_threads_only())
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
