/* Goal: no name of a file, and no number in a manifest, ends the process or uses up the numbers of
 * a store. Method: a store in memory; names of every kind with numbers around each limit, and
 * manifests with sound checksums whose next number is near the last one; then everything that opens
 * a store. */
#include "tests/support/store.h"

#include "base/path.h"
#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"

#define KEYS 40

static const enum bb_file_kind numbered_kinds[] = {BB_FILE_MANIFEST, BB_FILE_LOG, BB_FILE_TABLE,
                                                   BB_FILE_NEW_TABLE, BB_FILE_TEMPORARY};

static void put_keys(struct bb_db *db, int begin, int end)
{
    char text[16];
    for (int i = begin; i < end; i++) {
        snprintf(text, sizeof(text), "k%03d", i);
        assert_ok(bb_db_put(db, NULL, bb_bytes_of_text(text), bb_bytes_of_text(text)));
    }
}

static void check_keys(struct bb_db *db, int end)
{
    char text[16];
    for (int i = 0; i < end; i++) {
        snprintf(text, sizeof(text), "k%03d", i);
        assert_get_at(db, NULL, text, text);
    }
}

/* Tables in two levels, and a log with operations. */
static void fill(struct store *store)
{
    store_init(store);
    store_open(store);
    put_keys(store->db, 0, KEYS / 2);
    assert_ok(bb_db_compact(store->db));
    put_keys(store->db, KEYS / 2, KEYS - 4);
    assert_ok(bb_db_flush(store->db));
    put_keys(store->db, KEYS - 4, KEYS);
    store_close(store);
}

static bool is_there(struct store *store, enum bb_file_kind kind, uint64_t number)
{
    char path[BB_PATH_SIZE_MAX];
    size_t size = 0;
    bb_filename_path(STORE_PATH, kind, number, path);
    bool is = bb_file_memory_bytes(store->memory, path, &size) != NULL;
    return is;
}

/* Work of all kinds that takes numbers. */
static void work(struct store *store)
{
    store_open(store);
    check_keys(store->db, KEYS);
    put_keys(store->db, 0, KEYS);
    assert_ok(bb_db_compact(store->db));
    put_keys(store->db, 0, KEYS);
    store_reopen(store);
    check_keys(store->db, KEYS);
    assert_ok(bb_db_checkpoint(store->db, "/data/checkpoint"));
    store_close(store);
}

static void check_readable(struct store *store)
{
    struct bb_db_options options = store->options;
    struct bb_db *db = NULL;
    options.create_if_missing = false;
    options.read_only = true;
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    check_keys(db, KEYS);
    assert_ok(bb_db_close(db));
}

/* A file that this store cannot have written is kept, and the store works normally. */
static void check_far_name(enum bb_file_kind kind, uint64_t number, const char *content)
{
    struct store store;
    char path[BB_PATH_SIZE_MAX];
    fill(&store);
    bb_filename_path(STORE_PATH, kind, number, path);
    bb_file_memory_put(store.memory, path, bb_bytes_of_text(content));
    assert_int_equal(store_verify(&store).foreign, 1);
    check_readable(&store);
    work(&store);
    assert_true(is_there(&store, kind, number));
    assert_int_equal(store_verify(&store).foreign, 1);
    store_deinit(&store);
}

static void hostile_names__far_numbers_are_left_alone(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {UINT64_C(1) << 41, UINT64_C(4611686018427387901),
                                       BB_FILE_NUMBER_MAX - 1, BB_FILE_NUMBER_MAX};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        for (size_t k = 0; k < sizeof(numbered_kinds) / sizeof(numbered_kinds[0]); k++) {
            check_far_name(numbered_kinds[k], numbers[i], "");
            check_far_name(numbered_kinds[k], numbers[i], "rubbish");
        }
    }
}

/* A name without more is no store, for any number. */
static void hostile_names__a_new_store_takes_no_far_number(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->make_directory(fs, STORE_PATH));
    bb_file_memory_put(store.memory, STORE_PATH "/MANIFEST-4611686018427387901",
                       bb_bytes_of_text(""));
    bb_file_memory_put(store.memory, STORE_PATH "/4611686018427387903.tmp", bb_bytes_of_text(""));
    store_open(&store);
    put_keys(store.db, 0, KEYS);
    store_close(&store);
    assert_int_equal(store_verify(&store).foreign, 2);
    work(&store);
    bb_file_memory_put(store.memory, STORE_PATH "/CURRENT",
                       bb_bytes_of_text("MANIFEST-4611686018427387901\n"));
    assert_status(bb_db_open(STORE_PATH, &store.options, &store.db), BB_CORRUPT);
    assert_status(bb_db_verify(STORE_PATH, &store.options, NULL), BB_CORRUPT);
    assert_ok(bb_db_repair(STORE_PATH, &store.options, NULL, NULL));
    store_open(&store);
    check_keys(store.db, KEYS);
    store_deinit(&store);
}

/* Without a manifest the names have to tell which numbers are free. */
static void hostile_names__repair_without_a_manifest(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_names names = {0};
    char path[BB_PATH_SIZE_MAX];
    fill(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        if (strncmp(names.names[i], "MANIFEST", 8) != 0)
            continue;
        assert_ok(bb_path_join(STORE_PATH, names.names[i], path));
        assert_ok(fs->ops->remove(fs, path));
    }
    bb_file_names_deinit(&names);
    bb_file_memory_put(store.memory, STORE_PATH "/4611686018427387903.bbt",
                       bb_bytes_of_text("rubbish"));
    assert_ok(bb_db_repair(STORE_PATH, &store.options, NULL, NULL));
    work(&store);
    store_deinit(&store);
}

/* ---- a manifest whose next number is near the last ---- */

static void set_next_number(struct store *store, uint64_t next)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    struct bb_manifest *manifest = NULL;
    assert_ok(bb_manifest_load(fs, STORE_PATH, &state, &report));
    state.next_file_number = next;
    assert_ok(bb_manifest_create(fs, STORE_PATH, report.number + 1000, &state, &manifest));
    assert_ok(bb_manifest_close(manifest));
    bb_manifest_state_deinit(&state);
}

static bool is_used_up(enum bb_status status)
{
    if (status == BB_OK)
        return false;
    assert_status(status, BB_TOO_LARGE);
    assert_message("all file numbers");
    return true;
}

/* Writes, flushes and compactions until there is no number left. */
static void use_up(struct store *store)
{
    struct bb_db *db = store->db;
    bool is_over = false;
    for (int i = 0; i < 100 && !is_over; i++) {
        is_over =
            is_used_up(bb_db_put(db, NULL, bb_bytes_of_text("another"), bb_bytes_of_text("value")));
        is_over |= is_used_up(bb_db_flush(db));
        is_over |= is_used_up(bb_db_compact(db));
        enum bb_status made = bb_db_checkpoint(db, "/data/checkpoint");
        is_over |= is_used_up(made);
        if (made == BB_OK)
            assert_ok(bb_db_destroy("/data/checkpoint", &store->options, NULL));
    }
    assert_true(is_over);
    check_keys(db, KEYS);
    (void)is_used_up(bb_db_put(db, NULL, bb_bytes_of_text("k"), bb_bytes_of_text("v")));
}

/* left: the number of unused numbers. */
static void check_end_of_numbers(uint64_t left)
{
    struct store store;
    fill(&store);
    set_next_number(&store, BB_FILE_NUMBER_MAX + 1 - left);
    (void)store_verify(&store);
    if (!is_used_up(bb_db_open(STORE_PATH, &store.options, &store.db))) {
        use_up(&store);
        (void)is_used_up(bb_db_close(store.db));
    }
    store.db = NULL;
    check_readable(&store);
    assert_ok(bb_db_repair(STORE_PATH, &store.options, NULL, NULL));
    assert_ok(bb_db_destroy(STORE_PATH, &store.options, NULL));
    bb_file_memory_destroy(store.memory);
}

static void hostile_names__numbers_end_with_a_status(void **state)
{
    (void)state;
    for (uint64_t left = 0; left < 24; left++)
        check_end_of_numbers(left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_names__far_numbers_are_left_alone),
        cmocka_unit_test(hostile_names__a_new_store_takes_no_far_number),
        cmocka_unit_test(hostile_names__repair_without_a_manifest),
        cmocka_unit_test(hostile_names__numbers_end_with_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
