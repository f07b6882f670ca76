/* Goal: an iterator over a range returns exactly the keys of the range, in both directions and
 * across turns, seeks outside it go to its ends, and no table is opened or read for keys outside.
 * Method: a store with several levels, tombstones and a full memtable; random ranges, compared with
 * an iterator over everything; and the counts of reads, blocks and opened files of ranges without
 * tables and blocks. */
#include "tests/support/store.h"

#include "kv/view/readers.h"
#include "tests/support/rng.h"

#define KEYS       4000
#define VALUE_SIZE 60

/* Only even numbers, so that there is space between any two keys. */
static struct bb_bytes key_of(uint32_t i, char key[16])
{
    snprintf(key, 16, "key%06u", i);
    return bb_bytes_of_text(key);
}

static void fill(struct store *store, struct bb_rng *rng)
{
    char key[16];
    uint8_t value[VALUE_SIZE];
    for (uint32_t i = 0; i < 4 * KEYS; i++) {
        struct bb_bytes at = key_of(2 * (uint32_t)bb_rng_below(rng, KEYS), key);
        bb_rng_bytes(rng, value, sizeof(value));
        if (bb_rng_one_in(rng, 4))
            assert_ok(bb_db_delete(store->db, NULL, at));
        else
            assert_ok(bb_db_put(store->db, NULL, at, bb_bytes_of(value, sizeof(value))));
    }
}

static uint64_t run_count(struct store *store)
{
    struct bb_db_stats stats = store_stats(store);
    uint64_t runs = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        runs += stats.levels[level].run_count;
    return runs;
}

/* ---- the same as an iterator over everything ---- */

/* The iterator over the range, and the reference iterator over everything. */
struct pair {
    const struct bb_comparator *comparator;
    struct bb_key_range range;
    struct bb_db_iter *bounded;
    struct bb_db_iter *whole;
};

static bool is_inside(const struct pair *pair, struct bb_bytes key)
{
    const struct bb_key_range *range = &pair->range;
    return (range->low == NULL || bb_key_compare(pair->comparator, key, *range->low) >= 0) &&
           (range->high == NULL || bb_key_compare(pair->comparator, key, *range->high) < 0);
}

static bool assert_same(const struct pair *pair)
{
    bool is_shown = bb_db_iter_valid(pair->whole) && is_inside(pair, bb_db_iter_key(pair->whole));
    assert_ok(bb_db_iter_status(pair->bounded));
    assert_int_equal(bb_db_iter_valid(pair->bounded), is_shown);
    if (!is_shown)
        return false;
    assert_true(bb_bytes_equal(bb_db_iter_key(pair->bounded), bb_db_iter_key(pair->whole)));
    assert_true(bb_bytes_equal(bb_db_iter_value(pair->bounded), bb_db_iter_value(pair->whole)));
    return true;
}

static void seek_first(const struct pair *pair)
{
    bb_db_iter_seek_first(pair->bounded);
    if (pair->range.low != NULL)
        bb_db_iter_seek(pair->whole, *pair->range.low);
    else
        bb_db_iter_seek_first(pair->whole);
}

static void seek_last(const struct pair *pair)
{
    bb_db_iter_seek_last(pair->bounded);
    if (pair->range.high == NULL) {
        bb_db_iter_seek_last(pair->whole);
        return;
    }
    bb_db_iter_seek(pair->whole, *pair->range.high);
    if (bb_db_iter_valid(pair->whole))
        bb_db_iter_prev(pair->whole);
    else
        bb_db_iter_seek_last(pair->whole);
}

static void seek(const struct pair *pair, struct bb_bytes key)
{
    bool is_in_front =
        pair->range.low != NULL && bb_key_compare(pair->comparator, key, *pair->range.low) < 0;
    bb_db_iter_seek(pair->bounded, key);
    bb_db_iter_seek(pair->whole, is_in_front ? *pair->range.low : key);
}

static void move(const struct pair *pair, bool is_backward)
{
    if (is_backward) {
        bb_db_iter_prev(pair->bounded);
        bb_db_iter_prev(pair->whole);
    } else {
        bb_db_iter_next(pair->bounded);
        bb_db_iter_next(pair->whole);
    }
}

/* Seeks of all kinds, and a short walk with turns from each. Returns how many entries were seen. */
static size_t walk(const struct pair *pair, struct bb_rng *rng)
{
    char key[16];
    size_t count = 0;
    for (int round = 0; round < 8; round++) {
        uint64_t kind = bb_rng_below(rng, 4);
        bool is_backward = bb_rng_one_in(rng, 2);
        if (kind == 0)
            seek_first(pair);
        else if (kind == 1)
            seek_last(pair);
        else
            seek(pair, key_of((uint32_t)bb_rng_below(rng, 2 * KEYS + 10), key));
        for (int step = 0; assert_same(pair) && step < 25; step++, count++) {
            if (bb_rng_one_in(rng, 6))
                is_backward = !is_backward;
            move(pair, is_backward);
        }
    }
    return count;
}

static void open_pair(struct store *store, const struct bb_snapshot *snapshot, struct pair *pair)
{
    struct bb_get_options options = {.snapshot = snapshot};
    pair->comparator = store->options.comparator;
    assert_ok(bb_db_iter_create_range(store->db, &options, &pair->range, &pair->bounded));
    assert_ok(bb_db_iter_create(store->db, &options, &pair->whole));
}

static void close_pair(struct pair *pair)
{
    bb_db_iter_destroy(pair->bounded);
    bb_db_iter_destroy(pair->whole);
}

static size_t compare_range(struct store *store, const struct bb_snapshot *snapshot,
                            struct bb_rng *rng)
{
    char low_text[16];
    char high_text[16];
    uint32_t first = (uint32_t)bb_rng_below(rng, 2 * KEYS);
    uint32_t width = (uint32_t)bb_rng_below(rng, bb_rng_one_in(rng, 2) ? 12 : 2 * KEYS);
    struct bb_bytes low = key_of(first, low_text);
    struct bb_bytes high = key_of(first + width, high_text);
    if (store->options.comparator != NULL && bb_rng_one_in(rng, 2)) {
        struct bb_bytes swapped = low;
        low = high;
        high = swapped;
    }
    struct pair pair = {.range = {.low = bb_rng_one_in(rng, 5) ? NULL : &low,
                                  .high = bb_rng_one_in(rng, 5) ? NULL : &high}};
    open_pair(store, snapshot, &pair);
    size_t count = walk(&pair, rng);
    close_pair(&pair);
    return count;
}

static int compare_reverse(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static const struct bb_comparator reverse = {.name = "reverse", .compare = compare_reverse};

static void scan__of_a_range_is_the_part_of_a_whole_scan(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("scan_test range", 1));
    for (int round = 0; round < 2; round++) {
        struct store store;
        size_t count = 0;
        store_init(&store);
        store.options.comparator = round == 0 ? NULL : &reverse;
        store_open(&store);
        fill(&store, &rng);
        struct bb_snapshot *snapshot = store_snapshot(&store);
        fill(&store, &rng);
        assert_true(run_count(&store) >= 3);
        for (int i = 0; i < 300; i++)
            count += compare_range(&store, i % 2 == 0 ? NULL : snapshot, &rng);
        assert_true(count > 10000);
        bb_snapshot_release(store.db, snapshot);
        store_deinit(&store);
    }
}

/* ---- avoided reads ---- */

static uint64_t scan_all(struct store *store, const struct bb_key_range *range, bool is_backward,
                         struct bb_read_stats *stats)
{
    struct bb_get_options options = {.stats = stats};
    struct bb_db_iter *iter = NULL;
    uint64_t count = 0;
    assert_ok(bb_db_iter_create_range(store->db, &options, range, &iter));
    for (is_backward ? bb_db_iter_seek_last(iter) : bb_db_iter_seek_first(iter);
         bb_db_iter_valid(iter); is_backward ? bb_db_iter_prev(iter) : bb_db_iter_next(iter))
        count++;
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    return count;
}

/* Every key in one run of several tables. */
static void fill_one_run(struct store *store)
{
    char key[16];
    uint8_t value[VALUE_SIZE];
    struct bb_rng rng;
    bb_rng_init(&rng, 7);
    for (uint32_t i = 0; i < KEYS; i++) {
        bb_rng_bytes(&rng, value, sizeof(value));
        assert_ok(
            bb_db_put(store->db, NULL, key_of(2 * i, key), bb_bytes_of(value, sizeof(value))));
    }
    assert_ok(bb_db_compact(store->db));
    assert_int_equal(run_count(store), 1);
}

/* A block has at least five of the entries, so the range of one key touches one block, and the
 * whole cut into adjacent ranges takes at most one request more per cut. */
static void scan__of_a_range_asks_for_the_blocks_of_the_range(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    fill_one_run(&store);
    struct bb_read_stats whole = {0};
    struct bb_key_range everything = {0};
    assert_int_equal(scan_all(&store, &everything, false, &whole), KEYS);
    for (int backward = 0; backward < 2; backward++) {
        struct bb_read_stats parts = {0};
        uint64_t ranges = 0;
        for (uint32_t i = 0; i < 2 * KEYS; i += 2) {
            char low_text[16];
            char high_text[16];
            struct bb_bytes low = key_of(i, low_text);
            struct bb_bytes high = key_of(i + 1, high_text);
            struct bb_key_range range = {.low = &low, .high = &high};
            struct bb_read_stats one = {0};
            assert_int_equal(scan_all(&store, &range, backward == 1, &one), 1);
            assert_in_range(one.block_requests, 1, 1);
            assert_in_range(one.page_requests, 1, 1);
            bb_readers_add_stats(&parts, &one);
            ranges++;
        }
        assert_int_equal(parts.block_requests, ranges);
    }
    assert_in_range(whole.block_requests, KEYS / 12, KEYS / 5);
    store_deinit(&store);
}

/* Between two keys in different tables, before all and after all of them. */
static void scan__of_a_range_without_tables_opens_none(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_table_list list;
    store_init(&store);
    store_open(&store);
    fill_one_run(&store);
    store_reopen(&store);
    assert_ok(bb_db_tables(store.db, &list));
    assert_true(list.count > 5);
    bb_db_table_list_deinit(&list);
    struct bb_db_stats before = store_stats(&store);
    const struct bb_bytes edges[] = {bb_bytes_of_text("a"), bb_bytes_of_text("b"),
                                     bb_bytes_of_text("x"), bb_bytes_of_text("y")};
    for (int backward = 0; backward < 2; backward++) {
        for (int i = 0; i < 4; i += 2) {
            struct bb_key_range range = {.low = &edges[i], .high = &edges[i + 1]};
            assert_int_equal(scan_all(&store, &range, backward == 1, NULL), 0);
        }
        struct bb_key_range upside_down = {.low = &edges[3], .high = &edges[0]};
        assert_int_equal(scan_all(&store, &upside_down, backward == 1, NULL), 0);
    }
    struct bb_db_stats after = store_stats(&store);
    assert_int_equal(after.system_reads, before.system_reads);
    assert_int_equal(after.table_memory_bytes, 0);
    store_deinit(&store);
}

/* Tables of level 0 and of the run below that are elsewhere are not opened for a range that is
 * not. */
static void scan__of_a_range_opens_the_tables_of_the_range(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.index_residency = BB_INDEX_CACHED;
    store_open(&store);
    fill_one_run(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    store_put(&store, "z", "1");
    assert_ok(bb_db_flush(store.db));
    struct bb_db_table_list list;
    assert_ok(bb_db_tables(store.db, &list));
    size_t table_count = list.count;
    bb_db_table_list_deinit(&list);
    store_reopen(&store);
    struct bb_key_range everything = {0};
    (void)scan_all(&store, &everything, false, NULL);
    uint64_t memory = store_stats(&store).table_memory_bytes;
    store_reopen(&store);
    struct bb_bytes low = bb_bytes_of_text("key000100");
    struct bb_bytes high = bb_bytes_of_text("key000110");
    struct bb_key_range range = {.low = &low, .high = &high};
    for (int backward = 0; backward < 2; backward++)
        assert_int_equal(scan_all(&store, &range, backward == 1, NULL), 5);
    assert_in_range(store_stats(&store).table_memory_bytes, 1, 2 * memory / table_count);
    store_deinit(&store);
}

/* Deleted keys after the end of a range may be many: they do not matter. */
static void scan__of_a_range_passes_over_no_tombstones_outside(void **state)
{
    (void)state;
    struct store store;
    char key[16];
    store_init(&store);
    store_open(&store);
    fill_one_run(&store);
    for (uint32_t i = 0; i < KEYS; i++) {
        if (i < KEYS / 2 - 5 || i > KEYS / 2 + 5)
            assert_ok(bb_db_delete(store.db, NULL, key_of(2 * i, key)));
    }
    char low_text[16];
    char high_text[16];
    struct bb_bytes low = key_of(KEYS - 10, low_text);
    struct bb_bytes high = key_of(KEYS + 11, high_text);
    struct bb_key_range range = {.low = &low, .high = &high};
    for (int backward = 0; backward < 2; backward++) {
        struct bb_read_stats stats = {0};
        assert_int_equal(scan_all(&store, &range, backward == 1, &stats), 11);
        assert_in_range(stats.block_requests, 1, 4 * run_count(&store) + 4);
    }
    store_deinit(&store);
}

/* ---- prefixes ---- */

static void assert_prefix(struct store *store, const char *prefix, size_t size,
                          const char *expected)
{
    char text[256] = "";
    struct bb_db_iter *iter = NULL;
    assert_ok(bb_db_iter_create_prefix(store->db, NULL, bb_bytes_of(prefix, size), &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter)) {
        struct bb_bytes value = bb_db_iter_value(iter);
        strncat(text, (const char *)value.data, value.size);
    }
    assert_string_equal(text, expected);
    text[0] = 0;
    for (bb_db_iter_seek_last(iter); bb_db_iter_valid(iter); bb_db_iter_prev(iter)) {
        struct bb_bytes value = bb_db_iter_value(iter);
        memmove(text + value.size, text, strlen(text) + 1);
        memcpy(text, value.data, value.size);
    }
    assert_string_equal(text, expected);
    bb_db_iter_destroy(iter);
}

static void scan__of_prefixes(void **state)
{
    (void)state;
    struct store store;
    const struct bb_bytes keys[] = {
        bb_bytes_of("", 0),         bb_bytes_of("a", 1),         bb_bytes_of("a\xfe", 2),
        bb_bytes_of("a\xff", 2),    bb_bytes_of("a\xff\xff", 3), bb_bytes_of("b", 1),
        bb_bytes_of("b\0", 2),      bb_bytes_of("ba", 2),        bb_bytes_of("\xff", 1),
        bb_bytes_of("\xff\xff", 2),
    };
    store_init(&store);
    store_open(&store);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_ok(bb_db_put(store.db, NULL, keys[i], bb_bytes_of(&"0123456789"[i], 1)));
    for (int flushed = 0; flushed < 2; flushed++) {
        assert_prefix(&store, "", 0, "0123456789");
        assert_prefix(&store, "a", 1, "1234");
        assert_prefix(&store, "a\xff", 2, "34");
        assert_prefix(&store, "a\xff\xff", 3, "4");
        assert_prefix(&store, "b", 1, "567");
        assert_prefix(&store, "b\0", 2, "6");
        assert_prefix(&store, "c", 1, "");
        assert_prefix(&store, "\xff", 1, "89");
        assert_prefix(&store, "\xff\xff", 2, "9");
        assert_prefix(&store, "\xff\xff\xff", 3, "");
        assert_ok(bb_db_flush(store.db));
    }
    store_deinit(&store);
}

static void scan__of_a_prefix_under_a_comparator_is_refused(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_iter *iter = NULL;
    store_init(&store);
    store.options.comparator = &reverse;
    store_open(&store);
    assert_status(bb_db_iter_create_prefix(store.db, NULL, bb_bytes_of_text("a"), &iter),
                  BB_INVALID);
    assert_non_null(strstr(bb_error_last()->message, "reverse"));
    assert_null(iter);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan__of_a_range_is_the_part_of_a_whole_scan),
        cmocka_unit_test(scan__of_a_range_asks_for_the_blocks_of_the_range),
        cmocka_unit_test(scan__of_a_range_without_tables_opens_none),
        cmocka_unit_test(scan__of_a_range_opens_the_tables_of_the_range),
        cmocka_unit_test(scan__of_a_range_passes_over_no_tombstones_outside),
        cmocka_unit_test(scan__of_prefixes),
        cmocka_unit_test(scan__of_a_prefix_under_a_comparator_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
