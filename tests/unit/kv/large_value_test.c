/* Goal: large values, up to the limit, survive in memtable, log, tables of level 0 and merged ones;
 * with keys of 64 KiB; and small neighbours remain as cheap to read as before. Method: a 16 MiB
 * value (BB_TEST_LARGE_BYTES: another size, 1073741824 is the limit), that compresses and that does
 * not; cached bytes and reads are counted. For values that the log gets in pieces, the process
 * crashes, the power fails or a write fails between two of them; and many values are replayed. */
#include "tests/support/store.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/status.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

#define SMALL_KEYS 200

static size_t large_size(void)
{
    const char *text = getenv("BB_TEST_LARGE_BYTES");
    return text == NULL ? (size_t)16 << 20 : (size_t)strtoull(text, NULL, 10);
}

static struct bb_bytes make_value(size_t size, bool compresses)
{
    struct bb_rng rng;
    uint8_t *data = bb_must_alloc_zeroed(size);
    bb_rng_init(&rng, size);
    if (!compresses)
        bb_rng_bytes(&rng, data, size);
    data[0] = 'b';
    data[size - 1] = 'e';
    return bb_bytes_of(data, size);
}

static void put_small(struct store *store)
{
    char key[16];
    for (int i = 0; i < SMALL_KEYS; i++) {
        snprintf(key, sizeof(key), "%c%04d", i % 2 == 0 ? 'a' : 'z', i);
        store_put(store, key, "small");
    }
}

static void check_small(struct store *store)
{
    char key[16];
    for (int i = 0; i < SMALL_KEYS; i++) {
        snprintf(key, sizeof(key), "%c%04d", i % 2 == 0 ? 'a' : 'z', i);
        assert_get(store, key, "small");
    }
}

static void check_large(struct store *store, struct bb_bytes key, struct bb_bytes value)
{
    struct bb_pinned pinned = {0};
    struct bb_buf copy = {0};
    uint8_t head[4];
    size_t size = 0;
    assert_ok(bb_db_get_pinned(store->db, NULL, key, &pinned));
    assert_true(bb_bytes_equal(pinned.bytes, value));
    bb_pinned_release(&pinned);
    assert_ok(bb_db_get(store->db, NULL, key, &copy));
    assert_true(bb_bytes_equal(bb_buf_bytes(&copy), value));
    bb_buf_deinit(&copy);
    assert_ok(bb_db_get_into(store->db, NULL, key, head, sizeof(head), &size));
    assert_int_equal(size, value.size);
    assert_memory_equal(head, value.data, sizeof(head));
}

/* Small keys before and after, and the large one between. */
static void check_scan(struct store *store, struct bb_bytes value, bool is_backward)
{
    struct bb_db_iter *iter = NULL;
    size_t count = 0;
    size_t large = 0;
    assert_ok(bb_db_iter_create(store->db, NULL, &iter));
    for (is_backward ? bb_db_iter_seek_last(iter) : bb_db_iter_seek_first(iter);
         bb_db_iter_valid(iter); is_backward ? bb_db_iter_prev(iter) : bb_db_iter_next(iter)) {
        count++;
        large += bb_bytes_equal(bb_db_iter_value(iter), value);
    }
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    assert_int_equal(count, SMALL_KEYS + 1);
    assert_int_equal(large, 1);
}

static void check_all(struct store *store, struct bb_bytes key, struct bb_bytes value)
{
    check_small(store);
    check_large(store, key, value);
    check_scan(store, value, false);
    check_scan(store, value, true);
}

static void run(struct bb_bytes key, bool compresses)
{
    struct store store;
    struct bb_bytes value = make_value(large_size(), compresses);
    store_init(&store);
    store_open(&store);
    put_small(&store);
    assert_ok(bb_db_put(store.db, NULL, key, value));
    check_all(&store, key, value);
    store_reopen(&store); /* from the log */
    check_all(&store, key, value);
    assert_ok(bb_db_put(store.db, NULL, key, value));
    assert_ok(bb_db_compact(store.db));
    check_all(&store, key, value);
    store_deinit(&store);
    free((void *)(uintptr_t)value.data);
}

static void large_value__of_a_short_key(void **state)
{
    (void)state;
    run(bb_bytes_of_text("m"), true);
    run(bb_bytes_of_text("m"), false);
}

static void large_value__of_the_longest_key(void **state)
{
    (void)state;
    static uint8_t key[BB_KEY_SIZE_MAX];
    memset(key, 'm', sizeof(key));
    run(bb_bytes_of(key, sizeof(key)), false);
}

/* Cached blocks stay; the large block is read again each time; and no small block is larger because
 * of its neighbour. */
static void large_value__stays_out_of_the_cache(void **state)
{
    (void)state;
    struct store store;
    struct bb_bytes key = bb_bytes_of_text("m");
    struct bb_bytes value = make_value(1 << 20, false);
    store_init(&store);
    store.options.cache_bytes = 256 * 1024;
    store_open(&store);
    put_small(&store);
    assert_ok(bb_db_put(store.db, NULL, key, value));
    assert_ok(bb_db_compact(store.db));
    check_small(&store);
    struct bb_db_stats before = store_stats(&store);
    check_large(&store, key, value);
    struct bb_db_stats after = store_stats(&store);
    assert_int_equal(after.cache.used_bytes, before.cache.used_bytes);
    assert_int_equal(after.cache.evictions, before.cache.evictions);
    check_small(&store);
    assert_int_equal(store_stats(&store).cache.misses, after.cache.misses);
    store_deinit(&store);
    free((void *)(uintptr_t)value.data);
}

/* ---- the log is given a large value in pieces ---- */

/* An event before one of the appends to logs: the process crashes, or the power fails, and the
 * image remains; and the append may fail. */
struct trouble {
    uint64_t at; /* from 1 */
    uint64_t appends;
    uint64_t refusals; /* puts that failed */
    bool fails;
    bool is_power_cut;
    struct bb_file_memory *image;
};

static enum bb_status make_trouble(void *context, struct bb_file_memory *memory, uint64_t number,
                                   enum bb_file_call call, const char *path)
{
    struct trouble *trouble = context;
    const struct bb_crash crash = {.bytes = BB_CRASH_BYTES_ANY, .seed = number};
    if (call != BB_FILE_CALL_APPEND || strstr(path, ".wal") == NULL ||
        ++trouble->appends != trouble->at)
        return BB_OK;
    trouble->image =
        trouble->is_power_cut ? bb_file_memory_crash(memory, &crash) : bb_file_memory_clone(memory);
    return trouble->fails ? bb_fail(BB_IO, "the disk is broken") : BB_OK;
}

static void check_image(struct bb_file_memory *image)
{
    struct store store = {.memory = image, .options = store_options(image)};
    store_open(&store);
    assert_content(&store, "a=1");
    store_put(&store, "n", "2");
    store_reopen(&store);
    assert_content(&store, "a=1 n=2");
    store_deinit(&store);
}

static void check_trouble(struct trouble *trouble, struct bb_bytes value)
{
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put_synced(&store, "a", "1");
    bb_file_memory_set_hook(store.memory, make_trouble, trouble);
    enum bb_status status = bb_db_put(store.db, NULL, bb_bytes_of_text("m"), value);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    if (status == BB_OK) {
        check_large(&store, bb_bytes_of_text("m"), value);
    } else {
        assert_int_equal(status, BB_IO);
        assert_true(trouble->fails && trouble->image != NULL);
        trouble->refusals++;
        assert_content(&store, "a=1");
        store_put(&store, "z", "3");
        store_reopen(&store);
        assert_content(&store, "a=1 z=3");
    }
    store_deinit(&store);
}

static void large_value__broken_off_between_two_pieces(void **state)
{
    (void)state;
    struct bb_bytes value = make_value((size_t)5 << 20, false);
    for (int kind = 0; kind < 4; kind++) {
        struct trouble trouble = {
            .at = 1, .fails = (kind & 1) != 0, .is_power_cut = (kind & 2) != 0};
        for (bool is_hit = true; is_hit; trouble.at++) {
            trouble.appends = 0;
            trouble.image = NULL;
            check_trouble(&trouble, value);
            is_hit = trouble.image != NULL;
            if (is_hit)
                check_image(trouble.image);
        }
        assert_true(trouble.at > 5);
        assert_true(trouble.fails ? trouble.refusals >= 5 : trouble.refusals == 0);
    }
    free((void *)(uintptr_t)value.data);
}

/* ---- replayed ---- */

#define REPLAY_KEYS 12

/* Sizes around that from which on replay does not copy; the bytes follow from the number. */
static struct bb_bytes numbered_value(uint64_t number)
{
    struct bb_rng rng;
    bb_rng_init(&rng, number);
    size_t size = bb_rng_one_in(&rng, 3) ? bb_rng_below(&rng, 100)
                                         : (size_t)bb_rng_between(&rng, 63 * 1024, 200 * 1024);
    uint8_t *data = bb_must_alloc_zeroed(size + 1);
    bb_rng_bytes(&rng, data, size);
    return bb_bytes_of(data, size);
}

/* One batch of up to four operations; numbers[k] becomes that of key k's value, 0 for none. */
static void write_numbered(struct store *store, struct bb_rng *rng, uint64_t *next,
                           uint64_t *numbers)
{
    struct bb_batch *batch = NULL;
    assert_ok(bb_batch_create(&batch));
    for (uint64_t left = bb_rng_between(rng, 1, 4); left > 0; left--) {
        uint8_t key = (uint8_t)bb_rng_below(rng, REPLAY_KEYS);
        numbers[key] = bb_rng_one_in(rng, 5) ? 0 : ++*next;
        if (numbers[key] == 0) {
            assert_ok(bb_batch_delete(batch, bb_bytes_of(&key, 1)));
            continue;
        }
        struct bb_bytes value = numbered_value(numbers[key]);
        assert_ok(bb_batch_put(batch, bb_bytes_of(&key, 1), value));
        free((void *)(uintptr_t)value.data);
    }
    assert_ok(bb_db_write(store->db, NULL, batch));
    bb_batch_destroy(batch);
}

static void check_numbered(struct store *store, const uint64_t *numbers)
{
    struct bb_buf found = {0};
    for (uint8_t key = 0; key < REPLAY_KEYS; key++) {
        enum bb_status status = bb_db_get(store->db, NULL, bb_bytes_of(&key, 1), &found);
        assert_int_equal(status, numbers[key] == 0 ? BB_NOT_FOUND : BB_OK);
        if (status != BB_OK)
            continue;
        struct bb_bytes value = numbered_value(numbers[key]);
        assert_true(bb_bytes_equal(bb_buf_bytes(&found), value));
        free((void *)(uintptr_t)value.data);
    }
    bb_buf_deinit(&found);
}

/* Values that stay in the records they were read in, and others, into runs of which some end within
 * a batch. */
static void large_value__replayed_among_others(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("large_value__replayed_among_others", 31));
    for (int round = 0; round < 12; round++) {
        struct store store;
        uint64_t numbers[REPLAY_KEYS] = {0};
        uint64_t next = (uint64_t)round * 1000;
        store_init(&store);
        store.options.write_buffer_bytes = 16 << 20; /* all of it stays in the log */
        store_open(&store);
        for (int i = 0; i < 25; i++)
            write_numbered(&store, &rng, &next, numbers);
        /* the process crashes */
        struct store image = {.memory = bb_file_memory_clone(store.memory)};
        image.options = store_options(image.memory);
        image.options.write_buffer_bytes = (size_t)64 * 1024 << bb_rng_below(&rng, 7);
        store_open(&image);
        check_numbered(&image, numbers);
        assert_ok(bb_db_compact(image.db));
        check_numbered(&image, numbers);
        store_deinit(&image);
        store_deinit(&store);
    }
}

/* Refused by their sizes, before a byte of them is read. */
static void large_value__beyond_the_limits(void **state)
{
    (void)state;
    static uint8_t bytes[BB_KEY_SIZE_MAX + 1];
    struct store store;
    store_init(&store);
    store_open(&store);
    assert_status(bb_db_put(store.db, NULL, bb_bytes_of_text("k"),
                            bb_bytes_of(bytes, (size_t)BB_VALUE_SIZE_MAX + 1)),
                  BB_TOO_LARGE);
    assert_message("1073741825 bytes");
    assert_message("1073741824");
    assert_status(
        bb_db_put(store.db, NULL, bb_bytes_of(bytes, sizeof(bytes)), bb_bytes_of_text("v")),
        BB_TOO_LARGE);
    assert_message("65537 bytes");
    assert_message("65536");
    assert_ok(
        bb_db_put(store.db, NULL, bb_bytes_of(bytes, BB_KEY_SIZE_MAX), bb_bytes_of_text("v")));
    store_deinit(&store);
}

/* A batch accepts values up to its limit of 4 GiB; its contents stay valid. Only with
 * BB_TEST_LARGE_BYTES: it takes too many small values. */
static void large_value__many_in_a_batch(void **state)
{
    (void)state;
    if (large_size() < (size_t)1 << 29)
        skip();
    struct store store;
    struct bb_batch *batch = NULL;
    struct bb_bytes value = make_value(large_size(), false);
    char key[16];
    int count = 0;
    enum bb_status status = BB_OK;
    assert_ok(bb_batch_create(&batch));
    for (; status == BB_OK; count += status == BB_OK) {
        snprintf(key, sizeof(key), "k%d", count);
        status = bb_batch_put(batch, bb_bytes_of_text(key), value);
    }
    assert_int_equal(status, BB_TOO_LARGE);
    assert_message("4294967295 bytes");
    assert_in_range(count, 3, 7);
    store_init(&store);
    store_open(&store);
    assert_ok(bb_db_write(store.db, NULL, batch));
    bb_batch_destroy(batch);
    store_reopen(&store);
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        check_large(&store, bb_bytes_of_text(key), value);
    }
    store_deinit(&store);
    free((void *)(uintptr_t)value.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_value__of_a_short_key),
        cmocka_unit_test(large_value__of_the_longest_key),
        cmocka_unit_test(large_value__stays_out_of_the_cache),
        cmocka_unit_test(large_value__broken_off_between_two_pieces),
        cmocka_unit_test(large_value__replayed_among_others),
        cmocka_unit_test(large_value__beyond_the_limits),
        cmocka_unit_test(large_value__many_in_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
