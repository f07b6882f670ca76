/* Goal: bb_db_scrub finds damage in the synced bytes of the manifest and the logs of an open store,
 * and no other damage; an interrupted check of them can be resumed.
 * Method: the file system in memory, in whose files bits are flipped. scrub_threads_test scrubs
 * concurrently with a writer. */
#include "tests/support/store.h"

#include <string.h>

#include "tests/support/step.h"

struct told {
    int damages;
    char message[1024];
};

static void note_event(void *context, const struct bb_event *event)
{
    struct told *told = context;
    if (event->kind != BB_EVENT_DAMAGE)
        return;
    told->damages++;
    snprintf(told->message, sizeof(told->message), "%s", event->message);
}

static void put_keys(struct store *store, int count)
{
    for (int i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key%07d", i);
        store_put(store, key, "a value that is neither very short nor long");
    }
}

static void put_synced(struct store *store)
{
    const struct bb_write_options synced = {.sync = true};
    assert_ok(bb_db_put(store->db, &synced, bb_bytes_of_text("key"), bb_bytes_of_text("value")));
}

/* Two tables; *told gets the events. */
static void fill(struct store *store, struct told *told)
{
    *told = (struct told){0};
    store_init(store);
    store->options.on_event = note_event;
    store->options.event_context = told;
    store_open(store);
    for (int i = 0; i < 2; i++) {
        put_keys(store, 100);
        assert_ok(bb_db_flush(store->db));
    }
}

/* One bit of the file, and back again. */
static void flip(struct store *store, const char *path, uint64_t offset)
{
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(store->memory, path, &size);
    assert_true(offset < size);
    bytes[offset] ^= 0x10;
}

/* Of the store's files with this in their names, the newest. */
static void find_newest(struct store *store, const char *part, char path[512])
{
    struct bb_file_names names;
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    path[0] = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        char found[512];
        snprintf(found, sizeof(found), "%s/%s", STORE_PATH, names.names[i]);
        if (strstr(found, part) != NULL && strcmp(found, path) > 0)
            memcpy(path, found, sizeof(found));
    }
    bb_file_names_deinit(&names);
    assert_true(path[0] != 0);
}

static uint64_t size_of(struct store *store, const char *path)
{
    size_t size = 0;
    (void)bb_file_memory_bytes(store->memory, path, &size);
    return size;
}

/* Each byte below `end` is flipped, scrubbed and restored. */
static void check_each_byte(struct store *store, const char *path, uint64_t end, uint64_t step)
{
    for (uint64_t offset = 0; offset < end; offset += step) {
        struct bb_db_scrub_report report;
        flip(store, path, offset);
        enum bb_status status = bb_db_scrub(store->db, NULL, &report);
        /* The version in a header may be a newer one. */
        assert_true(status == BB_CORRUPT || (status == BB_UNSUPPORTED && offset < 12));
        assert_message(path);
        if (status == BB_CORRUPT) {
            assert_true(report.damaged == 1 && report.next_table == 0);
            assert_int_equal(store_stats(store).damaged_files, 1);
        }
        flip(store, path, offset);
    }
    assert_ok(bb_db_scrub(store->db, NULL, NULL));
    assert_int_equal(store_stats(store).damaged_files, 0);
}

/* Regression: only the next opening found the damage. The last bytes are a mark: without it the
 * rest is whole. */
static void scrub_logs__finds_each_flipped_byte_of_the_manifest(void **state)
{
    (void)state;
    struct store store;
    struct told told;
    struct bb_db_scrub_report report;
    char path[512];
    fill(&store, &told);
    find_newest(&store, "MANIFEST", path);
    assert_ok(bb_db_scrub(store.db, NULL, &report));
    assert_int_equal(report.manifests, 1);
    check_each_byte(&store, path, size_of(&store, path) - 19, 13);
    assert_true(told.damages > 20);
    assert_non_null(strstr(told.message, path));
    store_deinit(&store);
}

/* Regression as above. The end that is not synced is not judged. */
static void scrub_logs__finds_each_flipped_byte_of_a_log(void **state)
{
    (void)state;
    struct store store;
    struct told told;
    struct bb_db_scrub_report report;
    char path[512];
    fill(&store, &told);
    put_keys(&store, 20);
    put_synced(&store);
    find_newest(&store, ".wal", path);
    uint64_t end = size_of(&store, path) - 19;
    put_keys(&store, 1);
    assert_ok(bb_db_scrub(store.db, NULL, &report));
    assert_true(report.logs == 1 && report.log_records >= 21);
    check_each_byte(&store, path, end, 7);
    told.damages = 0;
    flip(&store, path, size_of(&store, path) - 3);
    assert_ok(bb_db_scrub(store.db, NULL, &report));
    assert_int_equal(told.damages, 0);
    flip(&store, path, size_of(&store, path) - 3);
    store_deinit(&store);
}

/* As the documentation of bb_db_scrub advises. */
static void scrub_logs__damaged_logs_and_manifests_can_be_replaced(void **state)
{
    (void)state;
    struct store store;
    struct store copy;
    struct told told;
    char path[512];
    fill(&store, &told);
    put_synced(&store);
    find_newest(&store, ".wal", path);
    flip(&store, path, 70);
    assert_status(bb_db_scrub(store.db, NULL, NULL), BB_CORRUPT);
    assert_message(path);
    assert_int_equal(store_stats(&store).damaged_files, 1);
    assert_ok(bb_db_flush(store.db));
    assert_int_equal(store_stats(&store).damaged_files, 0);
    assert_ok(bb_db_scrub(store.db, NULL, NULL));
    find_newest(&store, "MANIFEST", path);
    flip(&store, path, 70);
    assert_status(bb_db_scrub(store.db, NULL, NULL), BB_CORRUPT);
    assert_ok(bb_db_checkpoint(store.db, "/data/copy"));
    copy = store;
    assert_ok(bb_db_open("/data/copy", &store.options, &copy.db));
    assert_ok(bb_db_scrub(copy.db, NULL, NULL));
    assert_ok(bb_db_close(copy.db));
    flip(&store, path, 70);
    store_deinit(&store);
}

static void scrub_logs__of_a_reader_finds_damaged_logs_and_manifests(void **state)
{
    (void)state;
    static const char *const parts[] = {"MANIFEST", ".wal"};
    struct store store;
    struct told told;
    struct bb_db_scrub_report report;
    struct bb_db *reader = NULL;
    fill(&store, &told);
    for (int i = 0; i < 2; i++)
        put_synced(&store);
    struct bb_db_options options = store.options;
    options.read_only = true;
    options.create_if_missing = false;
    options.deterministic = false;
    assert_ok(bb_db_open(STORE_PATH, &options, &reader));
    assert_ok(bb_db_scrub(reader, NULL, &report));
    assert_true(report.manifests == 1 && report.logs == 1 && report.log_records == 2);
    for (int i = 0; i < 2; i++) {
        char path[512];
        find_newest(&store, parts[i], path);
        flip(&store, path, 70);
        assert_status(bb_db_scrub(reader, NULL, &report), BB_CORRUPT);
        assert_message(path);
        assert_int_equal(report.damaged, 1);
        flip(&store, path, 70);
    }
    assert_ok(bb_db_scrub(reader, NULL, NULL));
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

static bool stop(void *context, const struct bb_db_scrub_report *so_far)
{
    (void)context, (void)so_far;
    return false;
}

/* Each call verifies one file and stops. */
static void scrub_logs__stop_and_go_on_elsewhere(void **state)
{
    (void)state;
    struct store store;
    struct told told;
    struct bb_db_scrub_report sum = {0};
    struct bb_db_scrub_report report = {0};
    int calls = 0;
    fill(&store, &told);
    put_synced(&store);
    do {
        struct bb_db_scrub_options options = {.first_table = report.next_table,
                                              .on_progress = stop};
        assert_ok(bb_db_scrub(store.db, &options, &report));
        sum.tables += report.tables;
        sum.manifests += report.manifests;
        sum.logs += report.logs;
        assert_int_equal(store_stats(&store).scrubs, report.next_table == 0);
        calls++;
    } while (report.next_table != 0);
    assert_true(sum.tables == 2 && sum.manifests == 1 && sum.logs == 1);
    assert_int_equal(calls, 5);
    store_deinit(&store);
}

/* An opening of a closed store writes no manifest. */
static void scrub_logs__of_an_adopted_manifest(void **state)
{
    (void)state;
    struct store store;
    struct told told;
    struct bb_db_scrub_report report;
    char path[512];
    fill(&store, &told);
    store_reopen(&store);
    find_newest(&store, "MANIFEST", path);
    assert_ok(bb_db_scrub(store.db, NULL, &report));
    assert_true(report.manifests == 1 && report.logs == 0);
    check_each_byte(&store, path, size_of(&store, path), 11);
    store_deinit(&store);
}

/* ---- the manifest grows while it is checked ---- */

#define LONG_KEY 60000 /* two of them per table make a manifest of several slices */
#define TABLES   24

static uint8_t long_key[LONG_KEY];

static struct bb_bytes long_key_of(int number)
{
    memset(long_key, 'k', sizeof(long_key));
    snprintf((char *)long_key, sizeof(long_key), "%07d", number);
    return bb_bytes_of(long_key, sizeof(long_key));
}

static void add_table(struct bb_db *db, int number)
{
    assert_ok(bb_db_put(db, NULL, long_key_of(number), bb_bytes_of_text("value")));
    assert_ok(bb_db_flush(db));
}

/* Called while the manifest is read. It adds a table, which makes the manifest longer. Then it
 * reads all tables, so that the pool of files closes the manifest. */
static bool grow_manifest(void *context, const struct bb_db_scrub_report *report)
{
    struct store *store = context;
    struct bb_get_options past_filters = {.ignore_filters = true, .bypass_fill = true};
    static int grown;
    if (report->bytes_left > 0)
        return true;
    add_table(store->db, TABLES + grown++);
    for (int i = 0; i < TABLES; i++)
        assert_ok(bb_db_get(store->db, &past_filters, long_key_of(i), NULL));
    return true;
}

/* The pool closed the manifest and opened it again. It had grown, and was reported as damaged. */
static void scrub_logs__of_a_manifest_that_grows(void **state)
{
    (void)state;
    struct store store;
    struct told told = {0};
    struct bb_db_scrub_report report;
    struct bb_db_scrub_options options = {.on_progress = grow_manifest, .progress_context = &store};
    store_init(&store);
    store.options.on_event = note_event;
    store.options.event_context = &told;
    store.options.open_tables_max = 16;
    store.options.cache_off = true;
    store.options.read_mode = BB_READ_CALLS;
    store.options.level0_run_count_compact = 900;
    store.options.level0_run_count_stop = 1000;
    store_open(&store);
    for (int i = 0; i < TABLES; i++)
        add_table(store.db, i);
    assert_ok(bb_db_scrub(store.db, &options, &report));
    assert_true(report.damaged == 0 && report.manifests == 1);
    assert_true(told.damages == 0);
    assert_true(store_stats(&store).levels[0].table_count > TABLES + 2);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test(scrub_logs__of_a_reader_finds_damaged_logs_and_manifests),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scrub_logs__finds_each_flipped_byte_of_the_manifest),
        cmocka_unit_test(scrub_logs__finds_each_flipped_byte_of_a_log),
        cmocka_unit_test(scrub_logs__damaged_logs_and_manifests_can_be_replaced),
        cmocka_unit_test(scrub_logs__stop_and_go_on_elsewhere),
        cmocka_unit_test(scrub_logs__of_an_adopted_manifest),
        cmocka_unit_test(scrub_logs__of_a_manifest_that_grows),
    };
    int failed = cmocka_run_group_tests(threaded, NULL, NULL);
    if (!bb_test_threads_only())
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
