/* Goal: a store opened with read_only shows a prefix of its writer's commits, for any concurrent
 * work of the writer, keeps it until it is refreshed, and changes nothing in the directory. Method:
 * a file system in memory that counts changing calls. Work of the writer in the middle of an
 * opening: read_only_snapshot_test.c. */
#include "tests/unit/kv/counted_store.h"

static void assert_open_fails(const struct store *store, enum bb_status expected)
{
    struct bb_db_options options = reader_options(store);
    struct bb_db *db = NULL;
    assert_status(bb_db_open(STORE_PATH, &options, &db), expected);
    assert_null(db);
}

/* ---- contents ---- */

static void read_only__shows_the_state_of_its_opening(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_compact(store.db));
    store_put(&store, "b", "2");
    assert_ok(bb_db_flush(store.db));
    store_put(&store, "c", "3");
    struct bb_db *reader = open_reader(&store);
    assert_content_at(reader, NULL, "a=1 b=2 c=3");
    store_delete(&store, "a");
    store_put(&store, "d", "4");
    assert_content_at(reader, NULL, "a=1 b=2 c=3");
    assert_ok(bb_db_refresh(reader));
    assert_content_at(reader, NULL, "b=2 c=3 d=4");
    assert_ok(bb_db_compact(store.db));
    store_put(&store, "b", "5");
    assert_content_at(reader, NULL, "b=2 c=3 d=4");
    assert_ok(bb_db_refresh(reader));
    assert_content_at(reader, NULL, "b=5 c=3 d=4");
    assert_ok(bb_db_refresh(store.db));
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

/* Only the new part of a growing log is added, until the memtable is full; then a larger one
 * replaces it. */
static void read_only__follows_a_log(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    struct bb_db *reader = open_reader(&store);
    assert_int_equal(state_of(reader), 0);
    for (uint32_t i = 1; i <= 300; i++) {
        assert_ok(commit(store.db, i));
        assert_ok(bb_db_refresh(reader));
        assert_int_equal(state_of(reader), i);
    }
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

/* Of a range tombstone too, in the log, in a table, and added to a memtable that is read. */
static void read_only__follows_deleted_ranges(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    store_put(&store, "b", "2");
    struct bb_db *reader = open_reader(&store);
    for (int round = 0; round < 20; round++) {
        assert_ok(bb_db_delete_range(store.db, NULL, bb_bytes_of_text("a"), bb_bytes_of_text("b")));
        assert_content_at(reader, NULL, "a=1 b=2");
        assert_ok(bb_db_refresh(reader));
        assert_content_at(reader, NULL, "b=2");
        if (round % 3 == 2)
            assert_ok(bb_db_flush(store.db));
        assert_ok(bb_db_refresh(reader));
        assert_content_at(reader, NULL, "b=2");
        store_put(&store, "a", "1");
        assert_ok(bb_db_refresh(reader));
    }
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

static void read_only__iterators_stay_with_their_state(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_iter *iter = NULL;
    store_init(&store);
    store_open(&store);
    for (uint32_t i = 1; i <= 1000; i++)
        assert_ok(commit(store.db, i));
    struct bb_db *reader = open_reader(&store);
    assert_ok(bb_db_iter_create(reader, NULL, &iter));
    bb_db_iter_seek_first(iter);
    for (uint32_t i = 1001; i <= 2000; i++)
        assert_ok(commit(store.db, i));
    assert_ok(bb_db_compact(store.db));
    assert_ok(bb_db_refresh(reader));
    assert_int_equal(state_of(reader), 2000);
    uint32_t keys = 0;
    for (; bb_db_iter_valid(iter); bb_db_iter_next(iter))
        keys++;
    assert_ok(bb_db_iter_status(iter));
    assert_int_equal(keys, 1002);
    assert_status(bb_db_close(reader), BB_BUSY);
    bb_db_iter_destroy(iter);
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

static void read_only__snapshots_keep_it_from_a_refresh(void **state)
{
    (void)state;
    struct store store;
    struct bb_snapshot *snapshot = NULL;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    struct bb_db *reader = open_reader(&store);
    assert_ok(bb_snapshot_create(reader, &snapshot));
    store_put(&store, "a", "2");
    assert_status(bb_db_refresh(reader), BB_BUSY);
    assert_content_at(reader, snapshot, "a=1");
    bb_snapshot_release(reader, snapshot);
    assert_ok(bb_db_refresh(reader));
    assert_content_at(reader, NULL, "a=2");
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

/* ---- no changes ---- */

static void read_only__changes_nothing(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    for (uint32_t i = 1; i <= 1000; i++)
        assert_ok(commit(store.db, i));
    /* Also of a store that was not closed, which an opening for writing would recover. */
    for (int is_killed = 0; is_killed < 2; is_killed++) {
        struct bb_file_memory *memory =
            is_killed ? bb_file_memory_clone(store.memory) : store.memory;
        struct store place = {.memory = memory, .options = store.options};
        place.options.file_system = bb_file_memory_system(memory);
        uint64_t calls = bb_file_memory_calls(memory);
        struct bb_db *reader = open_reader(&place);
        assert_int_equal(state_of(reader), 1000);
        assert_status(bb_db_put(reader, NULL, bb_bytes_of_text("a"), bb_bytes_of_text("1")),
                      BB_READ_ONLY);
        assert_status(bb_db_delete(reader, NULL, bb_bytes_of_text("a")), BB_READ_ONLY);
        assert_status(bb_db_flush(reader), BB_READ_ONLY);
        assert_status(bb_db_compact(reader), BB_READ_ONLY);
        assert_status(bb_db_compact_range(reader, NULL, NULL), BB_READ_ONLY);
        assert_status(bb_db_checkpoint(reader, "/data/copy"), BB_READ_ONLY);
        assert_ok(bb_db_wait_idle(reader));
        assert_ok(bb_db_refresh(reader));
        struct bb_db_stats stats;
        bb_db_stats(reader, &stats);
        assert_true(stats.memtable_bytes > 0);
        assert_int_equal(state_of(reader), 1000);
        assert_ok(bb_db_close(reader));
        assert_int_equal(bb_file_memory_calls(memory), calls);
        if (is_killed)
            bb_file_memory_destroy(memory);
    }
    store_deinit(&store);
}

static void read_only__makes_no_store(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_open_fails(&store, BB_NOT_FOUND);
    assert_ok(fs->ops->make_directory(fs, STORE_PATH));
    uint64_t calls = bb_file_memory_calls(store.memory);
    assert_open_fails(&store, BB_NOT_FOUND);
    assert_int_equal(bb_file_memory_calls(store.memory), calls);
    struct bb_db_options options = reader_options(&store);
    options.create_if_missing = true;
    struct bb_db *db = NULL;
    assert_status(bb_db_open(STORE_PATH, &options, &db), BB_INVALID);
    options.create_if_missing = false;
    options.error_if_exists = true;
    assert_status(bb_db_open(STORE_PATH, &options, &db), BB_INVALID);
    store_open(&store);
    store_deinit(&store);
}

/* ---- damage, and normal states that resemble it ---- */

static void read_only__damage_is_damage(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    struct bb_db_table_list list = {0};
    assert_ok(bb_db_tables(store.db, &list));
    assert_int_equal(list.count, 1);
    struct store copy = {.memory = bb_file_memory_clone(store.memory), .options = store.options};
    struct bb_file_system *fs = bb_file_memory_system(copy.memory);
    copy.options.file_system = fs;
    assert_ok(fs->ops->remove(fs, list.tables[0].path));
    assert_open_fails(&copy, BB_CORRUPT);
    assert_ok(fs->ops->remove(fs, STORE_PATH "/CURRENT"));
    assert_open_fails(&copy, BB_CORRUPT);
    bb_file_memory_destroy(copy.memory);
    bb_db_table_list_deinit(&list);
    store_deinit(&store);
}

static struct bb_file_names names_of(struct bb_file_system *fs)
{
    struct bb_file_names names = {0};
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    return names;
}

/* The path of the one log. */
static void find_log(struct bb_file_system *fs, char path[64])
{
    struct bb_file_names names = names_of(fs);
    path[0] = 0;
    for (size_t i = 0; i < names.count; i++) {
        if (strstr(names.names[i], ".wal") != NULL)
            snprintf(path, 64, STORE_PATH "/%s", names.names[i]);
    }
    assert_true(path[0] != 0);
    bb_file_names_deinit(&names);
}

static void read_only__a_half_written_record_is_the_end(void **state)
{
    (void)state;
    struct store store;
    char path[64];
    size_t size = 0;
    store_init(&store);
    store_open(&store);
    for (uint32_t i = 1; i <= 2; i++)
        assert_ok(commit(store.db, i));
    find_log(bb_file_memory_system(store.memory), path);
    struct store copy = {.memory = bb_file_memory_clone(store.memory), .options = store.options};
    copy.options.file_system = bb_file_memory_system(copy.memory);
    uint8_t *bytes = bb_file_memory_bytes(store.memory, path, &size);
    for (size_t cut = 0; cut <= size; cut++) {
        bb_file_memory_put(copy.memory, path, bb_bytes_of(bytes, cut));
        struct bb_db *reader = open_reader(&copy);
        assert_true(state_of(reader) <= 2 && (cut < size || state_of(reader) == 2));
        /* The rest comes. */
        bb_file_memory_put(copy.memory, path, bb_bytes_of(bytes, size));
        assert_ok(bb_db_refresh(reader));
        assert_int_equal(state_of(reader), 2);
        assert_ok(bb_db_close(reader));
    }
    bb_file_memory_destroy(copy.memory);
    store_deinit(&store);
}

static void read_only__another_store_in_its_place(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    struct bb_db *reader = open_reader(&store);
    store_close(&store);
    assert_ok(bb_db_destroy(STORE_PATH, &store.options, NULL));
    store_open(&store);
    assert_status(bb_db_refresh(reader), BB_NOT_FOUND);
    assert_content_at(reader, NULL, "a=1");
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

/* ---- tables that go ---- */

/* Small tables, more than descriptors may be open: some of their files are gone at the next use.
 * Lookups then report that, until a refresh; never "absent", never "corrupt". */
static void read_only__more_tables_than_descriptors(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.table_size_bytes = 4096;
    store.options.cache_off = true;
    store.options.compression = BB_COMPRESSION_NONE;
    store.options.read_mode = BB_READ_CALLS; /* a map would keep the files */
    store_open(&store);
    for (uint32_t i = 1; i <= 6000; i++)
        assert_ok(commit(store.db, i));
    assert_ok(bb_db_compact(store.db));
    struct bb_db *reader = open_reader(&store);
    assert_int_equal(state_of(reader), 6000);
    assert_ok(bb_db_compact(store.db));
    for (uint32_t i = 1; i <= 6000; i++)
        assert_ok(commit(store.db, 6000 + i));
    assert_ok(bb_db_compact(store.db));
    uint32_t gone = 0;
    for (uint32_t i = 1; i <= 6000; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key%06u", i);
        enum bb_status status = bb_db_get(reader, NULL, bb_bytes_of_text(key), NULL);
        assert_true(status == BB_OK || status == BB_BUSY);
        gone += status == BB_BUSY;
    }
    assert_true(gone > 0 && gone < 6000);
    assert_ok(bb_db_refresh(reader));
    assert_int_equal(state_of(reader), 12000);
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_only__shows_the_state_of_its_opening),
        cmocka_unit_test(read_only__follows_a_log),
        cmocka_unit_test(read_only__follows_deleted_ranges),
        cmocka_unit_test(read_only__iterators_stay_with_their_state),
        cmocka_unit_test(read_only__snapshots_keep_it_from_a_refresh),
        cmocka_unit_test(read_only__changes_nothing),
        cmocka_unit_test(read_only__makes_no_store),
        cmocka_unit_test(read_only__damage_is_damage),
        cmocka_unit_test(read_only__a_half_written_record_is_the_end),
        cmocka_unit_test(read_only__another_store_in_its_place),
        cmocka_unit_test(read_only__more_tables_than_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
