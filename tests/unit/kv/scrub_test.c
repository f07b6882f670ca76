/* Goal: bb_db_scrub reads every byte of every table and index file of an open store without the
 * cache, continues after damage and names it, keeps its limit, can be stopped and resumed, and
 * skips tables that compactions replace. scrub_logs_test checks logs and the manifest.
 * Method: the file system in memory, whose clock advances during a sleep, and its counters. */
#include "tests/support/indexed_store.h"

#include <inttypes.h>

#include "base/file_meter.h"
#include "kv/background/scrubber.h"
#include "tests/support/file_fault.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define SECOND UINT64_C(1000000000)
#define KEYS   4000

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

static void put_keys(struct store *store, int first, int count)
{
    struct bb_rng rng;
    bb_rng_init(&rng, (uint64_t)first + 1);
    for (int i = first; i < first + count; i++) {
        char key[16];
        char value[64];
        snprintf(key, sizeof(key), "key%07d", i);
        snprintf(value, sizeof(value), "%016" PRIx64 "%016" PRIx64, bb_rng_next(&rng),
                 bb_rng_next(&rng));
        store_put(store, key, value);
    }
}

/* Some tables in two levels; *told gets the events. */
static void fill(struct store *store, struct told *told)
{
    *told = (struct told){0};
    store_init(store);
    store->options.on_event = note_event;
    store->options.event_context = told;
    store_open(store);
    put_keys(store, 0, KEYS);
    assert_ok(bb_db_compact(store->db));
    put_keys(store, KEYS / 2, 100);
    assert_ok(bb_db_flush(store->db));
}

static void deinit(struct store *store)
{
    store_close(store);
    bb_file_memory_destroy(store->memory);
}

static uint64_t sum_sizes(const struct bb_db_table_list *list)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += list->tables[i].file_size;
    return sum;
}

/* One bit of the file, and back again. */
static void flip(struct store *store, const char *path, uint64_t offset)
{
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(store->memory, path, &size);
    assert_true(offset < size);
    bytes[offset] ^= 0x10;
}

/* ---- coverage ---- */

static void scrub__reads_every_table_past_the_cache(void **state)
{
    (void)state;
    struct store store;
    struct told told;
    struct bb_db_table_list list;
    struct bb_db_scrub_report report;
    fill(&store, &told);
    assert_ok(bb_db_tables(store.db, &list));
    struct bb_db_stats before = store_stats(&store);
    assert_ok(bb_db_scrub(store.db, NULL, &report));
    struct bb_db_stats after = store_stats(&store);
    assert_true(list.count > 5);
    assert_int_equal(report.tables, list.count);
    assert_int_equal(report.entries, KEYS + 100);
    assert_true(report.damaged == 0 && report.next_table == 0 && report.bytes_left == 0);
    assert_true(report.read_bytes >= sum_sizes(&list));
    assert_int_equal(after.system_read_bytes - before.system_read_bytes, report.read_bytes);
    assert_int_equal(after.scrub_bytes, report.read_bytes);
    assert_int_equal(after.scrubs, 1);
    assert_int_equal(after.cache.used_bytes, before.cache.used_bytes);
    assert_int_equal(after.cache.hits + after.cache.misses,
                     before.cache.hits + before.cache.misses);
    bb_db_table_list_deinit(&list);
    store_deinit(&store);
}

/* Regression: the system keeps pages to which a map refers, so a scrub read memory instead of the
 * device. */
static void scrub__lets_maps_forget_their_pages(void **state)
{
    (void)state;
    struct bb_db_scrub_report report;
    for (int mode = BB_READ_COPIES; mode <= BB_READ_CALLS; mode++) {
        struct store store;
        store_init(&store);
        store.options.read_mode = (enum bb_read_mode)mode;
        store_open(&store);
        indexed_fill(&store);
        indexed_check(store.db); /* opens all files */
        uint64_t before = bb_file_memory_maps_forgotten(store.memory);
        assert_ok(bb_db_scrub(store.db, NULL, &report));
        uint64_t forgotten = bb_file_memory_maps_forgotten(store.memory) - before;
        uint64_t maps_of_table = mode == BB_READ_MAPPED ? 2 : mode == BB_READ_COPIES ? 1 : 0;
        assert_true(report.tables > 1 && report.indexes == report.tables);
        assert_int_equal(forgotten, report.indexes + maps_of_table * report.tables);
        store_deinit(&store);
    }
}

static void scrub__finds_each_flipped_byte(void **state)
{
    (void)state;
    struct store store;
    struct told told;
    struct bb_db_table_list list;
    fill(&store, &told);
    assert_ok(bb_db_tables(store.db, &list));
    const struct bb_db_table *table = &list.tables[1];
    size_t step = bb_test_step();
    size_t count = 0;
    for (uint64_t offset = 0; offset < table->file_size; offset += 97 * step, count++) {
        struct bb_db_scrub_report report;
        flip(&store, table->path, offset);
        enum bb_status status = bb_db_scrub(store.db, NULL, &report);
        assert_true(status == BB_CORRUPT || status == BB_UNSUPPORTED);
        assert_message(table->path);
        if (status == BB_CORRUPT) {
            assert_int_equal(report.damaged, 1);
            assert_int_equal(report.tables, list.count);
            assert_int_equal(store_stats(&store).damaged_files, 1);
        }
        flip(&store, table->path, offset);
    }
    assert_true(count * step > 50);
    assert_ok(bb_db_scrub(store.db, NULL, NULL));
    bb_db_table_list_deinit(&list);
    store_deinit(&store);
}

/* ---- damage ---- */

static void scrub__names_what_is_damaged_and_goes_on(void **state)
{
    (void)state;
    struct store store;
    struct told told;
    struct bb_db_table_list list;
    struct bb_db_table_list marked;
    struct bb_db_scrub_report report;
    fill(&store, &told);
    assert_ok(bb_db_tables(store.db, &list));
    flip(&store, list.tables[1].path, 100);
    flip(&store, list.tables[3].path, 200);
    assert_status(bb_db_scrub(store.db, NULL, &report), BB_CORRUPT);
    assert_message("offset");
    assert_int_equal(report.damaged, 2);
    assert_int_equal(report.tables, list.count);
    assert_int_equal(told.damages, 2);
    assert_non_null(strstr(told.message, ".bbt"));
    assert_non_null(strstr(told.message, "offset"));
    assert_ok(bb_db_tables(store.db, &marked));
    for (size_t i = 0; i < marked.count; i++)
        assert_int_equal(marked.tables[i].is_damaged, i == 1 || i == 3);
    bb_db_table_list_deinit(&marked);
    /* Sound again: the marks go. */
    flip(&store, list.tables[1].path, 100);
    flip(&store, list.tables[3].path, 200);
    assert_ok(bb_db_scrub(store.db, NULL, &report));
    assert_int_equal(store_stats(&store).damaged_files, 0);
    bb_db_table_list_deinit(&list);
    store_deinit(&store);
}

static void scrub__tells_of_a_missing_table(void **state)
{
    (void)state;
    struct store store;
    struct told told;
    struct bb_db_table_list list;
    fill(&store, &told);
    assert_ok(bb_db_tables(store.db, &list));
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->remove(fs, list.tables[2].path));
    assert_status(bb_db_scrub(store.db, NULL, NULL), BB_CORRUPT);
    assert_message("no such file");
    assert_int_equal(told.damages, 1);
    bb_db_table_list_deinit(&list);
    deinit(&store);
}

static void scrub__tells_of_what_cannot_be_read(void **state)
{
    (void)state;
    struct store store;
    struct told told = {0};
    struct bb_db_scrub_report report;
    store_init(&store);
    struct bb_file_fault *fault = bb_file_fault_create(store.options.file_system);
    store.options.file_system = bb_file_fault_system(fault);
    store.options.on_event = note_event;
    store.options.event_context = &told;
    store_open(&store);
    put_keys(&store, 0, KEYS);
    assert_ok(bb_db_compact(store.db));
    bb_file_fault_arm(fault, &(struct bb_file_fault_plan){
                                 .call = BB_FILE_CALL_READ_AT, .path_part = ".bbt", .nth = 20});
    assert_status(bb_db_scrub(store.db, NULL, &report), BB_IO);
    assert_int_equal(bb_file_fault_hits(fault), 1);
    assert_true(report.damaged == 1 && told.damages == 1 && report.next_table == 0);
    bb_file_fault_disarm(fault);
    assert_ok(bb_db_scrub(store.db, NULL, &report));
    store_close(&store);
    bb_file_fault_destroy(fault);
    bb_file_memory_destroy(store.memory);
}

static void scrub__checks_index_files(void **state)
{
    (void)state;
    struct store store;
    struct told told = {0};
    struct bb_db_scrub_report report;
    struct bb_file_names names;
    char path[512] = "";
    store_init(&store);
    store.options.on_event = note_event;
    store.options.event_context = &told;
    store_open(&store);
    indexed_fill(&store);
    assert_ok(bb_db_scrub(store.db, NULL, &report));
    assert_true(report.indexes > 1 && report.indexes == report.tables);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        if (strstr(names.names[i], ".bbi") != NULL)
            snprintf(path, sizeof(path), "%s/%s", STORE_PATH, names.names[i]);
    }
    bb_file_names_deinit(&names);
    assert_true(path[0] != 0);
    flip(&store, path, 300);
    assert_status(bb_db_scrub(store.db, NULL, &report), BB_CORRUPT);
    assert_message(path);
    assert_true(report.damaged == 1 && report.indexes_damaged == 1 && told.damages == 1);
    assert_int_equal(store_stats(&store).damaged_files, 1);
    flip(&store, path, 300);
    store_deinit(&store);
}

/* ---- slices ---- */

struct watch {
    uint64_t calls;
    uint64_t stop_after; /* 0: never */
    uint64_t read_bytes;
};

static bool watch_progress(void *context, const struct bb_db_scrub_report *so_far)
{
    struct watch *watch = context;
    assert_true(so_far->read_bytes >= watch->read_bytes);
    watch->read_bytes = so_far->read_bytes;
    return ++watch->calls != watch->stop_after;
}

static void scrub__stops_and_goes_on_elsewhere(void **state)
{
    (void)state;
    struct store store;
    struct told told;
    struct bb_db_table_list list;
    struct bb_db_scrub_report report = {0};
    struct watch watch = {0};
    uint64_t tables = 0;
    uint64_t calls = 0;
    fill(&store, &told);
    assert_ok(bb_db_tables(store.db, &list));
    do { /* another opening each time */
        struct bb_db_scrub_options options = {.first_table = report.next_table,
                                              .on_progress = watch_progress,
                                              .progress_context = &watch};
        watch = (struct watch){.stop_after = 2};
        assert_ok(bb_db_scrub(store.db, &options, &report));
        assert_true(report.tables <= 2);
        assert_true(report.next_table != 0 || report.bytes_left == 0);
        tables += report.tables;
        calls++;
        store_reopen(&store);
    } while (report.next_table != 0);
    assert_int_equal(tables, list.count);
    assert_true(calls >= list.count / 2);
    bb_db_table_list_deinit(&list);
    store_deinit(&store);
}

/* By the clock of the file system. file_meter_test checks every interval. */
static void scrub__keeps_its_limit(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_scrub_report report;
    struct bb_db_scrub_options options = {.bytes_per_second = 10000};
    store_init(&store);
    store.options.write_buffer_bytes = 4 << 20;
    store.options.table_size_bytes = 1 << 20;
    store_open(&store);
    put_keys(&store, 0, 40000);
    assert_ok(bb_db_compact(store.db));
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    uint64_t begin = fs->ops->now(fs);
    assert_ok(bb_db_scrub(store.db, &options, &report));
    double seconds = (double)(fs->ops->now(fs) - begin) / (double)SECOND;
    assert_true(report.read_bytes > 4 * BB_FILE_METER_SLICE);
    assert_true((double)report.read_bytes <= seconds * 10000 + BB_FILE_METER_SLICE + 65536);
    assert_true((double)report.read_bytes > seconds * 9000);
    store_deinit(&store);
}

/* ---- compactions ---- */

struct compacting {
    struct bb_db *db;
    uint64_t at; /* the call of on_progress that compacts */
    uint64_t calls;
};

static bool compact_meanwhile(void *context, const struct bb_db_scrub_report *so_far)
{
    struct compacting *compacting = context;
    (void)so_far;
    if (++compacting->calls == compacting->at)
        assert_ok(bb_db_compact(compacting->db));
    return true;
}

/* Replaced tables are skipped, and new ones are left to the next scrub. */
static void scrub__passes_over_replaced_tables(void **state)
{
    (void)state;
    for (uint64_t at = 1; at <= 3; at++) {
        struct store store;
        struct told told;
        struct bb_db_table_list before;
        struct bb_db_table_list after;
        struct bb_db_scrub_report report;
        fill(&store, &told);
        struct compacting compacting = {.db = store.db, .at = at};
        struct bb_db_scrub_options options = {.on_progress = compact_meanwhile,
                                              .progress_context = &compacting};
        assert_ok(bb_db_tables(store.db, &before));
        assert_ok(bb_db_scrub(store.db, &options, &report));
        assert_int_equal(report.tables, at);
        assert_true(report.damaged == 0 && report.next_table == 0);
        assert_ok(bb_db_tables(store.db, &after));
        assert_int_not_equal(strcmp(before.tables[0].path, after.tables[0].path), 0);
        assert_ok(bb_db_scrub(store.db, NULL, &report));
        assert_int_equal(report.tables, after.count);
        bb_db_table_list_deinit(&before);
        bb_db_table_list_deinit(&after);
        store_deinit(&store);
    }
}

/* ---- openings ---- */

static void scrub__of_a_reader_beside_its_writer(void **state)
{
    (void)state;
    struct store store;
    struct told told;
    struct bb_db_scrub_report report;
    struct bb_db *reader = NULL;
    fill(&store, &told);
    struct bb_db_options options = store.options;
    options.read_only = true;
    options.create_if_missing = false;
    options.deterministic = false;
    assert_ok(bb_db_open(STORE_PATH, &options, &reader));
    assert_ok(bb_db_scrub(reader, NULL, &report));
    assert_true(report.tables > 5 && report.next_table == 0);
    /* The writer takes its tables away: that is no damage. */
    assert_ok(bb_db_compact(store.db));
    assert_ok(bb_db_scrub(reader, NULL, &report));
    assert_int_equal(told.damages, 0);
    assert_ok(bb_db_refresh(reader));
    assert_ok(bb_db_scrub(reader, NULL, &report));
    assert_true(report.tables > 5);
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

/* A missing index file counted as checked, because the writer may have replaced it. */
static void scrub__of_a_reader_finds_a_missing_index_file(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_scrub_report report;
    struct bb_db *reader = NULL;
    char path[300];
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    struct bb_db_options options = store.options;
    options.read_only = true;
    options.create_if_missing = false;
    assert_ok(bb_db_open(STORE_PATH, &options, &reader));
    assert_ok(bb_db_index_materialize(store.db, &(struct bb_materialize_options){.rebuild = true}));
    assert_ok(bb_db_scrub(reader, NULL, &report));
    assert_true(report.tables > 1 && report.indexes == 0 && report.damaged == 0);
    assert_ok(bb_db_refresh(reader));
    indexed_path(&store, ".bbi", 0, path);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->remove(fs, path));
    assert_status(bb_db_scrub(reader, NULL, &report), BB_CORRUPT);
    assert_message(path);
    assert_true(report.indexes == report.tables && report.damaged == 1);
    assert_int_equal(report.indexes_damaged, 1);
    assert_ok(bb_db_close(reader));
    assert_ok(bb_db_index_materialize(store.db, NULL));
    store_deinit(&store);
}

static void scrub__of_an_empty_store(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_scrub_report report;
    store_init(&store);
    store_open(&store);
    assert_ok(bb_db_scrub(store.db, NULL, &report));
    assert_true(report.tables == 0 && report.next_table == 0);
    assert_int_equal(store_stats(&store).scrubs, 1);
    store_deinit(&store);
}

static void scrub__schedules_need_threads(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.scrub_interval_seconds = 60;
    assert_status(bb_db_open(STORE_PATH, &store.options, &store.db), BB_INVALID);
    assert_message("deterministic");
    store.options.deterministic = false;
    store.options.create_if_missing = false;
    store.options.read_only = true;
    assert_status(bb_db_open(STORE_PATH, &store.options, &store.db), BB_INVALID);
    assert_message("read_only");
    bb_file_memory_destroy(store.memory);
}

/* ---- rates ---- */

/* All work is done within its time, even if each step takes as long as its rate allows. */
static void scrub_rate__is_done_in_time(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    for (int i = 0; i < 1000; i++) {
        uint64_t interval = bb_rng_between(&rng, 1, 1000000) * SECOND;
        double left = (double)bb_rng_skewed(&rng, 50);
        double work = left * (double)(UINT64_C(1) << bb_rng_below(&rng, 40));
        double taken = 0;
        double step = work / 100;
        for (int table = 0; table < 100; table++) {
            uint64_t rate =
                bb_scrubber_rate((uint64_t)(work - step * table), interval - (uint64_t)taken);
            assert_true(rate >= BB_SCRUB_RATE_MIN);
            taken += step / (double)rate * (double)SECOND;
            assert_true(taken < (double)interval);
        }
    }
    assert_int_equal(bb_scrubber_rate(1000000, 0), 0);
    assert_int_equal(bb_scrubber_rate(0, SECOND), BB_SCRUB_RATE_MIN);
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test(scrub__of_a_reader_beside_its_writer),
        cmocka_unit_test(scrub__schedules_need_threads),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scrub__reads_every_table_past_the_cache),
        cmocka_unit_test(scrub__lets_maps_forget_their_pages),
        cmocka_unit_test(scrub__finds_each_flipped_byte),
        cmocka_unit_test(scrub__names_what_is_damaged_and_goes_on),
        cmocka_unit_test(scrub__tells_of_a_missing_table),
        cmocka_unit_test(scrub__tells_of_what_cannot_be_read),
        cmocka_unit_test(scrub__checks_index_files),
        cmocka_unit_test(scrub__stops_and_goes_on_elsewhere),
        cmocka_unit_test(scrub__keeps_its_limit),
        cmocka_unit_test(scrub__passes_over_replaced_tables),
        cmocka_unit_test(scrub__of_a_reader_finds_a_missing_index_file),
        cmocka_unit_test(scrub__of_an_empty_store),
        cmocka_unit_test(scrub_rate__is_done_in_time),
    };
    int failed = cmocka_run_group_tests(threaded, NULL, NULL);
    if (!bb_test_threads_only())
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
