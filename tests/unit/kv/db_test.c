/* Goal: put, delete, get, write, snapshots and iterators work as documented in include/bb/db.h,
 * also at the limits, wherever the data is: in a memtable, in tables, or both. Method: small cases
 * on a file system in memory, most of them three times: before a flush, after it, and after a
 * compaction. */
#include "tests/support/store.h"

#include <stdlib.h>

#include "tests/support/rng.h"

/* ---- put, get, delete ---- */

/* Where the data of a case is when it is checked. */
enum where { IN_MEMTABLE, IN_TABLE, IN_ONE_RUN, WHERE_COUNT };

static void move(struct store *store, enum where where)
{
    if (where == IN_TABLE)
        assert_ok(bb_db_flush(store->db));
    else if (where == IN_ONE_RUN)
        assert_ok(bb_db_compact(store->db));
}

static void db__put_get_delete(void **state)
{
    (void)state;
    for (enum where where = IN_MEMTABLE; where < WHERE_COUNT; where++) {
        struct store store;
        store_init(&store);
        store_open(&store);
        assert_get(&store, "a", NULL);
        store_put(&store, "a", "1");
        store_put(&store, "b", "2");
        move(&store, where);
        assert_get(&store, "a", "1");
        assert_get(&store, "b", "2");
        assert_get(&store, "ab", NULL);
        store_put(&store, "a", "new");
        store_delete(&store, "b");
        store_delete(&store, "never there");
        move(&store, where);
        assert_get(&store, "a", "new");
        assert_get(&store, "b", NULL);
        store_put(&store, "b", "again");
        move(&store, where);
        assert_content(&store, "a=new b=again");
        store_deinit(&store);
    }
}

static void db__get_without_a_buffer(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    for (enum where where = IN_MEMTABLE; where < WHERE_COUNT; where++) {
        move(&store, where);
        assert_ok(bb_db_get(store.db, NULL, bb_bytes_of_text("a"), NULL));
        assert_status(bb_db_get(store.db, NULL, bb_bytes_of_text("b"), NULL), BB_NOT_FOUND);
    }
    store_deinit(&store);
}

/* A found value replaces the buffer; a missing one leaves it unchanged. */
static void db__get_and_the_buffer(void **state)
{
    (void)state;
    struct store store;
    struct bb_buf value = {0};
    store_init(&store);
    store_open(&store);
    store_put(&store, "long", "0123456789");
    store_put(&store, "short", "x");
    store_put(&store, "empty", "");
    for (enum where where = IN_MEMTABLE; where < WHERE_COUNT; where++) {
        move(&store, where);
        assert_ok(bb_db_get(store.db, NULL, bb_bytes_of_text("long"), &value));
        assert_int_equal(value.size, 10);
        assert_ok(bb_db_get(store.db, NULL, bb_bytes_of_text("short"), &value));
        assert_int_equal(value.size, 1);
        assert_int_equal(value.data[0], 'x');
        assert_status(bb_db_get(store.db, NULL, bb_bytes_of_text("no"), &value), BB_NOT_FOUND);
        assert_int_equal(value.size, 1);
        assert_int_equal(value.data[0], 'x');
        assert_ok(bb_db_get(store.db, NULL, bb_bytes_of_text("empty"), &value));
        assert_int_equal(value.size, 0);
    }
    bb_buf_deinit(&value);
    store_deinit(&store);
}

/* ---- Limits ---- */

static const struct bb_bytes odd_keys[] = {
    {NULL, 0},
    {(const uint8_t *)"\0", 1},
    {(const uint8_t *)"\0\0\0\0\0\0\0\0", 8},
    {(const uint8_t *)"\0\0\0\0\0\0\0\0\0", 9},
    {(const uint8_t *)"a", 1},
    {(const uint8_t *)"a\0", 2},
    {(const uint8_t *)"a\0b", 3},
    {(const uint8_t *)"\xff", 1},
    {(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff", 8},
    {(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9},
};
#define ODD_KEY_COUNT (sizeof(odd_keys) / sizeof(odd_keys[0]))

static void assert_value(struct bb_db *db, struct bb_bytes key, struct bb_bytes expected)
{
    struct bb_buf value = {0};
    assert_ok(bb_db_get(db, NULL, key, &value));
    assert_int_equal(value.size, expected.size);
    assert_true(bb_bytes_equal((struct bb_bytes){value.data, value.size}, expected));
    bb_buf_deinit(&value);
}

static void db__keys_of_any_bytes(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_iter *iter = NULL;
    store_init(&store);
    store_open(&store);
    for (size_t i = 0; i < ODD_KEY_COUNT; i++)
        assert_ok(bb_db_put(store.db, NULL, odd_keys[i], odd_keys[ODD_KEY_COUNT - 1 - i]));
    for (enum where where = IN_MEMTABLE; where < WHERE_COUNT; where++) {
        move(&store, where);
        for (size_t i = 0; i < ODD_KEY_COUNT; i++)
            assert_value(store.db, odd_keys[i], odd_keys[ODD_KEY_COUNT - 1 - i]);
        /* They are listed in order above. */
        assert_ok(bb_db_iter_create(store.db, NULL, &iter));
        bb_db_iter_seek_first(iter);
        for (size_t i = 0; i < ODD_KEY_COUNT; i++, bb_db_iter_next(iter)) {
            assert_true(bb_db_iter_valid(iter));
            assert_true(bb_bytes_equal(bb_db_iter_key(iter), odd_keys[i]));
        }
        assert_false(bb_db_iter_valid(iter));
        bb_db_iter_destroy(iter);
    }
    for (size_t i = 0; i < ODD_KEY_COUNT; i++)
        assert_ok(bb_db_delete(store.db, NULL, odd_keys[i]));
    assert_content(&store, "");
    store_deinit(&store);
}

static struct bb_bytes filled(uint8_t *memory, size_t size, uint64_t seed)
{
    struct bb_rng rng;
    bb_rng_init(&rng, seed);
    bb_rng_bytes(&rng, memory, size);
    return bb_bytes_of(memory, size);
}

static void db__largest_key(void **state)
{
    (void)state;
    struct store store;
    struct bb_batch *batch = NULL;
    static uint8_t memory[BB_KEY_SIZE_MAX + 1];
    struct bb_bytes largest = filled(memory, BB_KEY_SIZE_MAX, 1);
    struct bb_bytes beyond = bb_bytes_of(memory, BB_KEY_SIZE_MAX + 1);
    store_init(&store);
    store_open(&store);
    assert_ok(bb_db_put(store.db, NULL, largest, bb_bytes_of_text("of the largest")));
    assert_status(bb_db_put(store.db, NULL, beyond, largest), BB_TOO_LARGE);
    assert_message("65537");
    assert_status(bb_db_delete(store.db, NULL, beyond), BB_TOO_LARGE);
    assert_status(bb_db_get(store.db, NULL, beyond, NULL), BB_TOO_LARGE);
    assert_ok(bb_batch_create(&batch));
    assert_status(bb_batch_put(batch, beyond, largest), BB_TOO_LARGE);
    assert_status(bb_batch_delete(batch, beyond), BB_TOO_LARGE);
    assert_int_equal(bb_batch_count(batch), 0);
    bb_batch_destroy(batch);
    for (enum where where = IN_MEMTABLE; where < WHERE_COUNT; where++) {
        move(&store, where);
        assert_value(store.db, largest, bb_bytes_of_text("of the largest"));
    }
    store_reopen(&store);
    assert_value(store.db, largest, bb_bytes_of_text("of the largest"));
    store_deinit(&store);
}

/* Below, at and far above the write buffer, the block and the WAL's block. */
static void db__values_of_all_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,     1,     511,   512,    32767,   32768,
                                   65535, 65536, 70000, 300000, 1 << 20, 5 << 20};
    enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
    uint8_t *memory = malloc(sizes[COUNT - 1]);
    struct store store;
    assert_non_null(memory);
    store_init(&store);
    store_open(&store);
    for (size_t i = 0; i < COUNT; i++)
        assert_ok(
            bb_db_put(store.db, NULL, bb_bytes_of(&i, sizeof(i)), filled(memory, sizes[i], i)));
    for (int reopened = 0; reopened < 2; reopened++) {
        for (enum where where = IN_MEMTABLE; where < WHERE_COUNT; where++) {
            move(&store, where);
            for (size_t i = 0; i < COUNT; i++)
                assert_value(store.db, bb_bytes_of(&i, sizeof(i)), filled(memory, sizes[i], i));
        }
        store_reopen(&store);
    }
    free(memory);
    store_deinit(&store);
}

/* Refused by its size, without reading the bytes. */
static void db__value_beyond_the_limit(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    uint8_t one = 0;
    struct bb_bytes beyond = {.data = &one, .size = (size_t)BB_VALUE_SIZE_MAX + 1};
    assert_status(bb_db_put(store.db, NULL, bb_bytes_of_text("a"), beyond), BB_TOO_LARGE);
    store_put(&store, "b", "2");
    assert_content(&store, "b=2");
    store_deinit(&store);
}

/* ---- Batches ---- */

static void put_in(struct bb_batch *batch, const char *key, const char *value)
{
    assert_ok(bb_batch_put(batch, bb_bytes_of_text(key), bb_bytes_of_text(value)));
}

static void delete_in(struct bb_batch *batch, const char *key)
{
    assert_ok(bb_batch_delete(batch, bb_bytes_of_text(key)));
}

static void db__batch_later_operations_win(void **state)
{
    (void)state;
    struct store store;
    struct bb_batch *batch = NULL;
    store_init(&store);
    store_open(&store);
    assert_ok(bb_batch_create(&batch));
    put_in(batch, "a", "1");
    put_in(batch, "a", "2");
    put_in(batch, "b", "1");
    delete_in(batch, "b");
    delete_in(batch, "c");
    put_in(batch, "c", "3");
    for (enum where where = IN_MEMTABLE; where < WHERE_COUNT; where++) {
        uint64_t before = store_stats(&store).last_sequence;
        assert_ok(bb_db_write(store.db, NULL, batch));
        assert_int_equal(store_stats(&store).last_sequence, before + 6);
        move(&store, where);
        assert_content(&store, "a=2 c=3");
        assert_get(&store, "b", NULL);
    }
    /* The batch is unchanged. */
    assert_int_equal(bb_batch_count(batch), 6);
    bb_batch_destroy(batch);
    store_deinit(&store);
}

static void db__batch_of_nothing(void **state)
{
    (void)state;
    struct store store;
    struct bb_batch *batch = NULL;
    store_init(&store);
    store_open(&store);
    assert_ok(bb_batch_create(&batch));
    assert_ok(bb_db_write(store.db, NULL, batch));
    assert_ok(bb_db_write(store.db, &(struct bb_write_options){.sync = true}, batch));
    assert_int_equal(store_stats(&store).last_sequence, 0);
    put_in(batch, "a", "1");
    bb_batch_reset(batch);
    assert_ok(bb_db_write(store.db, NULL, batch));
    assert_content(&store, "");
    bb_batch_destroy(batch);
    store_deinit(&store);
}

/* An empty write with sync makes earlier writes durable. */
static void db__batch_of_nothing_syncs(void **state)
{
    (void)state;
    struct store store;
    struct bb_batch *batch = NULL;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_batch_create(&batch));
    assert_ok(bb_db_write(store.db, &(struct bb_write_options){.sync = true}, batch));
    bb_batch_destroy(batch);
    store_cut_power(&store);
    assert_content(&store, "a=1");
    store_deinit(&store);
}

/* Many times the write buffer: the memtable is made large enough, and the batch stays whole. */
static void db__batch_larger_than_the_write_buffer(void **state)
{
    (void)state;
    struct store store;
    struct bb_batch *batch = NULL;
    static uint8_t memory[1000];
    store_init(&store);
    store_open(&store);
    store_put(&store, "before", "1");
    assert_ok(bb_batch_create(&batch));
    for (uint32_t i = 0; i < 500; i++)
        assert_ok(
            bb_batch_put(batch, bb_bytes_of(&i, sizeof(i)), filled(memory, sizeof(memory), i)));
    assert_ok(bb_db_write(store.db, NULL, batch));
    assert_int_equal(store_stats(&store).last_sequence, 501);
    store_kill(&store);
    for (uint32_t i = 0; i < 500; i++)
        assert_value(store.db, bb_bytes_of(&i, sizeof(i)), filled(memory, sizeof(memory), i));
    assert_get(&store, "before", "1");
    bb_batch_destroy(batch);
    store_deinit(&store);
}

/* ---- Snapshots ---- */

static void db__snapshots_keep_what_they_saw(void **state)
{
    (void)state;
    for (enum where where = IN_MEMTABLE; where < WHERE_COUNT; where++) {
        struct store store;
        struct bb_snapshot *snapshots[4];
        store_init(&store);
        store_open(&store);
        snapshots[0] = store_snapshot(&store);
        store_put(&store, "a", "1");
        store_put(&store, "b", "1");
        move(&store, where);
        snapshots[1] = store_snapshot(&store);
        store_put(&store, "a", "2");
        store_delete(&store, "b");
        store_put(&store, "c", "2");
        move(&store, where);
        snapshots[2] = store_snapshot(&store);
        store_delete(&store, "a");
        store_put(&store, "b", "3");
        move(&store, where);
        snapshots[3] = store_snapshot(&store);
        for (int twice = 0; twice < 2; twice++) {
            assert_content_at(store.db, snapshots[0], "");
            assert_content_at(store.db, snapshots[1], "a=1 b=1");
            assert_content_at(store.db, snapshots[2], "a=2 c=2");
            assert_get_at(store.db, snapshots[2], "b", NULL);
            assert_content_at(store.db, snapshots[3], "b=3 c=2");
            assert_content(&store, "b=3 c=2");
            assert_ok(bb_db_compact(store.db));
        }
        for (size_t i = 0; i < 4; i++)
            bb_snapshot_release(store.db, snapshots[i]);
        assert_ok(bb_db_compact(store.db));
        assert_content(&store, "b=3 c=2");
        /* No invisible old versions remain. */
        assert_int_equal(store_stats(&store).levels[1].entry_count, 2);
        store_deinit(&store);
    }
}

static void db__snapshot_of_nothing_may_be_released(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    bb_snapshot_release(store.db, NULL);
    store_deinit(&store);
}

/* ---- Iterators ---- */

static void assert_at(struct bb_db_iter *iter, const char *key)
{
    assert_ok(bb_db_iter_status(iter));
    assert_int_equal(bb_db_iter_valid(iter), key != NULL);
    if (key != NULL)
        assert_true(bb_bytes_equal(bb_db_iter_key(iter), bb_bytes_of_text(key)));
}

static void seek(struct bb_db_iter *iter, const char *key)
{
    bb_db_iter_seek(iter, bb_bytes_of_text(key));
}

static void db__iterators_seek(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_iter *iter = NULL;
    store_init(&store);
    store_open(&store);
    store_put(&store, "b", "1");
    store_put(&store, "d", "1");
    store_put(&store, "f", "1");
    store_delete(&store, "d");
    for (enum where where = IN_MEMTABLE; where < WHERE_COUNT; where++) {
        move(&store, where);
        assert_ok(bb_db_iter_create(store.db, NULL, &iter));
        assert_false(bb_db_iter_valid(iter));
        seek(iter, "");
        assert_at(iter, "b");
        seek(iter, "b");
        assert_at(iter, "b");
        seek(iter, "b\x01");
        assert_at(iter, "f");
        seek(iter, "d");
        assert_at(iter, "f");
        bb_db_iter_prev(iter);
        assert_at(iter, "b");
        bb_db_iter_prev(iter);
        assert_at(iter, NULL);
        seek(iter, "g");
        assert_at(iter, NULL);
        bb_db_iter_seek_last(iter);
        assert_at(iter, "f");
        bb_db_iter_next(iter);
        assert_at(iter, NULL);
        bb_db_iter_seek_first(iter);
        assert_at(iter, "b");
        seek(iter, "f");
        bb_db_iter_seek(iter, bb_db_iter_key(iter));
        assert_at(iter, "f");
        bb_db_iter_destroy(iter);
    }
    bb_db_iter_destroy(NULL);
    store_deinit(&store);
}

static void db__iterators_over_nothing(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_iter *iter = NULL;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    store_delete(&store, "a");
    for (enum where where = IN_MEMTABLE; where < WHERE_COUNT; where++) {
        move(&store, where);
        assert_ok(bb_db_iter_create(store.db, NULL, &iter));
        bb_db_iter_seek_first(iter);
        assert_at(iter, NULL);
        bb_db_iter_seek_last(iter);
        assert_at(iter, NULL);
        seek(iter, "a");
        assert_at(iter, NULL);
        bb_db_iter_destroy(iter);
    }
    store_deinit(&store);
}

/* An iterator stays in the state of its creation, through flushes and compactions that remove the
 * files it reads. */
static void db__iterators_stay_in_their_state(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_iter *iter = NULL;
    char key[8];
    store_init(&store);
    store_open(&store);
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof(key), "%03d", i);
        store_put(&store, key, "old");
        if (i % 100 == 99)
            assert_ok(bb_db_flush(store.db));
    }
    assert_ok(bb_db_iter_create(store.db, NULL, &iter));
    bb_db_iter_seek_first(iter);
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof(key), "%03d", i);
        assert_at(iter, key);
        assert_true(bb_bytes_equal(bb_db_iter_value(iter), bb_bytes_of_text("old")));
        if (i % 50 == 0)
            assert_ok(bb_db_compact(store.db));
        snprintf(key, sizeof(key), "%03d", 299 - i);
        if (i % 3 == 0)
            store_delete(&store, key);
        else
            store_put(&store, key, "new");
        bb_db_iter_next(iter);
    }
    assert_at(iter, NULL);
    bb_db_iter_destroy(iter);
    assert_get(&store, "299", NULL);
    assert_get(&store, "298", "new");
    store_deinit(&store);
}

/* ---- Deterministic and with a thread ---- */

static void write_and_check(struct store *store)
{
    char key[16];
    char value[64];
    store_open(store);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 1000; i++) {
            snprintf(key, sizeof(key), "%04d", i * 7 % 1000);
            snprintf(value, sizeof(value), "value %d of round %d, long enough to fill buffers", i,
                     round);
            store_put(store, key, value);
        }
    }
    assert_ok(bb_db_wait_idle(store->db));
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "%04d", i * 7 % 1000);
        snprintf(value, sizeof(value), "value %d of round 3, long enough to fill buffers", i);
        assert_get(store, key, value);
    }
    struct bb_db_stats stats = store_stats(store);
    assert_true(stats.flushes > 2);
    assert_true(stats.compactions > 0);
    assert_true(stats.levels[0].run_count < store->options.level0_run_count_compact);
    assert_int_equal(stats.writes, 4000);
}

static void db__work_on_the_callers_thread(void **state)
{
    (void)state;
    struct store store;
    uint64_t calls[2];
    for (size_t i = 0; i < 2; i++) {
        store_init(&store);
        write_and_check(&store);
        store_close(&store);
        calls[i] = bb_file_memory_calls(store.memory);
        store_deinit(&store);
    }
    /* The same seed, the same execution. */
    assert_int_equal(calls[0], calls[1]);
}

static void db__work_on_a_thread(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.deterministic = false;
    write_and_check(&store);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db__put_get_delete),
        cmocka_unit_test(db__get_without_a_buffer),
        cmocka_unit_test(db__get_and_the_buffer),
        cmocka_unit_test(db__keys_of_any_bytes),
        cmocka_unit_test(db__largest_key),
        cmocka_unit_test(db__values_of_all_sizes),
        cmocka_unit_test(db__value_beyond_the_limit),
        cmocka_unit_test(db__batch_later_operations_win),
        cmocka_unit_test(db__batch_of_nothing),
        cmocka_unit_test(db__batch_of_nothing_syncs),
        cmocka_unit_test(db__batch_larger_than_the_write_buffer),
        cmocka_unit_test(db__snapshots_keep_what_they_saw),
        cmocka_unit_test(db__snapshot_of_nothing_may_be_released),
        cmocka_unit_test(db__iterators_seek),
        cmocka_unit_test(db__iterators_over_nothing),
        cmocka_unit_test(db__iterators_stay_in_their_state),
        cmocka_unit_test(db__work_on_the_callers_thread),
        cmocka_unit_test(db__work_on_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
