/* Goal: an iterator of keys only shows the keys of another iterator, in both directions, at
 * snapshots, over deleted keys and ranges, within bounds and prefixes, and has no values. Where
 * every value is large, it reads no block. Method: a store with several runs and a full memtable,
 * whose values are small or large; random moves of both iterators; counts of reads. */
#include "tests/support/store.h"

#include "tests/support/rng.h"

#define KEYS      600
#define VALUE_MAX 12000

static struct bb_bytes key_of(uint64_t i, char key[16])
{
    snprintf(key, 16, "key%05u", (unsigned)i);
    return bb_bytes_of_text(key);
}

static void put(struct store *store, struct bb_rng *rng, uint64_t i, bool is_large)
{
    static uint8_t value[VALUE_MAX];
    char key[16];
    size_t size = is_large ? bb_rng_between(rng, 4096, VALUE_MAX) : bb_rng_below(rng, 100);
    bb_rng_bytes(rng, value, size / 2);
    assert_ok(bb_db_put(store->db, NULL, key_of(i, key), bb_bytes_of(value, size)));
}

static void change(struct store *store, struct bb_rng *rng)
{
    char low[16];
    char high[16];
    uint64_t i = bb_rng_below(rng, KEYS);
    uint64_t drawn = bb_rng_below(rng, 100);
    if (drawn < 70)
        put(store, rng, i, drawn < 40);
    else if (drawn < 98)
        assert_ok(bb_db_delete(store->db, NULL, key_of(i, low)));
    else
        assert_ok(
            bb_db_delete_range(store->db, NULL, key_of(i, low), key_of(i + drawn - 90, high)));
}

static void store_begin(struct store *store)
{
    store_init(store);
    store->options.write_buffer_bytes = 256 * 1024;
    store->options.table_size_bytes = 64 * 1024;
    store->options.level1_size_bytes = 256 * 1024;
}

/* ---- the same keys ---- */

struct pair {
    struct bb_db_iter *plain;
    struct bb_db_iter *keys;
};

static void open_pair(struct store *store, const struct bb_get_options *options, struct bb_rng *rng,
                      struct pair *pair)
{
    char low_text[16];
    char high_text[16];
    struct bb_bytes low = key_of(bb_rng_below(rng, KEYS), low_text);
    struct bb_bytes high = key_of(bb_rng_below(rng, KEYS), high_text);
    const struct bb_key_range range = {.low = bb_rng_one_in(rng, 2) ? &low : NULL,
                                       .high = bb_rng_one_in(rng, 2) ? &high : NULL};
    if (bb_rng_one_in(rng, 3)) {
        low.size -= 2;
        assert_ok(bb_db_iter_create_prefix(store->db, options, low, &pair->plain));
        assert_ok(bb_db_iter_create_prefix_keys(store->db, options, low, &pair->keys));
    } else {
        assert_ok(bb_db_iter_create_range(store->db, options, &range, &pair->plain));
        assert_ok(bb_db_iter_create_keys(store->db, options, &range, &pair->keys));
    }
}

static void close_pair(struct pair *pair)
{
    bb_db_iter_destroy(pair->plain);
    bb_db_iter_destroy(pair->keys);
}

static void assert_same(const struct pair *pair, uint64_t *count)
{
    assert_ok(bb_db_iter_status(pair->plain));
    assert_ok(bb_db_iter_status(pair->keys));
    assert_int_equal(bb_db_iter_valid(pair->plain), bb_db_iter_valid(pair->keys));
    if (!bb_db_iter_valid(pair->plain))
        return;
    assert_true(bb_bytes_equal(bb_db_iter_key(pair->plain), bb_db_iter_key(pair->keys)));
    assert_int_equal(bb_db_iter_value(pair->keys).size, 0);
    (*count)++;
}

static void seek_same(const struct pair *pair, struct bb_rng *rng)
{
    char key[16];
    struct bb_bytes to = key_of(bb_rng_below(rng, KEYS + 10), key);
    uint64_t drawn = bb_rng_below(rng, 4);
    for (int i = 0; i < 2; i++) {
        struct bb_db_iter *iter = i == 0 ? pair->plain : pair->keys;
        if (drawn == 0)
            bb_db_iter_seek_first(iter);
        else if (drawn == 1)
            bb_db_iter_seek_last(iter);
        else
            bb_db_iter_seek(iter, to);
    }
}

static void move_same(const struct pair *pair, struct bb_rng *rng, bool *is_backward)
{
    if (!bb_db_iter_valid(pair->plain) || bb_rng_one_in(rng, 12)) {
        seek_same(pair, rng);
        return;
    }
    *is_backward ^= bb_rng_one_in(rng, 6);
    for (int i = 0; i < 2; i++) {
        if (*is_backward)
            bb_db_iter_prev(i == 0 ? pair->plain : pair->keys);
        else
            bb_db_iter_next(i == 0 ? pair->plain : pair->keys);
    }
}

/* Returns how many keys were compared. */
static uint64_t compare(struct store *store, const struct bb_snapshot *snapshot, struct bb_rng *rng)
{
    uint64_t count = 0;
    for (int round = 0; round < 60; round++) {
        const struct bb_get_options options = {.snapshot = round % 3 == 0 ? snapshot : NULL,
                                               .bypass_fill = round % 2 == 0};
        struct pair pair;
        bool is_backward = false;
        open_pair(store, &options, rng, &pair);
        for (int step = 0; step < 100; step++) {
            move_same(&pair, rng, &is_backward);
            assert_same(&pair, &count);
        }
        close_pair(&pair);
    }
    return count;
}

static void check_store(enum bb_read_mode mode, enum bb_compression compression, uint64_t cache)
{
    struct store store;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("scan_keys_test", 61));
    store_begin(&store);
    store.options.read_mode = mode;
    store.options.compression = compression;
    store.options.cache_bytes = cache;
    store_open(&store);
    for (int i = 0; i < 2 * KEYS; i++)
        change(&store, &rng);
    struct bb_snapshot *snapshot = store_snapshot(&store);
    for (int i = 0; i < KEYS; i++)
        change(&store, &rng);
    struct bb_db_table_list tables;
    assert_ok(bb_db_tables(store.db, &tables));
    assert_true(tables.count > 3);
    bb_db_table_list_deinit(&tables);
    assert_true(compare(&store, snapshot, &rng) > 1000);
    bb_snapshot_release(store.db, snapshot);
    store_deinit(&store);
}

static void scan_keys__are_those_of_other_iterators(void **state)
{
    (void)state;
    check_store(BB_READ_CALLS, BB_COMPRESSION_LZ4, 1 << 20);
    check_store(BB_READ_CALLS, BB_COMPRESSION_NONE, 1 << 20);
    check_store(BB_READ_MAPPED, BB_COMPRESSION_NONE, 1 << 20);
    check_store(BB_READ_MAPPED, BB_COMPRESSION_LZ4, 1 << 20);
}

/* ---- reads ---- */

static struct bb_read_stats count_keys(struct store *store, bool is_backward, uint64_t expected)
{
    struct bb_read_stats stats = {0};
    const struct bb_get_options options = {.stats = &stats};
    struct bb_db_iter *iter = NULL;
    uint64_t count = 0;
    assert_ok(bb_db_iter_create_keys(store->db, &options, NULL, &iter));
    for (is_backward ? bb_db_iter_seek_last(iter) : bb_db_iter_seek_first(iter);
         bb_db_iter_valid(iter); is_backward ? bb_db_iter_prev(iter) : bb_db_iter_next(iter))
        count++;
    assert_ok(bb_db_iter_status(iter));
    assert_int_equal(count, expected);
    bb_db_iter_destroy(iter);
    return stats;
}

static void scan_keys__of_large_values_read_no_block(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    char key[16];
    bb_rng_init(&rng, 5);
    store_begin(&store);
    store_open(&store);
    for (uint64_t i = 0; i < KEYS; i++)
        put(&store, &rng, i, true);
    assert_ok(bb_db_flush(store.db));
    for (int compacted = 0; compacted < 2; compacted++) {
        for (int backward = 0; backward < 2; backward++) {
            struct bb_read_stats stats = count_keys(&store, backward == 1, KEYS);
            assert_int_equal(stats.block_requests, 0);
            assert_int_equal(stats.block_reads, 0);
            assert_int_equal(stats.block_read_bytes, 0);
        }
        assert_ok(bb_db_compact(store.db));
    }
    for (uint64_t i = 0; i < KEYS; i += 2)
        assert_ok(bb_db_delete(store.db, NULL, key_of(i, key)));
    assert_ok(bb_db_flush(store.db));
    struct bb_read_stats stats = count_keys(&store, false, KEYS / 2);
    assert_in_range(stats.block_read_bytes, 1, 32 * KEYS / 2);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_keys__are_those_of_other_iterators),
        cmocka_unit_test(scan_keys__of_large_values_read_no_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
